package io.sluice.testbed.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.Policy;
import org.junit.jupiter.api.Test;

class PolicyNumbersTest {
    @Test
    void takesTheClassThatMatchesAndTheTighterOfItsAndTheProjectsLimits() {
        PolicyNumbers numbers = numbers("""
                project: p
                provider: anthropic
                headroom: 0.8
                burst: 10s
                classes:
                  - {name: haiku, models: ["claude-haiku-*"], limits: {rpm: 60}}
                  - {name: sonnet, models: ["claude-SONNET-*"], limits: {rpm: 600, itpm: {amount: 30000}}}
                limits: {concurrency: 9, rpm: 300}
                """);

        assertThat(numbers.limits()).containsExactly("rpm", "itpm", "concurrency");
        assertThat(numbers.amount("rpm")).isEqualTo(300);
        assertThat(numbers.amount("itpm")).isEqualTo(30_000);
        assertThat(numbers.perSecond("rpm")).isEqualTo(4);
        assertThat(numbers.burst("rpm")).isEqualTo(40);
        assertThat(numbers.inputCost(100, 7_000, 10)).isEqualTo(110);
    }

    @Test
    void assumesThePolicysDefaults() {
        PolicyNumbers numbers = numbers("""
                project: p
                provider: openai
                classes: [{name: all, models: ["*"], limits: {rpm: 600}}]
                """);

        assertThat(numbers.headroom()).isEqualTo(0.9);
        assertThat(numbers.burstSeconds()).isEqualTo(5);
        assertThat(numbers.inputCost(100, 7_000, 10)).isEqualTo(7_110);
    }

    /** A fleet's calls ask for nothing special. */
    @Test
    void passesOverClassesForSpecialCalls() {
        PolicyNumbers numbers = numbers("""
                project: p
                classes:
                  - {name: fast, models: ["*"], when: {speed: fast}, limits: {rpm: 100}}
                  - {name: long, models: ["*"], when: {context_over: 9000}, limits: {rpm: 200}}
                  - {name: usual, models: ["*"], when: {service_tier: standard}, limits: {rpm: 300}}
                """);

        assertThat(numbers.amount("rpm")).isEqualTo(300);
    }

    @Test
    void saysIfNoClassMatches() {
        assertThatThrownBy(() -> numbers("""
                project: p
                classes: [{name: gpt, models: ["gpt-*"], limits: {rpm: 600}}]
                """))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("claude-sonnet-5-5");
    }

    private static PolicyNumbers numbers(String policy) {
        return PolicyNumbers.of(Policy.parse(policy).toJson(), "claude-sonnet-5-5");
    }
}
