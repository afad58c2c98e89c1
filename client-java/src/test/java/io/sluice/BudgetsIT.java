package io.sluice;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What calls are counted as, from the policy's words to what Redis lets through. */
@WithRedis
class BudgetsIT {
    private final RedisServer redis;
    private final String id = "b-" + UUID.randomUUID();
    private Sluice sluice;
    private Project project;

    BudgetsIT(RedisServer redis) {
        this.redis = redis;
    }

    @BeforeEach
    void connect() {
        sluice = Sluice.connect(redis.uri());
        project = sluice.project(id);
    }

    @AfterEach
    void close() {
        sluice.close();
    }

    private void install(String rest) {
        sluice.install(Policy.parse("project: " + id + "\nheadroom: 1\nburst: 60s\n" + rest));
    }

    private Permit granted(Call call) {
        Decision decision = project.tryAcquire(call);
        assertThat(decision).isInstanceOf(Decision.Granted.class);
        return ((Decision.Granted) decision).permit();
    }

    private Refusal refused(Call call) {
        Decision decision = project.tryAcquire(call);
        assertThat(decision).isInstanceOf(Decision.Refused.class);
        return ((Decision.Refused) decision).refusal();
    }

    /** A call of 20,550 micro-dollars, and a team's budget for exactly two of them. */
    @Test
    void moneyIsSpentToTheMicroDollar() {
        install("""
                provider: anthropic
                classes: [{name: all, models: ["*"]}]
                teams: [{name: t, limits: {usd: {amount: 0.0411, per: hour, burst: 1h}}}]
                limits: {usd: {amount: 1000, per: hour}}
                prices: {"claude-sonnet-*": {input: 3, cache_read: 0.3, cache_write: 3.75, output: 15}}
                """);
        Call call = Call.of("claude-sonnet-5-5")
                .inputTokens(2_000)
                .cacheReadTokens(16_000)
                .cacheWriteTokens(1_000)
                .maxOutputTokens(400)
                .team("t");

        Permit first = granted(call);
        granted(call);
        Refusal refusal = refused(call);
        assertThat(refusal.kind()).isEqualTo(Refusal.Kind.WAIT);
        assertThat(refusal.scope() + " " + refusal.limit()).isEqualTo("t:t usd");
        // 20,550 of 41,100 an hour is half an hour, less what refilled meanwhile.
        assertThat(refusal.retryAfter()).isBetween(Duration.ofMinutes(28), Duration.ofMinutes(30));

        // One cent was not spent: what is left is the third call's.
        first.settle(new Usage(0, 0, 0, 0));
        granted(call);
        assertThat(refused(call.inputTokens(2_000)).limit()).isEqualTo("usd");
        assertThat(refused(call.cacheWriteTokens(1_000_000)).kind()).isEqualTo(Refusal.Kind.NEVER);
        assertThat(refused(Call.of("gpt-5").team("t")).kind()).isEqualTo(Refusal.Kind.UNPRICED);
        assertThatThrownBy(() -> project.acquire(Call.of("gpt-5"), Duration.ofSeconds(5)))
                .isInstanceOf(RefusedException.class)
                .hasMessageContaining("usd of p counts money");
    }

    /** The cheap calls of a pool do not pay for the dear ones. */
    @Test
    void modelsOfOnePoolWeighWhatTheyWeigh() {
        install("""
                provider: anthropic
                classes:
                  - name: pool
                    models: ["small", "large"]
                    limits: {units: {amount: 10000, per: minute, weights: {input: 1, cache_read: 0.25, output: 4}, weights_for: {large: {output: 8}}}}
                """);
        Call small = Call.of("small").inputTokens(2_000).cacheReadTokens(16_000).maxOutputTokens(400);

        // 2,000 + 4,000 + 1,600 = 7,600: 2,400 are left, and a few refill
        granted(small);
        granted(Call.of("large").maxOutputTokens(200));
        Refusal refusal = refused(Call.of("large").maxOutputTokens(1_250));
        assertThat(refusal.limit()).isEqualTo("units");
        assertThat(refused(Call.of("large").maxOutputTokens(1_251)).kind()).isEqualTo(Refusal.Kind.NEVER);
        assertThat(refusal.kind()).isEqualTo(Refusal.Kind.WAIT);
    }

    /** 80 % of the prompt came from the cache: five such calls a minute, not one (BerriAI/litellm#18728). */
    @Test
    void fiveCachedPromptsFitWhereOneWholeDoes() {
        install("""
                provider: anthropic
                classes: [{name: all, models: ["*"], limits: {itpm: 10000}}]
                """);
        for (int i = 0; i < 5; i++) {
            granted(Call.of("m").inputTokens(2_000)).settle(new Usage(2_000, 8_000, 0, 100));
        }

        assertThat(refused(Call.of("m").inputTokens(2_000)).limit()).isEqualTo("itpm");
        assertThat(refused(Call.of("m").inputTokens(2_000).cacheWriteTokens(8_001))
                        .kind())
                .isEqualTo(Refusal.Kind.NEVER);
    }

    /** An estimate of nothing skipped the check (BerriAI/litellm#35422): a budget in debt admits nobody. */
    @Test
    void aCallThatCostsNothingIsTestedOnEveryLimit() {
        install("""
                provider: anthropic
                classes: [{name: all, models: ["*"], output_reserve: none, limits: {otpm: 1000}}]
                """);
        Permit first = granted(Call.of("m"));
        Permit second = granted(Call.of("m"));
        first.settle(new Usage(0, 0, 0, 750));
        second.settle(new Usage(0, 0, 0, 750));

        for (int i = 0; i < 20; i++) {
            assertThat(refused(Call.of("m")).limit()).isEqualTo("otpm");
        }
    }

    @Test
    void aPoolOfItsOwnIsDrawnOnByWhatAsksForIt() {
        install("""
                provider: anthropic
                classes:
                  - {name: fast, models: ["m"], when: {speed: fast}, limits: {rpm: 1}}
                  - {name: all, models: ["m"], limits: {rpm: 2}}
                """);

        assertThat(granted(Call.of("m").speed("fast")).modelClass()).isEqualTo("fast");
        assertThat(refused(Call.of("m").speed("fast")).scope()).isEqualTo("c:fast");
        assertThat(granted(Call.of("m")).modelClass()).isEqualTo("all");
    }

    /** The scripts take its numbers, and a call of its provider's goes through. */
    @ParameterizedTest
    @CsvSource({
        "anthropic/start,         claude-sonnet-5-5",
        "anthropic/build,         claude-opus-4-8",
        "anthropic/scale,         claude-fable-5",
        "anthropic/start-2026-08, claude-haiku-4-5",
        "anthropic/build-2026-08, claude-opus-5",
        "anthropic/scale-2026-08, claude-sonnet-4-6",
        "openai/headers,          gpt-5",
        "gemini/tier-1,           gemini-2.5-pro",
        "gemini/tier-2,           gemini-2.5-flash",
        "gemini/tier-3,           gemini-3-pro-preview",
        "openrouter/free,         qwen/qwen3-coder:free",
        "openrouter/free-credits, qwen/qwen3-coder:free",
        "spheron/starter,         anything",
        "spheron/growth,          anything"
    })
    void aPresetAdmitsItsProvidersModels(String preset, String model) {
        sluice.install(Policy.parse("project: " + id + "\npreset: " + preset
                + "\nprices: {'*': {input: 3, cache_read: 0.3, cache_write: 3.75, output: 15}}\n"));

        Permit permit = granted(Call.of(model).inputTokens(1_000).maxOutputTokens(1_000));
        assertThat(permit.settle(new Usage(900, 0, 0, 100)).charged().output()).isEqualTo(100);
    }

    @Test
    void aPresetIsInForceOnceInstalled() {
        install("""
                preset: spheron/starter
                limits: {concurrency: 2}
                """);

        granted(Call.of("m"));
        granted(Call.of("m"));
        assertThat(refused(Call.of("m")).limit()).isEqualTo("concurrency");
        assertThat(sluice.installed(id).policy().toJson())
                .doesNotContain("preset")
                .contains("\"concurrency\":2");
    }
}
