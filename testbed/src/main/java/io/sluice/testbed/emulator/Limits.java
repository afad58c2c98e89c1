package io.sluice.testbed.emulator;

import java.math.BigDecimal;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What the provider allows: money to the account, everything else to each pool of models. {@code null} is unlimited, 0
 * is closed; otherwise at most 10^9. What each counts is the provider's rule.
 *
 * @param rpm requests a minute
 * @param itpm input tokens a minute; Anthropic counts fresh input and cache writes, the others the whole prompt
 * @param otpm output tokens a minute
 * @param tpm tokens a minute; OpenAI counts the larger of output cap and prompt when a call begins, Gemini the prompt
 * @param rpd requests a day
 * @param tpd tokens a day, as {@code tpm} counts them
 * @param usdMicros dollars in millionths, by the {@link Prices}; over which time, {@link Spend} says
 * @param concurrency calls in flight
 */
public record Limits(
        @Nullable Long rpm,
        @Nullable Long itpm,
        @Nullable Long otpm,
        @Nullable Long tpm,
        @Nullable Long rpd,
        @Nullable Long tpd,
        @Nullable Long usdMicros,
        @Nullable Long concurrency) {

    /** Nothing is limited. */
    public static final Limits NONE = new Limits(null, null, null, null);

    /** Keeps amount x burst in microseconds below 2^63 for bursts up to an hour. */
    private static final long MOST = 1_000_000_000L;

    /** A million dollars: in billionths, as they are counted, far below 2^63. */
    private static final long MOST_USD_MICROS = 1_000_000_000_000L;

    private static final String KNOWN =
            Stream.of(Kind.values()).filter(Kind::isLimit).map(Kind::limitName).collect(Collectors.joining(", "));

    /** @throws IllegalArgumentException if a limit is out of range, naming it */
    public Limits {
        check("rpm", rpm);
        check("itpm", itpm);
        check("otpm", otpm);
        check("tpm", tpm);
        check("rpd", rpd);
        check("tpd", tpd);
        check("concurrency", concurrency);
        if (usdMicros != null && (usdMicros < 0 || usdMicros > MOST_USD_MICROS)) {
            throw new IllegalArgumentException("limit usd must be 0 to 1000000: " + dollars(usdMicros));
        }
    }

    /** Limits a minute and in flight alone. */
    public Limits(@Nullable Long rpm, @Nullable Long itpm, @Nullable Long otpm, @Nullable Long concurrency) {
        this(rpm, itpm, otpm, null, null, null, null, concurrency);
    }

    /**
     * Reads {@code rpm=50,itpm=30000,usd=0.5,concurrency=10}, in any order; what is absent is unlimited.
     *
     * @throws IllegalArgumentException on an unknown or repeated name or a bad number, in one line that names it
     */
    public static Limits parse(String text) {
        Map<Kind, Long> amounts = new EnumMap<>(Kind.class);
        for (String part : text.split(",", -1)) {
            String[] pair = part.split("=", 2);
            Kind kind = kind(pair[0].trim());
            String value = pair.length == 2 ? pair[1].trim() : "";
            Long amount = kind == Kind.SPEND ? usdMicros(value) : amount(kind.limitName(), value);
            if (amounts.put(kind, amount) != null) {
                throw new IllegalArgumentException("limit " + kind.limitName() + " is given twice");
            }
        }
        return new Limits(
                amounts.get(Kind.REQUESTS),
                amounts.get(Kind.INPUT),
                amounts.get(Kind.OUTPUT),
                amounts.get(Kind.TOKENS),
                amounts.get(Kind.DAILY_REQUESTS),
                amounts.get(Kind.DAILY_TOKENS),
                amounts.get(Kind.SPEND),
                amounts.get(Kind.CONCURRENCY));
    }

    private static Kind kind(String name) {
        for (Kind kind : Kind.values()) {
            if (kind.isLimit() && kind.limitName().equals(name)) {
                return kind;
            }
        }
        throw new IllegalArgumentException("unknown limit '" + name + "': known are " + KNOWN);
    }

    private static Long amount(String name, String text) {
        try {
            return Long.valueOf(text);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("limit " + name + " is no whole number: '" + text + "'", e);
        }
    }

    private static Long usdMicros(String text) {
        try {
            return new BigDecimal(text).movePointRight(6).longValueExact();
        } catch (ArithmeticException | NumberFormatException e) {
            throw new IllegalArgumentException(
                    "limit usd is no amount of dollars with at most 6 decimals: '" + text + "'", e);
        }
    }

    private static void check(String name, @Nullable Long amount) {
        if (amount != null && (amount < 0 || amount > MOST)) {
            throw new IllegalArgumentException("limit " + name + " must be 0 to " + MOST + ": " + amount);
        }
    }

    /** The limits that are set, by name, in the order of the fields; money in dollars. */
    Map<String, Number> byName() {
        Map<String, Number> named = new LinkedHashMap<>();
        for (Kind kind : Kind.values()) {
            Long amount = of(kind);
            if (amount != null) {
                named.put(kind.limitName(), kind == Kind.SPEND ? dollars(amount) : amount);
            }
        }
        return named;
    }

    private static BigDecimal dollars(long micros) {
        BigDecimal dollars = BigDecimal.valueOf(micros, 6).stripTrailingZeros();
        return dollars.scale() < 0 ? dollars.setScale(0) : dollars;
    }

    @Nullable
    Long of(Kind kind) {
        return switch (kind) {
            case REQUESTS -> rpm;
            case INPUT -> itpm;
            case OUTPUT -> otpm;
            case TOKENS -> tpm;
            case DAILY_REQUESTS -> rpd;
            case DAILY_TOKENS -> tpd;
            case SPEND -> usdMicros;
            case CONCURRENCY -> concurrency;
            case CREDITS, PLAN_WINDOW, ACCELERATION, OVERLOAD, SERVER -> null;
        };
    }

    /** As {@link #parse} reads it. */
    @Override
    public String toString() {
        return byName().entrySet().stream()
                .map(limit -> limit.getKey() + "=" + limit.getValue())
                .collect(Collectors.joining(","));
    }
}
