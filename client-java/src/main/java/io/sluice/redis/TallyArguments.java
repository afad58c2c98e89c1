package io.sluice.redis;

import io.sluice.Records.Amounts;
import io.sluice.Records.Happened;
import io.sluice.Records.Row;
import io.sluice.Records.Tally;
import java.util.ArrayList;
import java.util.List;

/** What {@code tally} is given, in the order of its head. */
final class TallyArguments {
    private TallyArguments() {}

    static List<String> of(Tally tally, long hour, long day) {
        List<String> arguments = new ArrayList<>(List.of("", tally.teller()));
        add(
                arguments,
                tally.seq(),
                hour,
                day,
                tally.counters().size(),
                tally.rows().size(),
                tally.events().size());
        tally.counters().forEach((field, count) -> {
            arguments.add(field);
            arguments.add(Long.toString(count));
        });
        for (Row row : tally.rows()) {
            arguments.addAll(List.of(row.kind(), row.name(), row.team()));
            Amounts a = row.amounts();
            add(arguments, a.requests(), a.input(), a.cacheRead(), a.cacheWrite(), a.output());
            add(arguments, a.microUsd(), a.waitMs(), a.rejections());
        }
        for (Happened event : tally.events()) {
            arguments.addAll(List.of(event.type(), event.data()));
        }
        return arguments;
    }

    private static void add(List<String> arguments, long... numbers) {
        for (long number : numbers) {
            arguments.add(Long.toString(number));
        }
    }
}
