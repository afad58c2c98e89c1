package io.sluice.testbed.emulator;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the provider allows each pool of models. {@code null} is unlimited, 0 is closed; otherwise at most 10^9.
 *
 * @param rpm requests a minute
 * @param itpm input tokens a minute, as the provider counts them: Anthropic counts fresh input and cache writes
 * @param otpm output tokens a minute
 * @param concurrency calls in flight
 */
public record Limits(
        @Nullable Long rpm,
        @Nullable Long itpm,
        @Nullable Long otpm,
        @Nullable Long concurrency) {

    /** Nothing is limited. */
    public static final Limits NONE = new Limits(null, null, null, null);

    /** Keeps amount x burst in microseconds below 2^63 for bursts up to an hour. */
    private static final long MOST = 1_000_000_000L;

    /** @throws IllegalArgumentException if a limit is out of range, naming it */
    public Limits {
        check("rpm", rpm);
        check("itpm", itpm);
        check("otpm", otpm);
        check("concurrency", concurrency);
    }

    /**
     * Reads {@code rpm=50,itpm=30000,otpm=8000,concurrency=10}, in any order; what is absent is unlimited.
     *
     * @throws IllegalArgumentException on an unknown or repeated name or a bad number, in one line that names it
     */
    public static Limits parse(String text) {
        Map<String, Long> amounts = new LinkedHashMap<>();
        for (String part : text.split(",", -1)) {
            String[] pair = part.split("=", 2);
            String name = pair[0].trim();
            switch (name) {
                case "rpm", "itpm", "otpm", "concurrency" -> {}
                default ->
                    throw new IllegalArgumentException(
                            "unknown limit '" + name + "': known are rpm, itpm, otpm, concurrency");
            }
            if (amounts.put(name, amount(name, pair.length == 2 ? pair[1].trim() : "")) != null) {
                throw new IllegalArgumentException("limit " + name + " is given twice");
            }
        }
        return new Limits(amounts.get("rpm"), amounts.get("itpm"), amounts.get("otpm"), amounts.get("concurrency"));
    }

    private static long amount(String name, String text) {
        try {
            return Long.parseLong(text);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("limit " + name + " is no whole number: '" + text + "'", e);
        }
    }

    private static void check(String name, @Nullable Long amount) {
        if (amount != null && (amount < 0 || amount > MOST)) {
            throw new IllegalArgumentException("limit " + name + " must be 0 to " + MOST + ": " + amount);
        }
    }

    /** The limits that are set, by name, in the order of the fields. */
    Map<String, Long> byName() {
        Map<String, Long> named = new LinkedHashMap<>();
        for (Kind kind : Kind.values()) {
            Long amount = of(kind);
            if (amount != null) {
                named.put(kind.limitName(), amount);
            }
        }
        return named;
    }

    @Nullable
    Long of(Kind kind) {
        return switch (kind) {
            case REQUESTS -> rpm;
            case INPUT -> itpm;
            case OUTPUT -> otpm;
            case CONCURRENCY -> concurrency;
        };
    }

    /** As {@link #parse} reads it. */
    @Override
    public String toString() {
        String text = byName().toString();
        return text.substring(1, text.length() - 1).replace(" ", "");
    }
}
