package io.sluice.redis;

import io.sluice.OutageException;
import io.sluice.Store.Answer;
import io.sluice.Store.Beat;
import io.sluice.Store.Installed;
import io.sluice.Store.Layout;
import io.sluice.Store.Settled;
import io.sluice.Store.StoredPolicy;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Script replies as records. A reply of a code or shape that a script does not give is our bug or somebody else's
 * script, and an outage: never permission (spring-cloud/spring-cloud-gateway#248).
 */
final class Replies {
    private static final Pattern STAMP = Pattern.compile("\\d{1,15}:.*");
    private static final Set<String> ENDS = Set.of("settled", "cancelled", "throttled", "undone", "expired", "booked");
    private static final long LONGEST_LEASE_US = TimeUnit.MINUTES.toMicros(15);

    private final Script script;
    private final List<Object> parts;

    private Replies(Script script, @Nullable List<Object> parts) {
        this.script = script;
        this.parts = parts == null ? List.of() : parts;
    }

    static Answer answer(@Nullable List<Object> reply) {
        Replies r = new Replies(Script.ACQUIRE, reply);
        return switch (r.code()) {
            case "granted" ->
                r.sized(6, new Answer.Granted(r.text(1), r.lease(2), r.positive(3), r.text(4), r.flag(5)));
            case "wait" -> r.sized(5, r.wait(1));
            case "never" -> r.sized(5, new Answer.Never(r.text(1), r.text(2), r.number(3), r.number(4)));
            case "closed" -> r.sized(3, new Answer.Closed(r.text(1), r.text(2)));
            case "conflict" -> r.sized(1, new Answer.Conflict());
            case "ended" -> r.sized(2, new Answer.Ended(r.end(1)));
            case "stale" -> r.sized(2, new Answer.Stale(r.stamp(1)));
            case "lost" -> r.sized(2, new Answer.Lost(r.text(1)));
            default -> throw r.bad();
        };
    }

    static Settled settled(@Nullable List<Object> reply) {
        Replies r = new Replies(Script.SETTLE, reply);
        return switch (r.code()) {
            case "ended" -> r.sized(4, new Settled.Ended(r.end(1), r.flag(2), r.text(3)));
            case "unknown" -> r.sized(1, new Settled.Unknown());
            case "lost" -> r.sized(2, new Settled.Lost(r.text(1)));
            default -> throw r.bad();
        };
    }

    static Beat beat(@Nullable List<Object> reply, int permits) {
        Replies r = new Replies(Script.BEAT, reply);
        if (r.code().equals("lost")) {
            return r.sized(2, new Beat.Lost(r.text(1)));
        }
        if (!r.code().equals("beat")) {
            throw r.bad();
        }
        List<Boolean> renewed = new ArrayList<>(permits);
        for (int i = 0; i < permits; i++) {
            renewed.add(r.flag(5 + i));
        }
        return r.sized(5 + permits, new Beat.Alive(r.stamp(1), r.positive(2), r.number(3), r.flag(4), renewed));
    }

    static Installed installed(@Nullable List<Object> reply) {
        Replies r = new Replies(Script.POLICY, reply);
        return switch (r.code()) {
            case "installed" -> r.sized(2, new Installed.Done(r.stamp(1), true));
            case "unchanged" -> r.sized(2, new Installed.Done(r.stamp(1), false));
            case "mismatch" -> r.sized(2, new Installed.Mismatch(r.stamp(1)));
            case "full" -> r.sized(2, new Installed.Full(r.text(1)));
            default -> throw r.bad();
        };
    }

    /** The policy in force, or {@code null} if none is installed. */
    static @Nullable StoredPolicy policy(@Nullable List<Object> reply) {
        Replies r = new Replies(Script.INSPECT, reply);
        if (r.code().equals("lost")) {
            return null;
        }
        if (!r.code().equals("policy")) {
            throw r.bad();
        }
        List<Layout> layouts = new ArrayList<>();
        for (int i = 3; i < r.parts.size(); i++) {
            Replies scope = new Replies(Script.INSPECT, r.list(i));
            Replies active = new Replies(Script.INSPECT, scope.list(2));
            List<Boolean> flags = new ArrayList<>();
            for (int k = 0; k < active.parts.size(); k++) {
                flags.add(active.flag(k));
            }
            List<String> names = scope.list(1).stream().map(String::valueOf).toList();
            if (names.size() != flags.size()) {
                throw r.bad();
            }
            layouts.add(new Layout(scope.text(0), names, flags));
        }
        return new StoredPolicy(r.stamp(1), r.text(2), layouts);
    }

    private String code() {
        return parts.isEmpty() ? "" : text(0);
    }

    private <T> T sized(int size, T value) {
        if (parts.size() != size) {
            throw bad();
        }
        return value;
    }

    private Object part(int i) {
        Object part = i < parts.size() ? parts.get(i) : null;
        if (part == null) {
            throw bad();
        }
        return part;
    }

    private String text(int i) {
        if (part(i) instanceof String text) {
            return text;
        }
        throw bad();
    }

    private String stamp(int i) {
        String stamp = text(i);
        if (!STAMP.matcher(stamp).matches()) {
            throw bad();
        }
        return stamp;
    }

    private String end(int i) {
        String state = text(i);
        if (!ENDS.contains(state)) {
            throw bad();
        }
        return state;
    }

    private Answer.Wait wait(int i) {
        Answer.Wait wait = new Answer.Wait(positive(i), number(i + 1), text(i + 2), text(i + 3));
        if (wait.exactUs() > wait.waitUs()) {
            throw bad();
        }
        return wait;
    }

    private long lease(int i) {
        long lease = positive(i);
        if (lease > LONGEST_LEASE_US) {
            throw bad();
        }
        return lease;
    }

    private long number(int i) {
        if (part(i) instanceof Long number && number >= 0) {
            return number;
        }
        throw bad();
    }

    private long positive(int i) {
        long number = number(i);
        if (number == 0) {
            throw bad();
        }
        return number;
    }

    private boolean flag(int i) {
        long number = number(i);
        if (number > 1) {
            throw bad();
        }
        return number == 1;
    }

    @SuppressWarnings("unchecked") // Lettuce answers arrays as List<Object>
    private List<Object> list(int i) {
        if (part(i) instanceof List<?> list) {
            return (List<Object>) list;
        }
        throw bad();
    }

    private OutageException bad() {
        String shown = String.valueOf(parts);
        return new OutageException(
                "bad_reply",
                "script " + script.label() + " answered what it never answers: "
                        + shown.substring(0, Math.min(200, shown.length())),
                null);
    }
}
