package io.sluice.testbed.chaos;

import io.sluice.testbed.chaos.Evidence.End;
import io.sluice.testbed.chaos.Evidence.Watched;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Looks at what Redis holds while others do things to it. A look that gets no answer is no look. */
final class Watch implements AutoCloseable {
    private static final long EVERY_MS = 500;

    private final Ground ground;
    private final ProviderClock clock;
    private final Runnable nudge;
    private final Inspector inspector = new Inspector();
    private final List<Watched> watched = new CopyOnWriteArrayList<>();
    private final Map<String, Integer> held = new ConcurrentHashMap<>();
    private final ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1, task -> {
        Thread thread = new Thread(task, "watch");
        thread.setDaemon(true);
        return thread;
    });

    /** @param nudge has Redis run a script: what is due by then, as a lease that ran out, happens when somebody asks, and not before */
    Watch(Ground ground, ProviderClock clock, Runnable nudge) {
        this.ground = ground;
        this.clock = clock;
        this.nudge = nudge;
    }

    long nowMs() {
        return clock.getAsLong();
    }

    /** The provider's clock at an instant of {@link System#nanoTime}. */
    long atMs(long ns) {
        return clock.at(ns);
    }

    void begin() {
        timer.scheduleWithFixedDelay(() -> trying(this::look), EVERY_MS, EVERY_MS, TimeUnit.MILLISECONDS);
    }

    private void look() {
        inspector.standing(ground.redis().uri()).ifPresent(standing -> watched.add(new Watched(nowMs(), standing)));
    }

    /** Asks after a while how many permits of a host still run. */
    void askLater(String host, long ms) {
        timer.schedule(() -> trying(() -> countHeld(host)), ms, TimeUnit.MILLISECONDS);
    }

    private void countHeld(String host) {
        nudge.run();
        inspector.running(ground.redis().uri(), host).ifPresent(permits -> held.put(host, permits));
    }

    /** With what was learned of its host. */
    Happening stillHeld(Happening one) {
        return one.stillHeld(held.getOrDefault(one.host(), -1));
    }

    /** No more looks; what was seen. */
    List<Watched> end() throws InterruptedException {
        timer.shutdown();
        if (!timer.awaitTermination(10, TimeUnit.SECONDS)) {
            throw new IllegalStateException("a look at Redis does not end");
        }
        return List.copyOf(watched);
    }

    /** Waits until nothing runs and nobody waits, up to a time, and says what there is then. */
    End emptied(long atMostMs) throws InterruptedException {
        long beganMs = nowMs();
        while (true) {
            trying(nudge);
            Optional<Standing> standing = inspector.standing(ground.redis().uri());
            boolean empty = standing.isPresent()
                    && standing.get().slots() == 0
                    && standing.get().waiters() == 0;
            long tookMs = nowMs() - beganMs;
            if (empty || tookMs > atMostMs) {
                Map<String, Integer> permits =
                        inspector.permits(ground.redis().uri()).orElse(Map.of());
                List<String> keys = inspector.keys(ground.redis().uri()).orElse(new ArrayList<>());
                // Who used what has one an hour and one a day, each with its end.
                long kept =
                        keys.stream().filter(key -> !key.contains(":usage:")).count();
                return new End(standing, permits.getOrDefault("running", 0), empty ? tookMs : End.NEVER, (int) kept);
            }
            TimeUnit.MILLISECONDS.sleep(50);
        }
    }

    /** A server that is just being killed is no reason to stop looking. */
    private static void trying(Runnable look) {
        try {
            look.run();
        } catch (RuntimeException e) {
            // No look this time.
        }
    }

    @Override
    public void close() {
        timer.shutdownNow();
        inspector.close();
    }
}
