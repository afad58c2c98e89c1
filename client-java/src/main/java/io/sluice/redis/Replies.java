package io.sluice.redis;

import io.sluice.OutageException;
import io.sluice.Store.Answer;
import io.sluice.Store.Hosts;
import io.sluice.Store.Installed;
import io.sluice.Store.Layout;
import io.sluice.Store.OnHold;
import io.sluice.Store.Queued;
import io.sluice.Store.Settled;
import io.sluice.Store.Shadow;
import io.sluice.Store.StoredPolicy;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Script replies as records. A reply of a code or shape that a script does not give is our bug or somebody else's
 * script, and an outage: never permission (spring-cloud/spring-cloud-gateway#248).
 */
final class Replies {
    private static final Pattern STAMP = Pattern.compile("\\d{1,15}:.*");
    private static final Pattern KIND = Pattern.compile("[a-z_]{1,32}");
    private static final Set<String> ENDS =
            Set.of("settled", "cancelled", "throttled", "undone", "expired", "booked", "refused", "withdrawn");
    private static final long LONGEST_LEASE_US = TimeUnit.MINUTES.toMicros(15);

    private final Script script;
    private final List<Object> parts;

    Replies(Script script, @Nullable List<Object> parts) {
        this.script = script;
        this.parts = parts == null ? List.of() : parts;
    }

    static Answer answer(@Nullable List<Object> reply) {
        Replies r = new Replies(Script.ACQUIRE, reply);
        return switch (r.code()) {
            case "granted" -> r.granted();
            case "waiting" -> r.sized(7, new Answer.Waiting(r.inLine(1), r.orUnknown(6)));
            case "wait" -> r.sized(6, new Answer.Wait(r.queued(1)));
            case "hold" -> r.sized(6, new Answer.Hold(r.inItsWay()));
            case "full" -> r.sized(4, new Answer.Full(r.number(1), r.number(2), r.text(3)));
            case "never" -> r.sized(5, new Answer.Never(r.text(1), r.text(2), r.number(3), r.number(4)));
            case "closed" -> r.sized(3, new Answer.Closed(r.text(1), r.text(2)));
            case "conflict" -> r.sized(1, new Answer.Conflict());
            case "ended" -> r.sized(2, new Answer.Ended(r.end(1)));
            case "stale" -> r.sized(2, new Answer.Stale(r.stamp(1)));
            case "lost" -> r.sized(2, new Answer.Lost(r.text(1)));
            default -> throw r.bad();
        };
    }

    /** What the user may not do. */
    static List<String> lacks(@Nullable List<Object> reply) {
        Replies r = new Replies(Script.RIGHTS, reply);
        if (!r.code().equals("rights")) {
            throw r.bad();
        }
        return r.sized(2, r.list(1).texts());
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
        for (int i = 3; i < r.size(); i++) {
            Replies scope = r.list(i);
            Replies names = scope.list(1);
            Replies active = scope.list(2).sized(names.size());
            List<Boolean> flags = new ArrayList<>();
            for (int k = 0; k < active.size(); k++) {
                flags.add(active.flag(k));
            }
            layouts.add(new Layout(
                    scope.text(0), names.parts.stream().map(String::valueOf).toList(), flags));
        }
        return new StoredPolicy(r.stamp(1), r.text(2), layouts);
    }

    static Hosts hosts(@Nullable List<Object> reply) {
        Replies r = new Replies(Script.INSPECT, reply);
        if (!r.code().equals("hosts") || r.sized(3).number(2) >= r.positive(1)) {
            throw r.bad();
        }
        return new Hosts(r.positive(1), r.number(2));
    }

    String code() {
        return parts.isEmpty() ? "" : text(0);
    }

    int size() {
        return parts.size();
    }

    /** Itself, if it has that many parts. */
    Replies sized(int size) {
        return sized(size, this);
    }

    <T> T sized(int size, T value) {
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

    String text(int i) {
        if (part(i) instanceof String text) {
            return text;
        }
        throw bad();
    }

    String stamp(int i) {
        String stamp = text(i);
        if (!STAMP.matcher(stamp).matches()) {
            throw bad();
        }
        return stamp;
    }

    String end(int i) {
        String state = text(i);
        if (!ENDS.contains(state)) {
            throw bad();
        }
        return state;
    }

    private Answer.Granted granted() {
        // A policy that only watches says what would have been.
        Shadow shadow = parts.size() == 6 ? null : new Shadow(orUnknown(6), orUnknown(7), text(8), text(9));
        return sized(
                shadow == null ? 6 : 10, new Answer.Granted(text(1), lease(2), positive(3), text(4), flag(5), shadow));
    }

    /** A wait, its exact part, scope, limit and place in line, from {@code i} on. */
    Queued inLine(int i) {
        positive(i + 4);
        return queued(i);
    }

    private Queued queued(int i) {
        long position = number(i + 4);
        Queued queued = new Queued(positive(i), number(i + 1), text(i + 2), text(i + 3), (int) position);
        if (queued.exactUs() > queued.waitUs() || position > Integer.MAX_VALUE) {
            throw bad();
        }
        return queued;
    }

    private OnHold inItsWay() {
        OnHold hold = onHold(text(2), 1, 3);
        if (hold.leftUs() == 0) {
            throw bad(); // it would be waiting for a slot
        }
        return hold;
    }

    /** A hold: us left, then its kind, whether it is retryable, and its note. */
    OnHold onHold(String scope, int left, int kind) {
        if (scope.isEmpty() || !KIND.matcher(text(kind)).matches()) {
            throw bad();
        }
        return new OnHold(scope, orUnknown(left), text(kind), flag(kind + 1), text(kind + 2));
    }

    long lease(int i) {
        long lease = positive(i);
        if (lease > LONGEST_LEASE_US) {
            throw bad();
        }
        return lease;
    }

    /** A number, or -1 where the script knows none. */
    long orUnknown(int i) {
        return part(i) instanceof Long number && number == -1 ? -1 : number(i);
    }

    /** A number that may be below 0. */
    long whole(int i) {
        if (part(i) instanceof Long number) {
            return number;
        }
        throw bad();
    }

    long number(int i) {
        if (part(i) instanceof Long number && number >= 0) {
            return number;
        }
        throw bad();
    }

    long positive(int i) {
        long number = number(i);
        if (number == 0) {
            throw bad();
        }
        return number;
    }

    boolean flag(int i) {
        long number = number(i);
        if (number > 1) {
            throw bad();
        }
        return number == 1;
    }

    /** All parts, as text. */
    private List<String> texts() {
        return IntStream.range(0, parts.size()).mapToObj(this::text).toList();
    }

    @SuppressWarnings("unchecked") // Lettuce answers arrays as List<Object>
    Replies list(int i) {
        if (part(i) instanceof List<?> list) {
            return new Replies(script, (List<Object>) list);
        }
        throw bad();
    }

    OutageException bad() {
        String shown = String.valueOf(parts);
        return new OutageException(
                "bad_reply",
                "script " + script.label() + " answered what it never answers: "
                        + shown.substring(0, Math.min(200, shown.length())),
                null);
    }
}
