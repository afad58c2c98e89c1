package io.sluice;

import io.sluice.Records.Amounts;
import io.sluice.Records.Happened;
import io.sluice.Records.Row;
import io.sluice.Records.Tally;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import tools.jackson.databind.json.JsonMapper;

/**
 * What is counted and not told yet, bounded: a name too many counts under {@code other}, an event too many only as one more. Not for
 * several threads.
 */
final class Batch {
    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final String OTHER = "other";
    private static final int MOST_FIELDS = 10_000;
    private static final int MOST_NAMES = 1_000;
    private static final int MOST_MODELS = 256;
    private static final int MOST_BYTES = 1_024;

    /** Permits are many, all else is rare. */
    private static final int MOST_PERMIT_EVENTS = 100;

    private static final int MOST_OTHER_EVENTS = 15;

    private record Key(String kind, String name) {}

    private static final class Sum {
        String team = "";
        final long[] numbers = new long[8];
    }

    private final Map<String, Long> counters = new LinkedHashMap<>();
    private final Map<Key, Sum> rows = new LinkedHashMap<>();
    private final Map<String, Integer> names = new HashMap<>();
    private final Deque<Happened> events = new ArrayDeque<>();
    private final Map<String, Integer> single = new HashMap<>();

    /** By type, those not told one by one. */
    private final Map<String, Long> crowd = new LinkedHashMap<>();

    boolean isEmpty() {
        return counters.isEmpty() && rows.isEmpty() && events.isEmpty() && crowd.isEmpty();
    }

    /** Adds to a counter. False: there are too many, and it is not counted. */
    boolean count(String field, long add) {
        if (add == 0) {
            return true;
        }
        if (counters.size() >= MOST_FIELDS && !counters.containsKey(field)) {
            return false;
        }
        counters.merge(field, add, Batch::sum);
        return true;
    }

    /** Adds to what was used under each of a call's names. */
    void used(Who who, Amounts amounts) {
        row("t", who.team(), "", amounts);
        row("a", who.agent(), who.team(), amounts);
        row("m", who.model(), "", amounts);
        row("r", who.run(), "", amounts);
    }

    /** The provider said no to a call. */
    void rejected(Who who, String kind) {
        Amounts one = new Amounts(0, 0, 0, 0, 0, 0, 0, 1);
        used(who, one);
        row("k", kind, "", one);
    }

    private void row(String kind, String name, String team, Amounts a) {
        Key key = new Key(kind, name);
        Sum sum = rows.get(key);
        if (sum == null) {
            int known = names.getOrDefault(kind, 0);
            if (known >= (kind.equals("m") ? MOST_MODELS : MOST_NAMES)) {
                sum = rows.computeIfAbsent(new Key(kind, OTHER), any -> new Sum());
            } else {
                names.put(kind, known + 1);
                sum = new Sum();
                sum.team = team;
                rows.put(key, sum);
            }
        }
        long[] more = {
            a.requests(), a.input(), a.cacheRead(), a.cacheWrite(), a.output(), a.microUsd(), a.waitMs(), a.rejections()
        };
        for (int i = 0; i < more.length; i++) {
            sum.numbers[i] = sum(sum.numbers[i], more[i]);
        }
    }

    /** @param data asked for only if it is told by itself */
    void happened(String type, Supplier<Map<String, Object>> data) {
        int most = type.equals("permit") ? MOST_PERMIT_EVENTS : MOST_OTHER_EVENTS;
        String text = single.merge(type, 1, Integer::sum) <= most ? JSON.writeValueAsString(data.get()) : "";
        if (text.isEmpty() || text.getBytes(StandardCharsets.UTF_8).length > MOST_BYTES) {
            crowd.merge(type, 1L, Long::sum);
        } else {
            events.add(new Happened(type, text));
        }
    }

    /** Takes out as much as one tally may have. */
    Tally cut(String project, String teller, long seq) {
        Map<String, Long> some = new LinkedHashMap<>();
        Iterator<Map.Entry<String, Long>> each = counters.entrySet().iterator();
        while (each.hasNext() && some.size() < Tally.MOST_COUNTERS) {
            Map.Entry<String, Long> one = each.next();
            some.put(one.getKey(), one.getValue());
            each.remove();
        }
        List<Row> cutRows = new ArrayList<>();
        Iterator<Map.Entry<Key, Sum>> row = rows.entrySet().iterator();
        while (row.hasNext() && cutRows.size() < Tally.MOST_ROWS) {
            Map.Entry<Key, Sum> one = row.next();
            cutRows.add(row(one.getKey(), one.getValue()));
            names.computeIfPresent(one.getKey().kind(), (kind, count) -> Math.max(0, count - 1));
            row.remove();
        }
        List<Happened> happened = new ArrayList<>(events);
        crowd.forEach((type, count) -> happened.add(new Happened(type, "{\"count\":" + count + "}")));
        events.clear();
        crowd.clear();
        single.clear();
        return new Tally(project, teller, seq, some, cutRows, happened);
    }

    private static Row row(Key key, Sum sum) {
        long[] n = sum.numbers;
        return new Row(key.kind(), key.name(), sum.team, new Amounts(n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7]));
    }

    private static long sum(long a, long b) {
        return Math.min(Weights.MAX_EXACT, a + b);
    }
}
