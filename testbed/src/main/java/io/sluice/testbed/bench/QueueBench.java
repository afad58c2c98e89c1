package io.sluice.testbed.bench;

import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.RedisServers;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * {@code ./sluice bench queue}: what waiting costs. How much a long line slows the next start, what waiters weigh in Redis,
 * how quiet they are, and whether the line is fair.
 */
public final class QueueBench {
    private QueueBench() {}

    /**
     * Runs it on a Redis of its own.
     *
     * @param command as it was typed, for the report
     * @param progress hears a line every few seconds at most
     * @throws IllegalStateException a script answered what it never should
     * @throws io.sluice.testbed.redis.NoRedisException there is no Redis to start
     */
    public static QueueReport run(QueueOptions options, String command, Consumer<String> progress)
            throws InterruptedException {
        try (RedisServer server = RedisServers.start();
                Scripts scripts = new Scripts(server.uri())) {
            Instant began = Instant.now().truncatedTo(ChronoUnit.SECONDS);
            RedisUnderTest redis = new RedisUnderTest(server);
            LineCosts costs = LineCosts.measure(server, scripts, options, progress);
            redis.empty();
            List<Reached> reached = new ArrayList<>(costs.judge());
            reached.addAll(LineMemory.measure(server, scripts, options.held(), options.seed(), progress));
            redis.empty();
            reached.add(ThroughLine.measure(server, Math.min(3, options.rounds()), options.turn(), progress));
            reached.add(IdleLine.measure(server, scripts, options.idleWaiters(), options.idle(), progress));
            redis.empty();
            reached.addAll(FairLine.measure(server, options.grants(), progress));
            BenchReport.Place place = new BenchReport.Place(
                    command,
                    began,
                    server.version(),
                    System.getProperty("java.version"),
                    Runtime.getRuntime().availableProcessors(),
                    options.rounds(),
                    (System.currentTimeMillis() - began.toEpochMilli()) / 1000.0);
            return new QueueReport(place, costs, reached);
        }
    }
}
