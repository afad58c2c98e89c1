package io.sluice;

import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/** A timer whose time passes when a test says so; its tasks run on the test's thread. */
final class FakeTimer {
    private final List<Task> tasks = new ArrayList<>();
    private long nowNs = 1_000_000_000_000L;
    private long scheduled;

    private record Task(long number, long atNs, Runnable run) {}

    long nanoTime() {
        return nowNs;
    }

    /** How many alarms are set. */
    int alarms() {
        return tasks.size();
    }

    /** Lets time pass, and what becomes due run at its own instant. */
    void pass(long ms) {
        long until = nowNs + TimeUnit.MILLISECONDS.toNanos(ms);
        while (true) {
            Task next = tasks.stream()
                    .filter(task -> task.atNs <= until)
                    .min(Comparator.comparingLong(Task::atNs))
                    .orElse(null);
            if (next == null) {
                nowNs = until;
                return;
            }
            tasks.remove(next);
            nowNs = Math.max(nowNs, next.atNs);
            next.run.run();
        }
    }

    ScheduledExecutorService service() {
        return (ScheduledExecutorService) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {ScheduledExecutorService.class}, (proxy, method, args) -> {
                    if (method.getName().equals("isShutdown")) {
                        return false;
                    }
                    if (!method.getName().equals("schedule")) {
                        throw new AssertionError("not used: " + method);
                    }
                    return schedule((Runnable) args[0], ((TimeUnit) args[2]).toNanos((long) args[1]));
                });
    }

    private ScheduledFuture<?> schedule(Runnable run, long delayNs) {
        Task task = new Task(scheduled++, nowNs + delayNs, run);
        tasks.add(task);
        return (ScheduledFuture<?>) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {ScheduledFuture.class}, (proxy, method, args) -> {
                    if (!method.getName().equals("cancel")) {
                        throw new AssertionError("not used: " + method);
                    }
                    return tasks.remove(task);
                });
    }
}
