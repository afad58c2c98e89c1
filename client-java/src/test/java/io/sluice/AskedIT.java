package io.sluice;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.provider.Anthropic;
import io.sluice.provider.OpenAi;
import io.sluice.provider.Pictures;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Requests as agents send them, from their bytes to what Redis lets through. */
@WithRedis
class AskedIT {
    private final String id = "a-" + UUID.randomUUID();
    private final Sluice sluice;
    private final Project project;

    AskedIT(RedisServer redis) {
        sluice = Sluice.connect(redis.uri());
        project = sluice.project(id);
    }

    @AfterEach
    void close() {
        sluice.close();
    }

    private void install(String provider, String limits) {
        sluice.install(Policy.parse("""
                project: %s
                provider: %s
                classes: [{name: all, models: ["*"], max_output: 100, limits: {%s}}]
                """.formatted(id, provider, limits)));
    }

    private Decision asks(Profile profile, String path, String json) {
        return project.tryAcquire(Call.of(profile.asks(Request.post(path, json.getBytes(UTF_8)))));
    }

    private Decision chat(String caps) {
        return asks(OpenAi.PROFILE, "/v1/chat/completions", "{\"model\":\"m\"," + caps + "}");
    }

    /** Admitted for one token, it used 738 of 60 (BerriAI/litellm#34223): three answers of 400 never fit into 600 a minute. */
    @Test
    void aCallThatMayAnswerMoreThanAMinuteHasIsRefused() {
        install("openai", "otpm: {amount: 600, headroom: 1, burst: 60s}");

        Decision decision = chat("\"max_tokens\":1,\"max_completion_tokens\":400,\"n\":3");
        assertThat(decision).isInstanceOf(Decision.Refused.class);
        Refusal refusal = ((Decision.Refused) decision).refusal();
        assertThat(refusal.kind()).isEqualTo(Refusal.Kind.NEVER);
        assertThat(refusal.message()).contains("otpm", "1200", "600");

        // No cap: seven answers of what the class assumes for one.
        assertThat(((Decision.Refused) chat("\"n\":7")).refusal().kind()).isEqualTo(Refusal.Kind.NEVER);
        assertThat(chat("\"max_tokens\":1,\"max_completion_tokens\":200,\"n\":3"))
                .isInstanceOf(Decision.Granted.class);
    }

    static Stream<Pictures> pictures() {
        return Pictures.all(Pictures.PNG_OF_1_9_MB);
    }

    /** Measured like prose each was 638,000 tokens and refused (BerriAI/litellm#32891, openai/codex#12419). */
    @ParameterizedTest
    @MethodSource("pictures")
    void aPictureIsAdmittedForWhatAProviderTakesForIt(Pictures one) {
        install("generic", "itpm: 200000");

        Decision decision = project.tryAcquire(Call.of(one.asked()));
        assertThat(decision).isInstanceOf(Decision.Granted.class);
        Permit permit = ((Decision.Granted) decision).permit();
        assertThat(permit.reserved().input()).isBetween(1_000L, 6_000L);
        Permit.Ending ending = permit.settle(new Usage(1_700, 0, 0, 20));
        assertThat(ending.charged().input()).isEqualTo(1_700);
    }

    /** What the policy asks for of a call beside its model is in the request. */
    @Test
    void tierSpeedAndEndpointFindTheClass() {
        sluice.install(Policy.parse("""
                project: %s
                provider: anthropic
                classes:
                  - {name: fast, models: ["m"], when: {speed: fast}}
                  - {name: flex, models: ["m"], when: {service_tier: flex}}
                  - {name: legacy, models: ["m"], when: {endpoint: complete}}
                  - {name: all, models: ["m"]}
                """.formatted(id)));

        assertThat(modelClass("/v1/messages", "\"speed\":\"fast\"")).isEqualTo("fast");
        assertThat(modelClass("/v1/messages", "\"service_tier\":\"flex\"")).isEqualTo("flex");
        assertThat(modelClass("/v1/complete", "\"x\":1")).isEqualTo("legacy");
        assertThat(modelClass("/v1/messages", "\"service_tier\":\"auto\"")).isEqualTo("all");
    }

    private String modelClass(String path, String member) {
        Decision decision = asks(Anthropic.PROFILE, path, "{\"model\":\"m\",\"max_tokens\":1," + member + "}");
        return ((Decision.Granted) decision).permit().modelClass();
    }

    @Test
    void whatIsNoCallOrNamesNoModelIsNoCall() {
        assertThatThrownBy(() -> asks(Anthropic.PROFILE, "/v1/messages/count_tokens", "{\"model\":\"m\"}"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("the request is no call: it only counts tokens");
        assertThatThrownBy(() -> asks(Anthropic.PROFILE, "/v1/messages", "{"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("the request names no model");
    }
}
