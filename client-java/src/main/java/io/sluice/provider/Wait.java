package io.sluice.provider;

import io.sluice.Rejection.Kind;
import java.time.Duration;
import java.time.Instant;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * How long to wait and who says so. The order that fits all providers: {@code retry-after-ms}, {@code retry-after}, a
 * delay in the body, the reset of the limit that is used up, the kind's own boundary (minute, day, month), backoff.
 *
 * @param length {@code null} if nobody said; zero if the moment is past, which asks for the caller's own least wait
 */
record Wait(@Nullable Duration length, String source) {
    static final Wait BACKOFF = new Wait(null, "backoff");
    static final Wait RETRY_AFTER_OR_BACKOFF = new Wait(null, "retry-after if present else backoff");
    static final Wait OPERATOR = new Wait(null, "operator action");
    static final Wait NONE = new Wait(null, "none");

    /** What the headers state, or {@code null}. */
    static @Nullable Wait stated(Headers headers, Instant at) {
        Duration millis = headers.most("retry-after-ms", Spans::millis);
        if (millis != null) {
            return new Wait(millis, "retry-after-ms");
        }
        Duration seconds = headers.most("retry-after", text -> retryAfter(text, at));
        return seconds == null ? null : new Wait(seconds, "retry-after");
    }

    /** This, or where it is {@code null} the next. */
    static Wait orElse(@Nullable Wait wait, Supplier<Wait> next) {
        return wait == null ? next.get() : wait;
    }

    /** Whether both are said and this is not the shorter. */
    boolean isAtLeast(Wait other) {
        return length != null && other.length != null && length.compareTo(other.length) >= 0;
    }

    /** A wait as long as a refusal of this kind can last: what is longer is a mistake of whoever wrote it. */
    Wait cappedFor(Kind kind) {
        Duration cap = switch (kind) {
            case SPEND, CREDITS, PLAN_WINDOW, NOT_PROVISIONED -> Duration.ofDays(32);
            case DAILY -> Duration.ofDays(2);
            default -> Duration.ofDays(1);
        };
        return length != null && length.compareTo(cap) > 0 ? new Wait(cap, source) : this;
    }

    /** Seconds, whole or decimal, or an HTTP date. */
    private static @Nullable Duration retryAfter(String text, Instant at) {
        Duration seconds = Spans.seconds(text);
        if (seconds != null) {
            return seconds;
        }
        Instant date = Moments.httpDate(text, at);
        return date == null ? null : Moments.between(at, date);
    }
}
