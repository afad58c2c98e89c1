package io.sluice;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.Estimates.Usual;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("contract")
class WeightsTest {

    /** A class of weights input 1, cache reads 0.25, output 4: 2,000 + 4,000 + 1,600 units, in hundredths. */
    @Test
    void weighsEachThingACallUses() {
        Weights weights = Policy.parse(
                        "{project: p, limits: {x: {amount: 60000, per: minute, weights: {input: 1, cache_read: 0.25, output: 4}}}}")
                .scopes()
                .get(0)
                .refills()
                .get(0)
                .weights();

        assertThat(weights.unit()).isEqualTo(100);
        assertThat(weights.cost(new Permit.Reserved(1, 2_000, 16_000, 0, 400))).isEqualTo(760_000);
    }

    /**
     * Cached prompts were charged in full though the provider does not count them (BerriAI/litellm#18728); elsewhere they
     * are counted on purpose (api7/aisix#733). So it is the class's to say: what of 2,000 fresh input, 8,000 cached and
     * 3,000 written is booked.
     */
    @ParameterizedTest
    @CsvSource({
        "anthropic, '10000',                                        8000, 0,    2000",
        "anthropic, '10000',                                        8000, 3000, 5000",
        "anthropic, '{amount: 10000, weights: {cache_read: 1}}',    8000, 0,    10000",
        "anthropic, '{amount: 10000, weights_for: {\"m*\": {cache_read: 1}}}', 8000, 0, 10000",
        "openai,    '{amount: 10000, weights: {cache_read: 0}}',    8000, 0,    2000"
    })
    void countsCachedInputAsTheClassSays(String provider, String itpm, long cached, long written, long booked) {
        Policy policy = Policy.parse("{project: p, provider: " + provider
                + ", classes: [{name: c, models: [m-1], limits: {itpm: " + itpm + "}}]}");
        ModelClass only = Objects.requireNonNull(policy.classOf("m-1"));
        Weights weights =
                policy.scopesOf(only, "m-1", null, null).get(1).refills().get(0).weights();

        assertThat(weights.cost(new Permit.Reserved(1, 2_000, cached, written, 99)))
                .isEqualTo(booked * weights.unit());
    }

    @Test
    void costsNothingWhereNothingIsUsed() {
        assertThat(new Weights(1, 0, 1, 1, 1, 1).cost(new Permit.Reserved(1, 0, 0, 0, 0)))
                .isZero();
    }

    @Test
    void saturatesInsteadOfOverflowing() {
        long many = Call.MAX_TOKENS;
        Permit.Reserved huge = new Permit.Reserved(1, many, many, many, many);

        assertThat(new Weights(10_000, 0, 10_000_000_000L, 1, 1, 1).cost(huge)).isEqualTo(Weights.MAX_EXACT);
        assertThat(new Weights(1, 0, 4_000_000, 4_000_000, 4_000_000, 0).cost(huge))
                .isEqualTo(Weights.MAX_EXACT);
    }

    /** What 1 request of 1,000 fresh input, 100 cache reads, 10 cache writes and 1 output token costs. */
    @ParameterizedTest
    @CsvSource({
        "anthropic,  rpm,  1",
        "anthropic,  itpm, 1010", // cache reads are free
        "anthropic,  otpm, 1",
        "anthropic,  tpm,  1111",
        "openai,     itpm, 1110",
        "openai,     tpm,  1111",
        "openai,     otpm, 1",
        "gemini,     itpm, 1110",
        "gemini,     tpm,  1110", // input only
        "openrouter, rpm,  1",
        "openrouter, tpm,  1111",
        "generic,    itpm, 1110",
        "generic,    tpm,  1111"
    })
    void knowsWhatProvidersCount(String provider, String limit, long cost) {
        List<RefillLimit> limits = Policy.parse(
                        "{project: p, provider: " + provider + ", limits: {" + limit + ": 100000}}")
                .scopes()
                .get(0)
                .refills();

        assertThat(limits.get(0).weights().cost(new Permit.Reserved(1, 1_000, 100, 10, 1)))
                .isEqualTo(cost);
    }

    @ParameterizedTest
    @CsvSource({
        // provider, own setting, output the call names, reserved
        "anthropic,  '',                      4096, 4096", // learned, nothing learned yet
        "anthropic,  '',                      ,     8192",
        "gemini,     '',                      ,     8192",
        "openai,     '',                      100,  100",
        "openrouter, 'max_output: 50',        ,     50",
        "generic,    'max_output: 50',        100,  100",
        "openai,     'output_reserve: none',  100,  0",
        "anthropic,  'output_reserve: max',   0,    0"
    })
    void reservesOutputAsTheClassSays(String provider, String setting, Long named, long reserved) {
        Policy policy = Policy.parse("{project: p, provider: " + provider + ", classes: [{name: c, models: ['*']"
                + (setting.isEmpty() ? "" : ", " + setting) + "}]}");
        Call call = Call.of("m").inputTokens(10).cacheReadTokens(20).cacheWriteTokens(30);
        if (named != null) {
            call = call.maxOutputTokens(named);
        }

        assertThat(Estimates.reserve(call, Objects.requireNonNull(policy.classOf("m")), Usual.UNKNOWN))
                .isEqualTo(new Permit.Reserved(1, 10, 20, 30, reserved));
    }

    @Test
    void theEstimateStandsForWhatUsageDoesNotSay() {
        Permit.Reserved estimate = new Permit.Reserved(1, 10, 20, 30, 40);

        assertThat(Estimates.merge(Usage.UNKNOWN, estimate)).isEqualTo(estimate);
        assertThat(Estimates.merge(new Usage(null, 0L, null, 99L), estimate))
                .isEqualTo(new Permit.Reserved(1, 10, 0, 30, 99));
        assertThat(Estimates.merge(new Usage(1, 2, 3, 4), estimate)).isEqualTo(new Permit.Reserved(1, 1, 2, 3, 4));
    }

    /** The order of keys means nothing: the pattern with more fixed text wins. */
    @Test
    void theMostSpecificPatternGivesTheWeights() {
        Policy policy = Policy.parse("""
                project: p
                provider: anthropic
                classes: [{name: c, models: ["*"]}]
                limits:
                  itpm: {amount: 1000, weights: {cache_read: 0.1}, weights_for: {"*": {output: 1}, "haiku-3*": {cache_read: 1}, "haiku*": {input: 2}}}
                """);
        ModelClass only = Objects.requireNonNull(policy.classOf("x"));

        assertThat(weights(policy, only, "sonnet")).isEqualTo(new Weights(10, 0, 10, 1, 10, 10));
        assertThat(weights(policy, only, "haiku-4")).isEqualTo(new Weights(10, 0, 20, 1, 10, 0));
        assertThat(weights(policy, only, "Haiku-3-5")).isEqualTo(new Weights(10, 0, 10, 10, 10, 0));
    }

    private static Weights weights(Policy policy, ModelClass modelClass, String model) {
        return policy.scopesOf(modelClass, model, null, null)
                .get(0)
                .refills()
                .get(0)
                .weights();
    }
}
