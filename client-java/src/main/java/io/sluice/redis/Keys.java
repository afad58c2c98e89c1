package io.sluice.redis;

import java.util.List;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * The eight keys of a project, in the order every script that decides declares them, its hosts' channels, and the keys of what
 * is told of it. All carry the project as hash tag, so they live in one cluster slot. What each holds: {@code lua/README.md}.
 */
final class Keys {
    /** Which projects there are: the one key that is no project's. */
    static final String PROJECTS = "{sluice}:projects";

    private static final List<String> NAMES =
            List.of("policy", "levels", "permits", "waiters", "lines", "times", "hosts", "learn");

    /** For the script that writes that one. */
    static final Keys INDEX = new Keys("{sluice}:", List.of(PROJECTS));

    private final String tag;
    private final String[] all;

    private Keys(String tag, List<String> all) {
        this.tag = tag;
        this.all = all.toArray(String[]::new);
    }

    static Keys of(String project) {
        String tag = "{" + project + "}:";
        return new Keys(tag, NAMES.stream().map(name -> tag + name).toList());
    }

    /** For a script's KEYS. */
    String[] all() {
        return all.clone();
    }

    /** The eight of the same project. */
    Keys eight() {
        return with(NAMES.stream().map(name -> tag + name).toList());
    }

    /** Others of the same project. */
    Keys with(List<String> names) {
        return new Keys(tag, names);
    }

    /** For {@code tally}. */
    Keys tally(long hour, long day) {
        return with(List.of(tag + "levels", tag + "counters", usage("h", hour), usage("d", day), tag + "events"));
    }

    /** For {@code told}. */
    Keys told() {
        return with(List.of(tag + "levels", tag + "counters", tag + "events"));
    }

    /** For {@code told}, of one hour or day. */
    Keys ofUsage(String step, long number) {
        return with(List.of(tag + "levels", tag + "counters", tag + "events", usage(step, number)));
    }

    /** All that hosts told, for these hours and days. */
    List<String> told(long firstHour, int hours, long firstDay, int days) {
        return Stream.of(
                        Stream.of(tag + "counters", tag + "events"),
                        LongStream.range(firstHour, firstHour + hours).mapToObj(hour -> usage("h", hour)),
                        LongStream.range(firstDay, firstDay + days).mapToObj(day -> usage("d", day)))
                .flatMap(names -> names)
                .toList();
    }

    private String usage(String step, long number) {
        return tag + "usage:" + step + ":" + number;
    }

    /** The channel on which a host is told of its grants. */
    String hints(String host) {
        return tag + "h:" + host;
    }
}
