package io.sluice.testbed.bench;

import io.sluice.Call;
import io.sluice.Policy;
import io.sluice.Sluice;
import io.sluice.testbed.redis.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;

/** How many calls one host gets through a line that is never empty, beside the same calls where nobody has to wait. */
final class ThroughLine {
    private static final String PROJECT = "line-through";
    private static final int DEPTH = 64;
    private static final int SLOTS = 8;

    private ThroughLine() {}

    static Reached measure(RedisServer server, int rounds, Duration length, Consumer<String> progress)
            throws InterruptedException {
        RedisUnderTest redis = new RedisUnderTest(server);
        List<Double> queued = new ArrayList<>();
        List<Double> alone = new ArrayList<>();
        for (int round = 0; round <= rounds; round++) {
            double none = callsPerSecond(server, CallSize.CONCURRENCY, length);
            redis.empty();
            double line = callsPerSecond(server, SLOTS, length);
            redis.empty();
            progress.accept(told(
                    "through  %-9s  %,7.0f calls/s through a line, %,7.0f/s where nobody waits",
                    round == 0 ? "warm-up" : "round " + round + "/" + rounds, line, none));
            if (round > 0) {
                queued.add(line);
                alone.add(none);
            }
        }
        Spread free = Spread.of(alone.stream().mapToDouble(rate -> rate).toArray());
        return new Reached(
                told("calls/s of %d callers of one host through %d slots, the line never empty", DEPTH, SLOTS),
                null,
                Spread.of(queued.stream().mapToDouble(rate -> rate).toArray()),
                0,
                told("slots for everybody: %s", BenchTable.spread(free, 0)));
    }

    private static double callsPerSecond(RedisServer server, int slots, Duration length) throws InterruptedException {
        try (Sluice sluice = Sluice.connect(server.uri())) {
            sluice.install(Policy.parse("""
                    project: %s
                    provider: anthropic
                    classes:
                      - {name: sonnet, models: ["*"], limits: {rpm: %d, itpm: %4$d, otpm: %4$d, concurrency: %d}}
                    """.formatted(PROJECT, CallSize.RPM, slots, CallSize.TPM)));
            Flood flood = new Flood(
                    sluice.project(PROJECT),
                    Call.of("claude-sonnet-5-5").maxOutputTokens(CallSize.OUTPUT_CAP),
                    CallSize.INPUT);
            flood.start(DEPTH);
            Thread.sleep(length.toMillis() / 4);
            flood.count();
            long began = System.nanoTime();
            Thread.sleep(length.toMillis());
            int granted = flood.granted();
            double seconds = (System.nanoTime() - began) / 1e9;
            flood.check();
            flood.stop();
            return granted / seconds;
        }
    }

    private static String told(String format, Object... values) {
        return String.format(Locale.ROOT, format, values);
    }
}
