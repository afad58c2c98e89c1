package io.sluice.testbed.bench;

import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

/** A report in Markdown. */
final class BenchTable {
    private BenchTable() {}

    static String of(BenchReport report) {
        StringBuilder text = new StringBuilder(where(report.place));
        text.append("\n\n| contender | threads | pairs/s | Redis CPU a pair: commands | main thread ")
                .append("| acquire p50 | p99 | pair p50 | p99 |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|\n");
        report.measured.forEach(series -> text.append(measured(series)));
        text.append("\n| Sluice's | over | threads | reach | ratio | verdict |\n|---|---|--:|--:|--:|---|\n");
        report.verdicts.forEach(verdict -> text.append(judged(verdict)));
        return text.append('\n').append(mainThread(report)).toString();
    }

    static String of(List<Reached> reached) {
        StringBuilder text =
                new StringBuilder("| what | reach | measured | verdict | beside it |\n|---|--:|--:|---|---|\n");
        reached.forEach(one -> text.append("| ")
                .append(String.join(
                        " | ",
                        one.what(),
                        one.reach(),
                        value(one.measured(), one.decimals()),
                        one.words(),
                        one.beside()))
                .append(" |\n"));
        return text.toString();
    }

    private static String where(BenchReport.Place place) {
        return String.format(
                Locale.ROOT,
                "`%s`, %s, Redis %s, JDK %s, %d cores; %s of %s s, median (min..max), times in µs",
                place.command(),
                place.date(),
                place.redis(),
                place.jdk(),
                place.cores(),
                place.rounds() == 1 ? "1 round" : place.rounds() + " rounds",
                trim(place.seconds()));
    }

    private static String measured(Series series) {
        return "| "
                + String.join(
                        " | ",
                        series.contender(),
                        String.valueOf(series.threads()),
                        cell(series, Sample::pairsPerSecond, 0),
                        cell(series, Sample::commandMicros, 1),
                        cell(series, Sample::mainThreadMicros, 1),
                        cell(series, Sample::acquireP50, 0),
                        cell(series, Sample::acquireP99, 0),
                        cell(series, Sample::pairP50, 0),
                        cell(series, Sample::pairP99, 0))
                + " |\n";
    }

    private static String judged(Verdict verdict) {
        Rule rule = verdict.rule();
        return "| "
                + String.join(
                        " | ",
                        rule.what(),
                        rule.reference(),
                        String.valueOf(rule.threads()),
                        rule.bound().toString(),
                        spread(verdict.ratio(), 2),
                        verdict.words())
                + " |\n";
    }

    /** Beside the judged figure, which leaves out reading commands and answering them: most of what many cost. */
    private static String mainThread(BenchReport report) {
        return report.verdicts.stream()
                .filter(verdict -> verdict.rule().number() == Rule.COMMANDS)
                .map(verdict -> {
                    Rule rule = verdict.rule();
                    Spread ratio = rule.ratio(report.measured, Sample::mainThreadMicros);
                    return spread(ratio, 2) + " at " + (rule.threads() == 1 ? "1 thread" : rule.threads() + " threads");
                })
                .collect(Collectors.joining(
                        ", ",
                        "Beside it, Redis's main thread a pair over Bucket4j's, reading and answering included: ",
                        "."));
    }

    private static String cell(Series series, ToDoubleFunction<Sample> number, int decimals) {
        return spread(series.of(number), decimals);
    }

    static String spread(Spread spread, int decimals) {
        String one = "%,." + decimals + "f";
        return String.format(
                Locale.ROOT, one + " (" + one + ".." + one + ")", spread.median(), spread.min(), spread.max());
    }

    /** As {@link #spread}, and the number alone where it was measured once. */
    static String value(Spread spread, int decimals) {
        return spread.min() == spread.max()
                ? String.format(Locale.ROOT, "%,." + decimals + "f", spread.median())
                : spread(spread, decimals);
    }

    /** 2 rather than 2.0. */
    static String trim(double number) {
        return number == Math.rint(number) ? String.valueOf((long) number) : String.valueOf(number);
    }
}
