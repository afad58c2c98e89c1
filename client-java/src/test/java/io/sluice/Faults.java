package io.sluice;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/** What the fault tests share: a policy, a call, and threads that take and settle permits all the while. */
final class Faults {
    static final Call CALL = Call.of("claude-sonnet-5-5").inputTokens(10).maxOutputTokens(5);

    private Faults() {}

    /** Leases of 2 s. A year's bucket refills by less than one in a test, so what is charged can be counted exactly. */
    static Policy policy(String project, int slots) {
        return policy(project, slots, "2s");
    }

    static Policy policy(String project, int slots, String lease) {
        return Policy.parse("project: " + project
                + "\nprovider: anthropic\noutage: fail-closed\nlease: " + lease + "\nclasses:\n  - name: sonnet\n"
                + "    models: ['claude-*']\n    limits:\n      concurrency: " + slots
                + "\n      charged: {amount: 2000000, per: 365d, window: refill, of: requests, burst: 1d}\n");
    }

    /** Everything that runs at once fits again: nobody holds a slot. */
    static boolean allSlotsFree(Project project, int slots) {
        List<Permit> permits = new ArrayList<>();
        for (int i = 0; i < slots; i++) {
            if (project.tryAcquire(CALL) instanceof Decision.Granted granted) {
                permits.add(granted.permit());
            }
        }
        permits.forEach(Permit::cancel);
        return permits.size() == slots;
    }

    /** Takes and settles on {@code threads} threads while {@code trouble} runs; throws the first error a caller met. */
    static long load(Project project, int threads, Trouble trouble) throws Exception {
        AtomicBoolean on = new AtomicBoolean(true);
        AtomicLong pairs = new AtomicLong();
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        try {
            List<Future<?>> workers = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                workers.add(pool.submit(() -> {
                    while (on.get()) {
                        project.acquire(CALL, Duration.ofSeconds(20)).settle(new Usage(1, 0, 0, 1));
                        pairs.incrementAndGet();
                    }
                    return null;
                }));
            }
            try {
                trouble.make();
            } finally {
                on.set(false);
            }
            for (Future<?> worker : workers) {
                worker.get(30, TimeUnit.SECONDS);
            }
        } finally {
            pool.shutdownNow();
        }
        return pairs.get();
    }

    interface Trouble {
        void make() throws Exception;
    }
}
