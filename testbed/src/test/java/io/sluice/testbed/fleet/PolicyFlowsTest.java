package io.sluice.testbed.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.Policy;
import org.junit.jupiter.api.Test;

class PolicyFlowsTest {
    @Test
    void readsWeightsWhereTheyAreSaidAndThePolicysDefaultsElse() {
        PolicyFlows flows = flows("""
                project: p
                classes:
                  - {name: haiku, models: ["claude-haiku-*"], limits: {rpm: 60}}
                  - {name: sonnet, models: ["claude-sonnet-*"], limits: {rpm: 60}}
                teams: [{name: core, weight: 3}, {name: lab}]
                priorities: {normal: 5}
                """);

        assertThat(flows.modelClass()).isEqualTo("sonnet");
        assertThat(flows.weight(new PolicyFlows.Key("sonnet", "core", "normal")))
                .isEqualTo(15);
        assertThat(flows.weight(new PolicyFlows.Key("sonnet", "lab", "interactive")))
                .isEqualTo(16);
        assertThat(flows.weight(new PolicyFlows.Key("sonnet", "other", "batch")))
                .isEqualTo(1);
    }

    private static PolicyFlows flows(String yaml) {
        return PolicyFlows.of(Policy.parse(yaml).toJson(), "claude-sonnet-5-5");
    }
}
