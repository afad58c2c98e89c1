package io.sluice;

import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One HTTP answer of a provider, with what was asked, for a {@link Profile} to read. Immutable: each method returns a
 * changed copy.
 *
 * <pre>{@code
 * Answer answer = Answer.of(429, Instant.now()).headers(response.headers().map()).body(response.body());
 * }</pre>
 */
public final class Answer {
    private final int status;
    private final Instant now;
    private @Nullable Map<String, List<String>> headers;
    private @Nullable String body;
    private @Nullable String model;
    private @Nullable String serviceTier;
    private @Nullable String speed;

    private Answer(int status, Instant now) {
        this.status = status;
        this.now = now;
    }

    /**
     * An answer of which nothing else is known.
     *
     * @param status the HTTP status, such as 429
     * @param now when it arrived; used where the answer carries no date of its own
     */
    public static Answer of(int status, Instant now) {
        return new Answer(status, now);
    }

    /**
     * Its headers, names in any case, a name repeated or not. Without this call it is unknown what they were. An entry
     * without a name, as {@code HttpURLConnection} gives the status line, is left out.
     */
    public Answer headers(Map<String, List<String>> headers) {
        Map<String, List<String>> named = new HashMap<>(headers);
        named.remove(null);
        return copy(a -> a.headers = Map.copyOf(named));
    }

    /** Its body as text; an empty text is an empty body. Without this call it is unknown what it was. */
    public Answer body(String body) {
        return copy(a -> a.body = body);
    }

    /** The model the request named. */
    public Answer model(String model) {
        return copy(a -> a.model = model);
    }

    /** The {@code service_tier} the request named, such as {@code flex}. */
    public Answer serviceTier(String serviceTier) {
        return copy(a -> a.serviceTier = serviceTier);
    }

    /** The {@code speed} the request named, such as {@code fast}. */
    public Answer speed(String speed) {
        return copy(a -> a.speed = speed);
    }

    /** The HTTP status. */
    public int status() {
        return status;
    }

    /** When it arrived. */
    public Instant now() {
        return now;
    }

    /** The headers, or {@code null} if unknown. */
    public @Nullable Map<String, List<String>> headers() {
        return headers;
    }

    /** The body, or {@code null} if unknown. */
    public @Nullable String body() {
        return body;
    }

    /** The model asked for, or {@code null} if unknown. */
    public @Nullable String model() {
        return model;
    }

    /** The tier asked for, or {@code null} if none was. */
    public @Nullable String serviceTier() {
        return serviceTier;
    }

    /** The speed asked for, or {@code null} if none was. */
    public @Nullable String speed() {
        return speed;
    }

    private Answer copy(Consumer<Answer> change) {
        Answer copy = new Answer(status, now);
        copy.headers = headers;
        copy.body = body;
        copy.model = model;
        copy.serviceTier = serviceTier;
        copy.speed = speed;
        change.accept(copy);
        return copy;
    }
}
