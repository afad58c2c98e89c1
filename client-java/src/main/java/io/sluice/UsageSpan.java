package io.sluice;

import io.sluice.Admin.By;
import io.sluice.Admin.Step;
import io.sluice.Admin.Used;
import io.sluice.Records.UsedRow;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Whole hours or days of usage that are asked for, by their numbers since 1970: read one after the other, until there are too many rows. */
record UsageSpan(Step step, long first, long beyond) {
    private static final Duration HOURS_KEPT = Duration.ofDays(35);
    private static final Duration DAYS_KEPT = Duration.ofDays(400);

    /** How many are asked for at a time. */
    private static final int TOGETHER = 8;

    /** @throws IllegalArgumentException if that is no span, or longer than what is kept */
    static UsageSpan of(Instant from, Instant to, Step step) {
        Duration kept = step == Step.HOUR ? HOURS_KEPT : DAYS_KEPT;
        if (!from.isBefore(to)) {
            throw new IllegalArgumentException("from must be before to, got " + from + " and " + to);
        }
        if (Duration.between(from, to).compareTo(kept) > 0) {
            throw new IllegalArgumentException("from and to must be at most " + kept.toDays() + " days apart, got "
                    + Duration.between(from, to).toDays());
        }
        long seconds = seconds(step);
        return new UsageSpan(
                step,
                Math.floorDiv(from.getEpochSecond(), seconds),
                Math.floorDiv(to.getEpochSecond() - (to.getNano() == 0 ? 1 : 0), seconds) + 1);
    }

    CompletionStage<List<Used>> read(Records records, String project, By by) {
        return read(records, project, by, first, new ArrayList<>());
    }

    private CompletionStage<List<Used>> read(Records records, String project, By by, long from, List<Used> found) {
        if (from >= beyond) {
            return CompletableFuture.completedStage(found);
        }
        CompletionStage<List<Used>> rows = CompletableFuture.completedStage(found);
        long till = Math.min(beyond, from + TOGETHER);
        for (long number = from; number < till; number++) {
            Instant at = Instant.ofEpochSecond(number * seconds(step));
            rows = rows.thenCombine(
                    records.usage(project, step == Step.HOUR ? "h" : "d", number, kindOf(by)),
                    (all, some) -> with(all, at, some));
        }
        return rows.thenCompose(all -> read(records, project, by, till, all));
    }

    private static List<Used> with(List<Used> all, Instant at, List<UsedRow> some) {
        some.stream()
                .map(row -> used(at, row))
                .sorted(Comparator.comparing(Used::name))
                .forEach(all::add);
        if (all.size() > Admin.MOST_ROWS) {
            throw new AdminException(
                    AdminException.Kind.TOO_MUCH, 0, "more than " + Admin.MOST_ROWS + " rows: ask for a shorter span");
        }
        return all;
    }

    private static Used used(Instant at, UsedRow row) {
        Records.Amounts a = row.amounts();
        return new Used(
                at,
                row.name(),
                a.requests(),
                a.input(),
                a.cacheRead(),
                a.cacheWrite(),
                a.output(),
                a.microUsd(),
                a.waitMs(),
                a.rejections(),
                Duration.of(row.activeUs(), ChronoUnit.MICROS));
    }

    /** What rows of that kind are called in Redis. */
    static String kindOf(By by) {
        return switch (by) {
            case TEAM -> "t";
            case AGENT -> "a";
            case MODEL -> "m";
            case RUN -> "r";
            case KIND -> "k";
        };
    }

    private static long seconds(Step step) {
        return step == Step.HOUR ? 3_600 : 86_400;
    }
}
