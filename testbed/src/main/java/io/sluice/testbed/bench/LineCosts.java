package io.sluice.testbed.bench;

import io.sluice.Sluice;
import io.sluice.testbed.redis.RedisServer;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;

/**
 * What each step of a line costs Redis, by how many wait and who: lines take turns in every round, so that what slows the
 * machine slows all of them.
 *
 * @param noOp a script that does nothing, round by round
 * @param alone the same steps where nobody waits
 */
record LineCosts(QueueOptions options, List<ScriptCost> noOp, LineSeries alone, List<LineSeries> lines) {

    static LineCosts measure(RedisServer server, Scripts scripts, QueueOptions options, Consumer<String> progress) {
        return new LineCosts(options, new ArrayList<>(), new LineSeries(Crowd.FORTY_AGENTS, 0), new ArrayList<>())
                .measure(server, scripts, progress);
    }

    private LineCosts measure(RedisServer server, Scripts scripts, Consumer<String> progress) {
        List<StandingLine> standing = stand(server, scripts, progress);
        for (int round = 0; round <= options.rounds(); round++) {
            for (int i = 0; i < standing.size(); i++) {
                StandingLine line = standing.get(i);
                Map<LineStep, ScriptCost> turn =
                        line.waiters == 0 ? line.alone(options.steps()) : line.use(options.steps());
                progress.accept(told(round, line, turn));
                if (round > 0) {
                    (i == 0 ? alone : lines.get(i - 1)).add(turn);
                }
            }
            if (round > 0) {
                noOp.add(noOp(scripts));
            }
        }
        return this;
    }

    /** In the first place one where nobody waits. */
    private List<StandingLine> stand(RedisServer server, Scripts scripts, Consumer<String> progress) {
        lines.addAll(planned());
        List<LineSeries> all = new ArrayList<>(List.of(alone));
        all.addAll(lines);
        try (Sluice sluice = Sluice.connect(server.uri())) {
            all.forEach(one -> sluice.install(StandingLine.policy(one.crowd(), one.waiters())));
        }
        List<StandingLine> standing = new ArrayList<>();
        for (LineSeries one : all) {
            if (one.waiters() > 0) {
                progress.accept(
                        String.format(Locale.ROOT, "line  %,d waiters come, %s", one.waiters(), one.crowd().label));
            }
            StandingLine line = new StandingLine(scripts, one.crowd(), one.waiters(), options.seed());
            line.fill();
            standing.add(line);
        }
        return standing;
    }

    private List<LineSeries> planned() {
        List<LineSeries> planned = new ArrayList<>();
        for (Crowd crowd : List.of(Crowd.FORTY_AGENTS, Crowd.DISTINCT)) {
            options.sizes().forEach(size -> planned.add(new LineSeries(crowd, size)));
        }
        planned.add(new LineSeries(Crowd.CAPPED, options.largest()));
        return planned;
    }

    private ScriptCost noOp(Scripts scripts) {
        List<ScriptCost> runs = new ArrayList<>();
        for (int i = 0; i < options.steps(); i++) {
            runs.add(scripts.measure(() -> scripts.noOp("no-op")).cost());
        }
        return ScriptCost.median(runs);
    }

    /** Whether a long line costs more than a short one. */
    List<Reached> judge() {
        List<Reached> reached = new ArrayList<>();
        for (Crowd crowd : Crowd.values()) {
            LineSeries longest = line(crowd, options.largest());
            // Behind a capped agent stand others, each of its own.
            LineSeries shortest = line(crowd == Crowd.CAPPED ? Crowd.DISTINCT : crowd, options.smallest());
            reached.add(new Reached(
                    String.format(
                            Locale.ROOT,
                            "Redis CPU of %s, %,d waiters over %,d, %s",
                            LineStep.START_NEXT.label,
                            options.largest(),
                            options.smallest(),
                            crowd.label),
                    Bound.atMost(2),
                    longest.ratio(LineStep.START_NEXT, shortest),
                    2,
                    String.format(
                            Locale.ROOT,
                            "%.0f µs over %.0f µs; a settle where nobody waits %.0f µs, a no-op %.1f µs",
                            longest.of(LineStep.START_NEXT, ScriptCost::micros).median(),
                            shortest.of(LineStep.START_NEXT, ScriptCost::micros).median(),
                            alone.of(LineStep.START_NEXT, ScriptCost::micros).median(),
                            noOpMicros().median())));
        }
        return reached;
    }

    Spread noOpMicros() {
        return Spread.of(noOp.stream().mapToDouble(ScriptCost::micros).toArray());
    }

    LineSeries line(Crowd crowd, int waiters) {
        return lines.stream()
                .filter(line -> line.crowd() == crowd && line.waiters() == waiters)
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("not measured: " + crowd + " " + waiters));
    }

    private String told(int round, StandingLine line, Map<LineStep, ScriptCost> turn) {
        ScriptCost start = turn.getOrDefault(LineStep.START_NEXT, new ScriptCost(0, 0));
        return String.format(
                Locale.ROOT,
                "line  %-9s  %,6d waiters, %-30s  %4.0f µs of Redis to start the next",
                round == 0 ? "warm-up" : "round " + round + "/" + options.rounds(),
                line.waiters,
                line.waiters == 0 ? "nobody" : line.crowd.label,
                start.micros());
    }
}
