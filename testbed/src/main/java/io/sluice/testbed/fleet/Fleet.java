package io.sluice.testbed.fleet;

import io.sluice.Sluice;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs a fleet: starts the processes, lets them begin together, stops them, and judges the run by what the target
 * logged. Everything it started has ended when {@link #run} returns, however it returns.
 */
public final class Fleet {
    static final Duration READY = Duration.ofSeconds(60);
    private static final Duration TICK = Duration.ofSeconds(1);
    static final Duration DRAIN = Duration.ofSeconds(12);
    static final Duration DRAIN_GRACE = Duration.ofSeconds(5);

    private final FleetOptions options;
    private final PolicyNumbers numbers;
    private final Consumer<String> progress;
    private final TargetLog target;
    private final ConcurrentLinkedQueue<FleetEvent.Call> calls = new ConcurrentLinkedQueue<>();
    private final ConcurrentLinkedQueue<FleetEvent.Task> tasks = new ConcurrentLinkedQueue<>();

    private Fleet(FleetOptions options, Consumer<String> progress) {
        this.options = options;
        this.progress = progress;
        this.numbers =
                PolicyNumbers.of(options.policy().toJson(), options.profile().model());
        this.target = new TargetLog(options.target());
    }

    /**
     * Runs it.
     *
     * @param progress hears one line at least every two seconds
     * @throws IllegalArgumentException if the policy has no class for the profile's model
     * @throws IOException if the target or a process does not answer, in one line
     * @throws io.sluice.OutageException if the strategy is {@link Strategy#SLUICE} and Redis does not answer
     */
    public static FleetReport run(FleetOptions options, Consumer<String> progress)
            throws IOException, InterruptedException {
        return new Fleet(options, progress).run();
    }

    private FleetReport run() throws IOException, InterruptedException {
        target.begin();
        if (options.strategy() == Strategy.SLUICE) {
            install();
        }
        // Read by the hook below while it grows.
        List<Child> children = new CopyOnWriteArrayList<>();
        Thread onExit = new Thread(() -> children.forEach(Child::close));
        Runtime.getRuntime().addShutdownHook(onExit);
        try {
            progress.accept("starting " + options.processes() + " processes with " + options.agents() + " agents each");
            String run = Long.toString(System.currentTimeMillis(), Character.MAX_RADIX);
            for (int i = 0; i < options.processes(); i++) {
                children.add(Child.start(config(options, numbers, run, i), this::hear));
            }
            long deadlineNs = System.nanoTime() + READY.toNanos();
            for (Child child : children) {
                child.awaitReady(deadlineNs);
            }
            return runTogether(children);
        } finally {
            children.forEach(Child::close);
            removeHook(onExit);
        }
    }

    private void hear(FleetEvent event) {
        if (event instanceof FleetEvent.Call call) {
            calls.add(call);
        } else if (event instanceof FleetEvent.Task task) {
            tasks.add(task);
        }
    }

    private FleetReport runTogether(List<Child> children) throws IOException, InterruptedException {
        long startNs = System.nanoTime();
        long endNs = startNs + options.length().toNanos();
        for (Child child : children) {
            child.go();
        }
        Progress lines = new Progress(options, numbers);
        for (long leftNs = endNs - System.nanoTime(); leftNs > 0; leftNs = endNs - System.nanoTime()) {
            TimeUnit.NANOSECONDS.sleep(Math.min(leftNs, TICK.toNanos()));
            for (Child child : children) {
                child.check();
            }
            progress.accept(lines.line(target.read(), calls.size(), (System.nanoTime() - startNs) / 1e9));
        }
        long stopMs = target.nowMs();
        double seconds = (System.nanoTime() - startNs) / 1e9;
        for (Child child : children) {
            child.stop();
        }
        progress.accept("stopping: waiting for calls in flight");
        long drainedNs = System.nanoTime() + DRAIN.plus(DRAIN_GRACE).toNanos();
        for (Child child : children) {
            child.awaitEnd(drainedNs);
        }
        return FleetReport.of(new FleetReport.Run(
                options,
                numbers,
                PolicyFlows.of(options.policy().toJson(), options.profile().model()),
                seconds,
                stopMs,
                target.read(),
                target.stats(),
                List.copyOf(calls),
                List.copyOf(tasks)));
    }

    private void install() {
        String redis = options.redis();
        if (redis == null) {
            throw new IllegalArgumentException("strategy sluice needs --redis");
        }
        try (Sluice sluice = Patiently.get(() -> Sluice.connect(redis))) {
            long unused = Patiently.get(() -> sluice.install(options.policy()));
        }
    }

    static AgentConfig config(FleetOptions options, PolicyNumbers numbers, String run, int process) {
        return new AgentConfig(
                process,
                options.processes(),
                options.agents(),
                run,
                options.strategy(),
                options.redis(),
                server(options, process),
                options.policy().project(),
                numbers,
                options.target(),
                Wire.of(options.policy().provider()),
                options.profile(),
                options.seed(),
                DRAIN.toMillis());
    }

    private static @Nullable URI server(FleetOptions options, int process) {
        FleetOptions.OverHttp part = options.overHttp();
        return part == null || process < options.processes() - part.processes() ? null : part.server();
    }

    static void removeHook(Thread hook) {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException shuttingDown) {
            // Then the hook runs, and that is what it is for.
        }
    }
}
