package io.sluice.testbed.fleet;

import io.sluice.Provider;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * What a policy allows the calls of one model, in the numbers every strategy and the judge work with: the same headroom
 * and burst for all, or the comparison would not be fair.
 *
 * @param headroom share of each rate that is used: above 0 to 1
 * @param burstSeconds what a bucket holds, in time of refill
 * @param provider whose rule of counting it is
 * @param amounts stated amount a minute of {@code rpm}, {@code itpm}, {@code otpm}, {@code tpm}, and {@code concurrency};
 *     those set
 */
record PolicyNumbers(double headroom, double burstSeconds, Provider provider, Map<String, Long> amounts) {
    static final String RPM = "rpm";
    static final String ITPM = "itpm";
    static final String OTPM = "otpm";
    static final String TPM = "tpm";
    static final String CONCURRENCY = "concurrency";
    private static final List<String> ALL = List.of(RPM, ITPM, OTPM, TPM, CONCURRENCY);
    private static final Set<String> ORDINARY = Set.of("standard", "default", "auto", "standard_only");

    PolicyNumbers {
        amounts = Map.copyOf(amounts);
    }

    /**
     * Reads them from a valid policy's JSON.
     *
     * @throws IllegalArgumentException if no class of the policy matches the model, or the class states no such limit
     */
    static PolicyNumbers of(String policyJson, String model) {
        JsonNode policy = Json.YAML.readTree(policyJson);
        JsonNode matching = classOf(policy, model);
        Map<String, Long> amounts = new LinkedHashMap<>();
        for (String limit : ALL) {
            Long amount = tighter(
                    amount(matching.path("limits").path(limit)),
                    amount(policy.path("limits").path(limit)));
            if (amount != null) {
                amounts.put(limit, amount);
            }
        }
        if (amounts.isEmpty()) {
            throw new IllegalArgumentException("the policy states none of " + String.join(", ", ALL) + " for " + model
                    + ": a fleet has nothing to be judged by");
        }
        Duration burst = Durations.parse(policy.path("burst").asString("5s"));
        return new PolicyNumbers(
                policy.path("headroom").asDouble(0.9),
                burst.toMillis() / 1000.0,
                Provider.valueOf(policy.path("provider").asString("generic").toUpperCase(Locale.ROOT)),
                amounts);
    }

    /**
     * The first class of a policy that matches ordinary calls of the model.
     *
     * @throws IllegalArgumentException if there is none
     */
    static JsonNode classOf(JsonNode policy, String model) {
        for (JsonNode candidate : policy.path("classes")) {
            if (isForOrdinaryCalls(candidate.path("when")) && matches(candidate, model)) {
                return candidate;
            }
        }
        throw new IllegalArgumentException("no class of the policy matches the profile's model " + model);
    }

    /** The limits that are set, in the order they are told. */
    List<String> limits() {
        return ALL.stream().filter(this::has).toList();
    }

    boolean has(String limit) {
        return amounts.containsKey(limit);
    }

    long amount(String limit) {
        Long amount = amounts.get(limit);
        if (amount == null) {
            throw new IllegalArgumentException("no limit " + limit);
        }
        return amount;
    }

    /** Units that refill each second, headroom taken off. Not for {@code concurrency}. */
    double perSecond(String limit) {
        return amount(limit) * headroom / 60;
    }

    /** What a full bucket holds. Not for {@code concurrency}. */
    double burst(String limit) {
        return perSecond(limit) * burstSeconds;
    }

    /** What a call of this much fresh input and cached input costs on {@code itpm}. */
    long inputCost(long input, long cacheRead, long cacheWrite) {
        return input + cacheWrite + (provider == Provider.ANTHROPIC ? 0 : cacheRead);
    }

    /**
     * What a call costs on {@code tpm}: OpenAI takes the larger of output cap and prompt when it begins and gives nothing back,
     * Gemini counts the prompt, others the prompt and what is produced.
     *
     * @param output its cap, or what it produced once that is known
     */
    long tokenCost(long prompt, long maxOutput, long output) {
        return switch (provider) {
            case OPENAI -> Math.max(prompt, maxOutput);
            case GEMINI -> prompt;
            case ANTHROPIC, OPENROUTER, GENERIC -> prompt + output;
        };
    }

    /** Whether {@code tpm} counts output as it is produced. */
    boolean outputCountsAsTokens() {
        return provider != Provider.OPENAI && provider != Provider.GEMINI;
    }

    private static @Nullable Long amount(JsonNode limit) {
        // What is to be found is at most its most.
        JsonNode stated = limit.isObject() ? limit.path("amount") : limit;
        JsonNode amount = limit.has("adaptive") ? limit.path("adaptive").path("max") : stated;
        return amount.isNumber() ? Long.valueOf(amount.asLong()) : null;
    }

    private static @Nullable Long tighter(@Nullable Long a, @Nullable Long b) {
        if (a == null || b == null) {
            return a == null ? b : a;
        }
        return Math.min(a, b);
    }

    /** A fleet's calls ask for no tier, speed or endpoint, and none of them is long. */
    private static boolean isForOrdinaryCalls(JsonNode when) {
        for (String asked : new String[] {"service_tier", "speed"}) {
            if (!ORDINARY.contains(when.path(asked).asString("standard"))) {
                return false;
            }
        }
        return !when.has("endpoint") && !when.has("context_over");
    }

    private static boolean matches(JsonNode modelClass, String model) {
        for (JsonNode glob : modelClass.path("models")) {
            String regex =
                    Pattern.quote(glob.asString()).replace("*", "\\E.*\\Q").replace("?", "\\E.\\Q");
            if (Pattern.compile(regex, Pattern.CASE_INSENSITIVE).matcher(model).matches()) {
                return true;
            }
        }
        return false;
    }
}
