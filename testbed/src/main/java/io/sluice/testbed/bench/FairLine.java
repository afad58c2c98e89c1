package io.sluice.testbed.bench;

import io.sluice.Call;
import io.sluice.Policy;
import io.sluice.Priority;
import io.sluice.Sluice;
import io.sluice.testbed.fleet.Statistics;
import io.sluice.testbed.redis.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Whether real hosts on real time get what they are due of a class that is always short of input tokens: equal flows equal
 * shares however large their calls, weights by weight, the interactive call its turn at once.
 */
final class FairLine implements AutoCloseable {
    private static final String PROJECT = "line-fair";
    private static final Call CALL = Call.of("claude-sonnet-5-5").maxOutputTokens(1);
    private static final int HOSTS = 2;
    private static final int DEPTH = 200;
    private static final int AT_ONCE = 2;
    private static final Duration WARM_UP = Duration.ofSeconds(1);
    private static final Duration TICK = Duration.ofMillis(10);
    private static final Duration LONGEST = Duration.ofMinutes(3);

    private final Consumer<String> progress;
    private final List<Sluice> hosts;

    private FairLine(RedisServer server, Consumer<String> progress) {
        this.progress = progress;
        this.hosts = IntStream.range(0, HOSTS)
                .mapToObj(host -> Sluice.connect(server.uri()))
                .toList();
    }

    /** @param grants of the flow that gets least */
    static List<Reached> measure(RedisServer server, int grants, Consumer<String> progress)
            throws InterruptedException {
        List<Reached> reached = new ArrayList<>();
        RedisUnderTest redis = new RedisUnderTest(server);
        try (FairLine line = new FairLine(server, progress)) {
            reached.add(line.equal(grants));
        }
        redis.empty();
        try (FairLine line = new FairLine(server, progress)) {
            reached.add(line.weighted(grants));
        }
        redis.empty();
        try (FairLine line = new FairLine(server, progress)) {
            reached.add(line.overloaded(grants));
        }
        redis.empty();
        return reached;
    }

    /** Three teams, calls of 1, 2 and 3 thousand tokens: each is due a third of the tokens. */
    private Reached equal(int grants) throws InterruptedException {
        install(50_000_000, "{name: one}, {name: two}, {name: three}");
        List<Flow> flows = List.of(flow("one", 1, 1_000), flow("two", 1, 2_000), flow("three", 1, 3_000));
        double seconds = run("equal flows", flows, grants);
        List<Long> shares = flows.stream().map(Flow::tokens).toList();
        return new Reached(
                "Jain's index of 3 equal flows, calls of 1,000, 2,000 and 3,000 tokens",
                Bound.atLeast(0.98),
                Spread.of(Statistics.jain(shares)),
                4,
                told("shares %s of the tokens; %s", percents(shares), grants(flows, seconds)));
    }

    private Reached weighted(int grants) throws InterruptedException {
        install(50_000_000, "{name: heavy, weight: 4}, {name: light}");
        List<Flow> flows = List.of(flow("heavy", 4, 1_500), flow("light", 1, 1_500));
        double seconds = run("weights 4 : 1", flows, grants);
        double ratio = flows.get(0).tokens() / (double) flows.get(1).tokens();
        return new Reached(
                "weights 4 : 1, off by, %",
                Bound.atMost(5),
                Spread.of(100 * Math.abs(ratio / 4 - 1)),
                2,
                told("%.3f : 1; %s", ratio, grants(flows, seconds)));
    }

    /** 100 calls/s are admitted; 400 of batch come and 20 that somebody waits for. */
    private Reached overloaded(int grants) throws InterruptedException {
        install(100 * 60 * 1_000, "{name: nightly}");
        Flow batch = new Flow("batch", 1, 1_000, floods(CALL.team("nightly").priority(Priority.BATCH), 1_000));
        Flow interactive = new Flow("interactive", 16, 1_000, floods(CALL.priority(Priority.INTERACTIVE), 1_000));
        List<Flow> flows = List.of(batch, interactive);
        flows.forEach(Flow::count);
        tell("interactive over batch", flows, 0);
        long began = System.nanoTime();
        for (int tick = 0; tick < grants; tick++) {
            Pace.until(began, TICK.multipliedBy(tick));
            for (int i = 0; i < 4; i++) {
                batch.ask(i);
            }
            if (tick % 5 == 0) {
                interactive.ask(tick / 5);
            }
            if (tick % 500 == 499) {
                tell("interactive over batch", flows, tick / 100.0);
            }
            flows.forEach(Flow::check);
        }
        flows.forEach(Flow::stop);
        double p99 = interactive.waitMs(99);
        double median = batch.waitMs(50);
        return new Reached(
                "interactive p99 over batch median, batch overload 4 x",
                Bound.atMost(0.1),
                Spread.of(p99 / median),
                3,
                told("%.0f ms of %,d calls over %,.0f ms of %,d", p99, interactive.granted(), median, batch.granted()));
    }

    /** Runs flows that always wait until the one with the fewest grants has enough; the seconds it took. */
    private double run(String what, List<Flow> flows, int grants) throws InterruptedException {
        tell(what, flows, 0);
        for (int depth = 0; depth < Math.min(DEPTH, grants); depth += AT_ONCE) {
            flows.forEach(flow -> flow.start(AT_ONCE));
            Pace.until(System.nanoTime(), TICK);
        }
        // A full bucket goes to whoever comes first.
        Thread.sleep(WARM_UP.toMillis());
        flows.forEach(Flow::count);
        long began = System.nanoTime();
        for (int tick = 1; least(flows) < grants; tick++) {
            Pace.until(began, Duration.ofMillis(50L * tick));
            flows.forEach(Flow::check);
            if (tick % 100 == 0) {
                tell(what, flows, tick / 20.0);
            }
            if (System.nanoTime() - began > LONGEST.toNanos()) {
                throw new IllegalStateException(
                        what + ": after " + LONGEST.toSeconds() + " s one flow has only " + least(flows) + " grants");
            }
        }
        double seconds = (System.nanoTime() - began) / 1e9;
        flows.forEach(Flow::stop);
        return seconds;
    }

    /** @param input tokens a minute that are admitted */
    private void install(long input, String teams) {
        hosts.get(0).install(Policy.parse("""
                project: %s
                provider: anthropic
                headroom: 1
                burst: 1s
                quantum: 1s
                queue: {max_waiters: 100000, max_wait: 10m}
                classes:
                  - {name: sonnet, models: ["*"], limits: {itpm: %d}}
                teams: [%s]
                """.formatted(PROJECT, input, teams)));
    }

    private Flow flow(String team, int weight, long input) {
        return new Flow(team, weight, input, floods(CALL.team(team), input));
    }

    private List<Flood> floods(Call call, long input) {
        return hosts.stream()
                .map(host -> new Flood(host.project(PROJECT), call, input))
                .toList();
    }

    private void tell(String what, List<Flow> flows, double seconds) {
        StringBuilder line = new StringBuilder(told("fair  %s  %.0f s:", what, seconds));
        flows.forEach(flow -> line.append(told("  %s %,d", flow.name(), flow.granted())));
        progress.accept(line.toString());
    }

    private static String grants(List<Flow> flows, double seconds) {
        int all = flows.stream().mapToInt(Flow::granted).sum();
        return told("%,d grants in %.0f s, the least %,d%s", all, seconds, least(flows), outages(flows));
    }

    /** A call that Redis did not answer stands in no line: where there are many, flows were not always backlogged. */
    private static String outages(List<Flow> flows) {
        int all = flows.stream().mapToInt(Flow::outages).sum();
        return all == 0 ? "" : told("; %,d calls without an answer of Redis", all);
    }

    private static String percents(List<Long> shares) {
        double all = shares.stream().mapToLong(share -> share).sum();
        return shares.stream().map(share -> told("%.1f %%", 100 * share / all)).collect(Collectors.joining(", "));
    }

    private static String told(String format, Object... values) {
        return String.format(Locale.ROOT, format, values);
    }

    private static int least(List<Flow> flows) {
        return flows.stream().mapToInt(Flow::granted).min().orElse(0);
    }

    @Override
    public void close() {
        hosts.forEach(Sluice::close);
    }
}
