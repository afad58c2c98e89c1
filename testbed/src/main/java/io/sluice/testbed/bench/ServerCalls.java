package io.sluice.testbed.bench;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * What HTTP adds to a permit: its p50 less that of the Java client, over a call of the same server that does nothing. The three take
 * turns in every round, against one Redis and one project.
 */
final class ServerCalls {
    private static final double TIMES = 1.5;
    private static final int WARM_UP = 5;
    private static final int MANY = 8;

    private final Contender noOp;
    private final Contender java;
    private final Contender http;
    private final Duration length;
    private final int rounds;
    private final Consumer<String> progress;

    ServerCalls(Contender noOp, Contender java, Contender http, ServerBenchOptions options, Consumer<String> progress) {
        this.noOp = noOp;
        this.java = java;
        this.http = http;
        this.length = options.length();
        this.rounds = options.rounds();
        this.progress = progress;
    }

    List<Reached> measure() throws InterruptedException {
        for (Contender one : List.of(noOp, java, http)) {
            progress.accept("calls  " + one.label() + " warms up");
            Load.run(one, MANY, length.multipliedBy(WARM_UP));
        }
        List<Reached> all = new ArrayList<>();
        for (int threads : new int[] {1, MANY}) {
            all.addAll(judge(threads, rounds(threads)));
        }
        return all;
    }

    private Map<Contender, List<Sample>> rounds(int threads) throws InterruptedException {
        Map<Contender, List<Sample>> samples = new LinkedHashMap<>();
        for (int round = 1; round <= rounds; round++) {
            for (Contender one : List.of(noOp, java, http)) {
                Sample sample = Sample.of(Load.run(one, threads, length), 0, 0);
                samples.computeIfAbsent(one, first -> new ArrayList<>()).add(sample);
                progress.accept(String.format(
                        Locale.ROOT,
                        "calls  %s, round %d/%d  %-16s  p50 %,5.0f µs, with its settle %,5.0f µs",
                        threads(threads),
                        round,
                        rounds,
                        one.label(),
                        sample.acquireP50(),
                        sample.pairP50()));
            }
        }
        return samples;
    }

    /** One thread is promised; at many all of them queue for the processors, so that is only told. */
    private List<Reached> judge(int threads, Map<Contender, List<Sample>> samples) {
        Bound bound = threads == 1 ? Bound.atMost(TIMES) : null;
        ToDoubleFunction<Sample> settle = sample -> sample.pairP50() - sample.acquireP50();
        return List.of(
                reached("permit", threads, bound, samples, Sample::acquireP50),
                reached("its settle", threads, bound, samples, settle));
    }

    private Reached reached(
            String what,
            int threads,
            @Nullable Bound bound,
            Map<Contender, List<Sample>> samples,
            ToDoubleFunction<Sample> number) {
        List<Sample> nothing = of(noOp, samples);
        List<Sample> local = of(java, samples);
        List<Sample> remote = of(http, samples);
        double[] ratios = new double[rounds];
        for (int i = 0; i < rounds; i++) {
            double added = number.applyAsDouble(remote.get(i)) - number.applyAsDouble(local.get(i));
            ratios[i] = added / nothing.get(i).acquireP50();
        }
        return new Reached(
                what + " over HTTP, p50 added to the Java client's, × " + noOp.label() + ", " + threads(threads),
                bound,
                Spread.of(ratios),
                2,
                String.format(
                        Locale.ROOT,
                        "µs: HTTP %s, Java %s, %s %s",
                        median(remote, number),
                        median(local, number),
                        noOp.label(),
                        median(nothing, Sample::acquireP50)));
    }

    private static List<Sample> of(Contender contender, Map<Contender, List<Sample>> samples) {
        return samples.getOrDefault(contender, List.of());
    }

    private static String median(List<Sample> samples, ToDoubleFunction<Sample> number) {
        double[] values = samples.stream().mapToDouble(number).toArray();
        return String.format(Locale.ROOT, "%,.0f", Spread.of(values).median());
    }

    private static String threads(int threads) {
        return threads == 1 ? "1 thread" : threads + " threads";
    }
}
