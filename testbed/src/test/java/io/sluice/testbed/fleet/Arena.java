package io.sluice.testbed.fleet;

import io.sluice.Policy;
import io.sluice.testbed.emulator.Emulator;
import io.sluice.testbed.emulator.EmulatorOptions;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.RedisServers;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;

/** A Redis, an emulated provider, and fleets of real processes that meet there. What happened is what the provider logged. */
final class Arena implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    final RedisServer redis = RedisServers.start();
    private final Emulator emulator;
    private final TargetLog log;
    private final HttpClient http = HttpClient.newHttpClient();

    Arena(EmulatorOptions provider) throws IOException, InterruptedException {
        this.emulator = Emulator.start(provider);
        this.log = new TargetLog(emulator.uri());
        log.begin();
    }

    URI provider() {
        return emulator.uri();
    }

    FleetOptions options(Policy policy, String profile, int processes, int agents, int seconds, Strategy strategy) {
        return new FleetOptions(
                redis.uri(),
                policy,
                emulator.uri(),
                processes,
                agents,
                Duration.ofSeconds(seconds),
                strategy,
                ProfileFile.parse("profile", profile),
                1);
    }

    /** A fleet that runs to its end. */
    FleetReport run(Policy policy, String profile, int processes, int agents, int seconds, Strategy strategy)
            throws IOException, InterruptedException {
        return run(options(policy, profile, processes, agents, seconds, strategy));
    }

    private static FleetReport run(FleetOptions options) throws IOException, InterruptedException {
        FleetReport report = Fleet.run(options, line -> {});
        if (System.getenv("SLUICE_DEBUG") != null) {
            System.out.println(FleetTable.of(List.of(report)));
        }
        return report;
    }

    /** A fleet that runs while the test looks on. */
    CompletableFuture<FleetReport> start(Policy policy, String profile, int processes, int agents, int seconds) {
        FleetOptions options = options(policy, profile, processes, agents, seconds, Strategy.SLUICE);
        return CompletableFuture.supplyAsync(() -> {
            try {
                return run(options);
            } catch (IOException | InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
    }

    static FleetReport end(CompletableFuture<FleetReport> fleet)
            throws InterruptedException, ExecutionException, TimeoutException {
        return fleet.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }

    /** Changes what the provider does beside its limits, from the next call on. */
    void behave(String json) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create(emulator.uri() + "/_behave"))
                .POST(HttpRequest.BodyPublishers.ofString(json))
                .build();
        int status = http.send(request, BodyHandlers.discarding()).statusCode();
        if (status != 204) {
            throw new IOException("HTTP " + status + " to " + json);
        }
    }

    /** Turns calls away like that until one was; when that was, by the log's clock. Those that came meanwhile were as well. */
    long refuseOnce(String overload) throws IOException, InterruptedException {
        long sinceMs = nowMs();
        behave("{\"overload\": {" + overload + "}}");
        List<LogEntry> read = logOnce(log -> firstRejected(log, sinceMs).isPresent());
        behave("{\"overload\": null}");
        return firstRejected(read, sinceMs).getAsLong();
    }

    private static OptionalLong firstRejected(List<LogEntry> log, long sinceMs) {
        return only("rejected", log).stream()
                .mapToLong(LogEntry::tMs)
                .filter(tMs -> tMs >= sinceMs)
                .findFirst();
    }

    /** Waits until the provider's clock shows that. */
    void until(long ms) throws IOException, InterruptedException {
        for (long left = ms - nowMs(); left > 0; left = ms - nowMs()) {
            TimeUnit.MILLISECONDS.sleep(left);
        }
    }

    /** Everything the provider decided so far. */
    List<LogEntry> log() throws IOException, InterruptedException {
        return log.read();
    }

    /** Waits until the log is so, and gives it. */
    List<LogEntry> logOnce(Predicate<List<LogEntry>> so) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        for (List<LogEntry> read = log.read(); ; read = log.read()) {
            if (so.test(read)) {
                return read;
            }
            if (System.nanoTime() > deadline) {
                throw new AssertionError("not so within " + PATIENCE + ", of " + read.size() + " lines the last is "
                        + (read.isEmpty() ? "-" : read.get(read.size() - 1)));
            }
            TimeUnit.MILLISECONDS.sleep(5);
        }
    }

    long nowMs() throws IOException, InterruptedException {
        return log.nowMs();
    }

    /** Why calls were given up, but for outages: a machine too busy for Redis to answer in time is not what is tested. */
    static Map<String, Long> gaveUp(FleetReport report) {
        Map<String, Long> why = new TreeMap<>(report.givenUpBecause());
        why.keySet().removeIf(reason -> reason.startsWith("outage"));
        return why;
    }

    static List<LogEntry> only(String event, List<LogEntry> log) {
        return log.stream().filter(entry -> entry.is(event)).toList();
    }

    /** What came to the provider, accepted or not, after one instant and before another. */
    static List<LogEntry> callsBetween(long afterMs, long beforeMs, List<LogEntry> log) {
        return log.stream()
                .filter(entry -> entry.is("accepted") || entry.is("rejected"))
                .filter(entry -> entry.tMs() > afterMs && entry.tMs() < beforeMs)
                .toList();
    }

    @Override
    public void close() {
        emulator.close();
        redis.close();
    }
}
