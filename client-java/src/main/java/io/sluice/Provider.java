package io.sluice;

import java.time.ZoneId;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Whose budget it is, with what that provider counts. Facts a policy can override, limit by limit.
 *
 * <p>Sources: the rate-limit pages of platform.claude.com, developers.openai.com, ai.google.dev and openrouter.ai, as
 * of August 2026.
 */
public enum Provider {
    /** Input limits count fresh input and cache writes, not cache reads; {@code max_tokens} is not charged. */
    ANTHROPIC(OutputReserve.LEARNED, "UTC", "https://api.anthropic.com"),
    /** Cached input counts in full; the output cap is charged up front; limits a day refill all the time. */
    OPENAI(OutputReserve.MAX, "UTC", "https://api.openai.com"),
    /** Token limits count input only; days end at midnight Pacific. */
    GEMINI(OutputReserve.LEARNED, "America/Los_Angeles", "https://generativelanguage.googleapis.com"),
    /** Requests and money; days end at midnight UTC. */
    OPENROUTER(OutputReserve.MAX, "UTC", "https://openrouter.ai/api"),
    /** Any other: everything counts. */
    GENERIC(OutputReserve.MAX, "UTC", null);

    private final OutputReserve outputReserve;
    private final ZoneId dayZone;
    private final @Nullable String upstream;

    Provider(OutputReserve outputReserve, String dayZone, @Nullable String upstream) {
        this.outputReserve = outputReserve;
        this.dayZone = ZoneId.of(dayZone);
        this.upstream = upstream;
    }

    /** The name used in policies, HTTP and metrics, such as {@code anthropic}. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** How output is reserved where a class does not say. */
    OutputReserve outputReserve() {
        return outputReserve;
    }

    /** Where its day begins and ends. */
    ZoneId dayZone() {
        return dayZone;
    }

    /** Whether limits a day refill all the time, 1/86,400 of them a second, instead of beginning anew at midnight. */
    boolean dayRefills() {
        return this == OPENAI;
    }

    /** Where its API is; {@code null} if only the policy knows. */
    @Nullable
    String upstream() {
        return upstream;
    }

    /**
     * Whether such a limit is charged the larger of prompt and output cap when a call begins, and what of the cap was not used
     * does not come back.
     */
    boolean keepsCap(String limit) {
        return this == OPENAI && (limit.equals("tpm") || limit.equals("tpd"));
    }

    /** What a limit of a known name counts, or {@code null} if the name is not one of its limits on tokens or requests. */
    @Nullable
    WeightSpec weights(String limit) {
        return switch (limit) {
            case "rpm", "rpd" -> WeightSpec.REQUESTS;
            case "itpm" -> this == ANTHROPIC ? WeightSpec.UNCACHED_INPUT : WeightSpec.ALL_INPUT;
            case "otpm" -> WeightSpec.OUTPUT;
            case "tpm", "tpd" -> this == GEMINI ? WeightSpec.ALL_INPUT : WeightSpec.ALL_TOKENS;
            default -> null;
        };
    }
}
