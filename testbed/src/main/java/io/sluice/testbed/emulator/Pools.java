package io.sluice.testbed.emulator;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** Which pool a model belongs to: the first whose glob matches, else {@code default}. */
final class Pools {
    private final List<Entry> entries = new ArrayList<>();
    private final Pool rest;

    Pools(EmulatorOptions options, Rules rules) {
        options.pools().forEach((name, glob) -> entries.add(new Entry(pattern(glob), new Pool(name, options, rules))));
        rest = new Pool("default", options, rules);
    }

    Pool of(String model) {
        for (Entry entry : entries) {
            if (entry.models.matcher(model).matches()) {
                return entry.pool;
            }
        }
        return rest;
    }

    /** The provider's next day begins at this instant. */
    void newDayAt(long us) {
        entries.forEach(entry -> entry.pool.newDayAt(us));
        rest.newDayAt(us);
    }

    private static Pattern pattern(String glob) {
        String regex = Pattern.quote(glob).replace("*", "\\E.*\\Q").replace("?", "\\E.\\Q");
        return Pattern.compile(regex, Pattern.CASE_INSENSITIVE | Pattern.UNICODE_CASE);
    }

    private record Entry(Pattern models, Pool pool) {}
}
