package io.sluice.testbed.bench;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.HdrHistogram.Histogram;

/** Threads that do pairs back to back for a while. */
final class Load {
    private static final long LONGEST_NANOS = Duration.ofMinutes(1).toNanos();

    private Load() {}

    /** @throws IllegalStateException a pair failed */
    static Pairs run(Contender contender, int threads, Duration length) throws InterruptedException {
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        try {
            CountDownLatch start = new CountDownLatch(1);
            List<Future<Pairs>> running = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                running.add(pool.submit(() -> {
                    start.await();
                    return loop(contender, length);
                }));
            }
            long began = System.nanoTime();
            start.countDown();
            Pairs all = new Pairs(histogram(), histogram(), 0);
            for (Future<Pairs> one : running) {
                all.add(one.get());
            }
            return new Pairs(all.acquires, all.pairs, (System.nanoTime() - began) / 1e9);
        } catch (ExecutionException e) {
            throw new IllegalStateException(contender.label() + ": " + e.getCause(), e.getCause());
        } finally {
            pool.shutdownNow();
        }
    }

    private static Pairs loop(Contender contender, Duration length) {
        Pairs mine = new Pairs(histogram(), histogram(), 0);
        long end = System.nanoTime() + length.toNanos();
        long before = System.nanoTime();
        while (before < end) {
            Runnable rest = contender.acquire();
            long acquired = System.nanoTime();
            rest.run();
            long after = System.nanoTime();
            mine.acquires.recordValue(Math.min(LONGEST_NANOS, acquired - before));
            mine.pairs.recordValue(Math.min(LONGEST_NANOS, after - before));
            before = after;
        }
        return mine;
    }

    private static Histogram histogram() {
        return new Histogram(LONGEST_NANOS, 3);
    }

    /** What was done, in nanoseconds each, and how long it took in all. */
    record Pairs(Histogram acquires, Histogram pairs, double seconds) {
        long count() {
            return pairs.getTotalCount();
        }

        void add(Pairs other) {
            acquires.add(other.acquires);
            pairs.add(other.pairs);
        }
    }
}
