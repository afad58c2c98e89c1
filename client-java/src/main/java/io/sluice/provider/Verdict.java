package io.sluice.provider;

import io.sluice.Rejection;
import io.sluice.Rejection.Kind;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What a "no" of the provider means: the first row of its table that matches. Built once, then only read. */
final class Verdict {
    static final String UNKNOWN_DIMENSION = "unknown dimension";
    static final String UPSTREAM_OR_PLATFORM = "upstream or platform";

    private final Kind kind;
    private final Pause pause;
    private final boolean retryable;
    private final Wait wait;
    private final Map<String, Object> facts = new LinkedHashMap<>();
    private @Nullable Duration hold;
    private @Nullable String certainty;

    private Verdict(Kind kind, Pause pause, boolean retryable, Wait wait) {
        this.kind = kind;
        this.pause = pause;
        this.retryable = retryable;
        this.wait = wait.cappedFor(kind);
        this.hold = this.wait.length();
    }

    /** The same request can succeed later. */
    static Verdict retry(Kind kind, Pause pause, Wait wait) {
        return new Verdict(kind, pause, true, wait);
    }

    /** Sending it again does not help. */
    static Verdict stop(Kind kind, Pause pause, Wait wait) {
        return new Verdict(kind, pause, false, wait);
    }

    /** The request itself is wrong. */
    static Verdict invalid() {
        return stop(Kind.INVALID, Pause.REQUEST, Wait.NONE);
    }

    /** The provider failed at this request. */
    static Verdict server(Wait wait) {
        return retry(Kind.SERVER, Pause.REQUEST, wait);
    }

    /** Adds what the answer tells besides; nothing if it does not tell. */
    Verdict fact(String name, @Nullable Object value) {
        if (value != null) {
            facts.put(name, value);
        }
        return this;
    }

    /** Adds the instant until which it holds. */
    Verdict until(Instant until, Instant now) {
        hold = new Wait(Moments.between(now, until), "").cappedFor(kind).length();
        return fact("until", until.toString());
    }

    /** A first try after less than the longest wait. */
    Verdict firstTryAfter(Duration length) {
        hold = length;
        return this;
    }

    /** How far the words leave open what they mean. */
    Verdict unsure(String certainty) {
        this.certainty = certainty;
        return this;
    }

    /** The same with another wait, where a caller knows better. */
    Verdict waiting(Wait other) {
        Verdict changed = new Verdict(kind, pause, retryable, other);
        changed.facts.putAll(facts);
        changed.certainty = certainty;
        return changed;
    }

    /** What the provider says of retrying comes before what the table says; only towards "no". */
    Verdict obeying(Headers headers) {
        if (!retryable || !headers.is("x-should-retry", "false")) {
            return this;
        }
        Verdict stopped = new Verdict(kind, pause, false, wait);
        stopped.facts.putAll(facts);
        stopped.hold = hold;
        stopped.certainty = certainty;
        return stopped;
    }

    Rejection rejection() {
        return new Rejection(kind, pause.scope(), retryable, hold);
    }

    Kind kind() {
        return kind;
    }

    Pause pause() {
        return pause;
    }

    boolean isRetryable() {
        return retryable;
    }

    Wait waiting() {
        return wait;
    }

    Map<String, Object> facts() {
        return Collections.unmodifiableMap(facts);
    }

    @Nullable
    String certainty() {
        return certainty;
    }
}
