package io.sluice.testbed.bench;

import io.sluice.Call;
import io.sluice.Policy;
import io.sluice.Sluice;
import io.sluice.testbed.redis.RedisServer;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/** How quiet calls are that only wait. */
final class IdleLine {
    private static final String PROJECT = "line-idle";
    private static final int HOSTS = 2;
    private static final int AT_ONCE = 50;
    private static final Duration SETTLING = Duration.ofSeconds(30);

    private IdleLine() {}

    static Reached measure(RedisServer server, Scripts scripts, int waiters, Duration length, Consumer<String> progress)
            throws InterruptedException {
        List<Sluice> hosts = IntStream.range(0, HOSTS)
                .mapToObj(host -> Sluice.connect(server.uri()))
                .toList();
        try {
            hosts.get(0).install(Policy.parse("""
                    project: %s
                    provider: anthropic
                    queue: {max_waiters: 100000, max_wait: 1h}
                    classes: [{name: sonnet, models: ["*"], limits: {concurrency: 1}}]
                    """.formatted(PROJECT)));
            ScriptedProject holder = new ScriptedProject(scripts, PROJECT);
            ScriptedProject.expect(
                    holder.acquire(new ScriptedProject.Asker(
                            Crowd.id(0, new Random(0)), Crowd.host(0), "-", "other|n", 4, List.of("p", "c:sonnet"))),
                    "granted");
            progress.accept(told("idle  %,d waiters come in %d hosts", waiters, HOSTS));
            stand(hosts, scripts, waiters);
            progress.accept(told("idle  they are watched for %d s", length.toSeconds()));
            Monitor.Seen seen = Monitor.watch(server.port(), length);
            double each = seen.sent() / (HOSTS * length.toMillis() / 1e3);
            return Reached.of(
                    told("commands a second a host, %,d idle waiters in %d hosts", waiters, HOSTS),
                    Bound.atMost(5),
                    each,
                    told(
                            "asking once a second for each: %,.0f; inside scripts %.0f",
                            waiters / (double) HOSTS, seen.inScripts() / (HOSTS * length.toMillis() / 1e3)));
        } catch (IOException e) {
            throw new IllegalStateException("cannot watch Redis: " + e.getMessage(), e);
        } finally {
            hosts.forEach(Sluice::close);
        }
    }

    /** A part at a time: a call whose answer is late asks again, and would be counted. */
    private static void stand(List<Sluice> hosts, Scripts scripts, int waiters) throws InterruptedException {
        Call call = Call.of("claude-sonnet-5-5").maxOutputTokens(CallSize.OUTPUT_CAP);
        List<Flood> floods = hosts.stream()
                .map(host -> new Flood(host.project(PROJECT), call, CallSize.INPUT))
                .toList();
        for (int i = 0; i < waiters; i++) {
            floods.get(i % HOSTS).ask();
            if ((i + 1) % AT_ONCE == 0 || i + 1 == waiters) {
                awaitStanding(scripts, i + 1);
            }
        }
    }

    private static void awaitStanding(Scripts scripts, int waiters) throws InterruptedException {
        long began = System.nanoTime();
        while (true) {
            List<Object> line = scripts.run("inspect", PROJECT, List.of("", "line"));
            long stand = Long.parseLong(line.get(2).toString());
            if (stand == waiters) {
                return;
            }
            if (System.nanoTime() - began > SETTLING.toNanos()) {
                throw new IllegalStateException("only " + stand + " of " + waiters + " stand in line");
            }
            Thread.sleep(5);
        }
    }

    private static String told(String format, Object... values) {
        return String.format(Locale.ROOT, format, values);
    }
}
