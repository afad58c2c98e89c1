package io.sluice.testbed.bench;

import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.RedisServers;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;

/**
 * {@code ./sluice bench pairs}: what one acquire and settle costs beside three Bucket4j buckets and beside scripts that
 * do nothing, at one thread and at many on one hot project. Contenders take turns in every round, on one Redis emptied
 * before each turn.
 */
public final class Bench {
    private final BenchOptions options;
    private final Consumer<String> progress;
    private final RedisUnderTest redis;

    private Bench(BenchOptions options, Consumer<String> progress, RedisServer server) {
        this.options = options;
        this.progress = progress;
        this.redis = new RedisUnderTest(server);
    }

    /**
     * Runs it on a Redis of its own.
     *
     * @param command as it was typed, for the report
     * @param progress hears a line for every turn
     * @throws IllegalStateException a contender failed or was refused, which nobody ever should be
     * @throws io.sluice.testbed.redis.NoRedisException there is no Redis to start
     */
    public static BenchReport run(BenchOptions options, String command, Consumer<String> progress)
            throws InterruptedException {
        try (RedisServer server = RedisServers.start();
                Contender noOp = new NoOp(server.uri());
                Contender sluice = new SluicePairs(server.uri());
                Contender bucket4j = new Bucket4jPairs(server.uri())) {
            BenchReport.Place place = new BenchReport.Place(
                    command,
                    Instant.now().truncatedTo(ChronoUnit.SECONDS),
                    server.version(),
                    System.getProperty("java.version"),
                    Runtime.getRuntime().availableProcessors(),
                    options.rounds(),
                    options.length().toMillis() / 1000.0);
            List<Series> measured = new Bench(options, progress, server).measure(List.of(noOp, sluice, bucket4j));
            List<Verdict> verdicts = Rule.pairs(options.threads()).stream()
                    .map(rule -> rule.judge(measured))
                    .toList();
            return new BenchReport(place, measured, verdicts);
        }
    }

    private List<Series> measure(List<Contender> contenders) throws InterruptedException {
        List<Series> series = new ArrayList<>();
        for (int threads : new int[] {1, options.threads()}) {
            Map<String, List<Sample>> samples = new LinkedHashMap<>();
            for (Contender contender : contenders) {
                turn(contender, threads, "warm-up");
                samples.put(contender.label(), new ArrayList<>());
            }
            for (int round = 1; round <= options.rounds(); round++) {
                for (Contender contender : contenders) {
                    Sample sample = turn(contender, threads, "round " + round + "/" + options.rounds());
                    samples.getOrDefault(contender.label(), List.of()).add(sample);
                }
            }
            samples.forEach((label, rounds) -> series.add(new Series(label, threads, rounds)));
        }
        return series;
    }

    private Sample turn(Contender contender, int threads, String when) throws InterruptedException {
        redis.empty();
        contender.prepare();
        redis.resetStats();
        double cpuBefore = redis.mainThreadMicros();
        Load.Pairs load = Load.run(contender, threads, options.length());
        double cpu = redis.mainThreadMicros() - cpuBefore;
        Sample sample = Sample.of(load, contender.commandMicros(redis.commandStats()), cpu);
        progress.accept(String.format(
                Locale.ROOT,
                "%s  %-9s  %-8s  %,8.0f pairs/s  %6.1f µs of Redis a pair",
                threads == 1 ? "1 thread" : threads + " threads",
                when,
                contender.label(),
                sample.pairsPerSecond(),
                sample.commandMicros()));
        return sample;
    }
}
