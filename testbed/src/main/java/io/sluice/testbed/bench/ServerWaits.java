package io.sluice.testbed.bench;

import io.sluice.Policy;
import io.sluice.Sluice;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.server.ServerProcess;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import java.util.function.DoubleSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What thousands of calls that wait cost one server: heap and threads. */
final class ServerWaits {
    private static final String PROJECT = "waits";
    private static final int HEAP_MIB = 256;

    /** Whatever the number of calls: there is no thread for each. */
    private static final int MORE_THREADS = 20;

    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final Pattern WAITERS = Pattern.compile("\"waiters\":(\\d+)");

    private ServerWaits() {}

    static List<Reached> measure(
            RedisServer redis, ServerImage image, BenchToken token, int waiters, Consumer<String> progress)
            throws InterruptedException {
        try (Sluice sluice = Sluice.connect(redis.uri())) {
            sluice.install(Policy.parse("""
                    project: %s
                    provider: generic
                    queue: {max_waiters: 100000, max_wait: 1h}
                    classes: [{name: all, models: ["*"], limits: {concurrency: 1}}]
                    """.formatted(PROJECT)));
        }
        progress.accept(String.format(Locale.ROOT, "waits  %,d calls come to a server of %d MiB", waiters, HEAP_MIB));
        try (ServerProcess server = ServerProcess.start(token.known(image.small(redis.uri(), HEAP_MIB + "m")));
                Keepalive watch = new Keepalive(server.uri(), token.text())) {
            expect(watch.send("POST", permits(), ask("holder", 900_000, 0)), 201);
            double threadsBefore = sum(watch, "jvm_threads_live_threads");
            List<Keepalive> waiting = new ArrayList<>();
            try {
                for (int i = 0; i < waiters; i++) {
                    Keepalive one = new Keepalive(server.uri(), token.text());
                    waiting.add(one);
                    one.write("POST", permits(), ask("a" + i % 100, 30_000, 3_600_000));
                }
                await(() -> waiters(watch), waiters);
                double heap = sum(watch, "jvm_memory_used_bytes{area=\"heap\"");
                double more = sum(watch, "jvm_threads_live_threads") - threadsBefore;
                return List.of(
                        Reached.of(
                                String.format(Locale.ROOT, "MiB of heap, %,d calls wait at one server", waiters),
                                Bound.atMost(HEAP_MIB),
                                heap / (1 << 20),
                                "it has no more: -Xmx" + HEAP_MIB + "m; garbage included"),
                        Reached.of(
                                String.format(Locale.ROOT, "threads more than without them, %,d calls", waiters),
                                Bound.atMost(MORE_THREADS),
                                more,
                                String.format(Locale.ROOT, "%.0f in all", threadsBefore + more)));
            } catch (IOException e) {
                throw new IllegalStateException("cannot ask " + server.uri(), e);
            } finally {
                waiting.forEach(Keepalive::close);
            }
        }
    }

    private static String permits() {
        return "/v1/projects/" + PROJECT + "/permits";
    }

    private static String ask(String agent, int leaseMs, int waitMs) {
        return String.format(
                Locale.ROOT,
                "{\"model\":\"m\",\"input_tokens\":1,\"agent\":\"%s\",\"lease_ms\":%d,\"max_wait_ms\":%d}",
                agent,
                leaseMs,
                waitMs);
    }

    private static double waiters(Keepalive watch) {
        Matcher told = WAITERS.matcher(expect(watch.send("GET", "/v1/projects/" + PROJECT + "/status", ""), 200));
        return told.find() ? Double.parseDouble(told.group(1)) : -1;
    }

    /** Of the series whose names begin so. */
    private static double sum(Keepalive watch, String prefix) {
        return expect(watch.send("GET", "/actuator/prometheus", ""), 200)
                .lines()
                .filter(line -> line.startsWith(prefix))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                .sum();
    }

    private static String expect(Keepalive.Reply reply, int status) {
        if (reply.status() != status) {
            throw new IllegalStateException("answered " + reply);
        }
        return reply.body();
    }

    private static void await(DoubleSupplier number, int enough) throws InterruptedException {
        long began = System.nanoTime();
        while (number.getAsDouble() < enough) {
            if (System.nanoTime() - began > PATIENCE.toNanos()) {
                throw new IllegalStateException("only " + number.getAsDouble() + " of " + enough + " wait");
            }
            Thread.sleep(500);
        }
    }
}
