package io.sluice.redis;

import io.sluice.OutageException;
import io.sluice.Records.Amounts;
import io.sluice.Records.Event;
import io.sluice.Records.Held;
import io.sluice.Records.Kept;
import io.sluice.Records.Level;
import io.sluice.Records.Page;
import io.sluice.Records.Runs;
import io.sluice.Records.Said;
import io.sluice.Records.Scope;
import io.sluice.Records.Standing;
import io.sluice.Records.Totals;
import io.sluice.Records.UsedRow;
import io.sluice.Records.Waits;
import io.sluice.Store;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** What {@code status}, {@code told} and {@code inspect} answer, as records: as strict as {@link Replies}. */
final class RecordsReply {
    /** What stands for "no end". */
    private static final long NEVER = (1L << 53) - 1;

    private RecordsReply() {}

    static Standing standing(@Nullable List<Object> reply) {
        Replies r = of(Script.STATUS, reply, "scopes").sized(8);
        return new Standing(
                r.stamp(1),
                r.positive(2),
                r.text(3),
                r.number(4),
                r.number(5),
                r.number(6),
                each(r.list(7), RecordsReply::scope));
    }

    private static Scope scope(Replies r) {
        return new Scope(r.text(0), r.orUnknown(1), r.whole(2), each(r.sized(4).list(3), RecordsReply::level));
    }

    private static Level level(Replies r) {
        return r.sized(5, new Level(r.text(0), r.whole(1), r.number(2), r.positive(3), r.orUnknown(4)));
    }

    static Page<Waits> waiting(@Nullable List<Object> reply) {
        Replies r = of(Script.STATUS, reply, "waiters").sized(3);
        return new Page<>(
                r.text(1),
                each(
                        r.list(2),
                        w -> new Waits(
                                w.text(0),
                                w.text(1),
                                w.text(2),
                                w.text(3),
                                w.text(4),
                                w.number(5),
                                w.inLine(6),
                                w.number(11))));
    }

    static Page<Runs> running(@Nullable List<Object> reply) {
        Replies r = of(Script.STATUS, reply, "running").sized(3);
        return new Page<>(
                Long.toString(r.number(1)),
                each(r.list(2), p -> p.sized(4, new Runs(p.text(0), p.text(1), p.text(2), p.number(3)))));
    }

    static List<Held> holds(@Nullable List<Object> reply) {
        Replies r = of(Script.INSPECT, reply, "holds");
        return rest(r, 1, h -> {
            long end = h.number(1);
            return new Held(
                    h.text(0),
                    end >= NEVER ? Store.UNTIL_RELEASED : end,
                    h.number(2) > 0,
                    h.text(6),
                    h.flag(7),
                    h.text(9),
                    h.number(10));
        });
    }

    static List<Said> provider(@Nullable List<Object> reply) {
        Replies r = of(Script.INSPECT, reply, "provider");
        return rest(
                r,
                1,
                s -> new Said(
                        s.text(0), s.text(1), s.orUnknown(2), s.number(3), s.number(4), s.orUnknown(5), s.number(7)));
    }

    static List<Kept> versions(@Nullable List<Object> reply) {
        Replies r = of(Script.INSPECT, reply, "versions");
        return rest(r, 1, v -> v.sized(4, new Kept(v.positive(0), v.text(1), v.number(2), v.text(3))));
    }

    static Optional<String> version(@Nullable List<Object> reply) {
        Replies r = of(Script.INSPECT, reply, "version").sized(2);
        return Optional.of(r.text(1)).filter(text -> !text.isEmpty());
    }

    static Totals totals(@Nullable List<Object> reply) {
        Replies r = of(Script.TOLD, reply, "counters").sized(5);
        Replies expired = r.list(4);
        List<Long> byClass = new ArrayList<>();
        for (int i = 0; i < expired.size(); i++) {
            byClass.add(expired.number(i));
        }
        return new Totals(pairs(r.list(2)), pairs(r.list(3)), byClass);
    }

    private static Map<String, Long> pairs(Replies r) {
        Map<String, Long> pairs = new LinkedHashMap<>();
        for (int i = 0; i < r.size(); i += 2) {
            pairs.put(r.text(i), r.number(i + 1));
        }
        return pairs;
    }

    static List<UsedRow> usage(@Nullable List<Object> reply) {
        Replies r = of(Script.TOLD, reply, "usage").sized(3);
        return each(
                r.list(2),
                u -> new UsedRow(
                        u.sized(12).text(0),
                        u.number(1),
                        u.text(2),
                        new Amounts(
                                u.number(3),
                                u.number(4),
                                u.number(5),
                                u.number(6),
                                u.number(7),
                                u.number(8),
                                u.number(9),
                                u.number(10)),
                        u.number(11)));
    }

    static List<Event> events(@Nullable List<Object> reply) {
        Replies r = of(Script.TOLD, reply, "events").sized(3);
        return each(r.list(2), e -> e.sized(3, new Event(e.text(0), e.text(1), e.text(2))));
    }

    private static Replies of(Script script, @Nullable List<Object> reply, String code) {
        Replies r = new Replies(script, reply);
        if (r.code().equals("lost")) {
            throw new OutageException("lost_state", "part of the project's state is missing: " + r.text(1), null);
        }
        if (!r.code().equals(code)) {
            throw r.bad();
        }
        return r;
    }

    private static <T> List<T> each(Replies list, Function<Replies, T> read) {
        return rest(list, 0, read);
    }

    private static <T> List<T> rest(Replies list, int from, Function<Replies, T> read) {
        List<T> all = new ArrayList<>();
        for (int i = from; i < list.size(); i++) {
            all.add(read.apply(list.list(i)));
        }
        return all;
    }
}
