package io.sluice;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Whatever the text, reading it ends in a policy that reads back the same, or in a list of problems. */
class PolicyFuzzTest {
    private static final int ROUNDS = 4_000;

    private static final String YAML = """
            project: acme-prod
            provider: anthropic
            account: api
            upstream: https://api.anthropic.com
            headroom: 0.9
            burst: 5s
            queue: {max_waiters: 10000, max_wait: 10m}
            outage: local-share
            classes:
              - name: sonnet
                models: ["claude-sonnet-*"]
                when: {service_tier: standard}
                limits: {rpm: 4000, itpm: {amount: 2000000, weights_for: {"m*": {cache_read: 0.25}}}, concurrency: 64}
                output_reserve: learned
                max_output: 8192
            limits: {concurrency: 200, usd: {amount: 500, per: month, zone: UTC}, x: {amount: 3, per: 5h, of: tokens}}
            workspaces:
              - name: prod
                classes: [{name: sonnet, limits: {itpm: 1000000}}]
            teams:
              - {name: research, weight: 2, limits: {concurrency: 20}}
            each: [{by: agent, limits: {rpm: 120, concurrency: 4}, max: 10000}]
            priorities: {interactive: 16, normal: 4, batch: 1}
            ramp: {from: 0.1, double_every: 60s, agents_per_minute: 10}
            prices: {"claude-sonnet-*": {input: 3, cache_read: 0.3, cache_write: 3.75, output: 15}}
            """;

    /** What this version accepts, so that many mutations of it are accepted too. */
    private static final String VALID = """
            project: acme-prod
            provider: gemini
            queue: {max_waiters: 10000, max_wait: 10m}
            classes:
              - {name: flash, models: ["gemini-*", "g?"], limits: {rpm: 4000, tpm: {amount: 2000000, burst: 2s}}}
            limits: {concurrency: 200, x: {amount: 3000, per: 2h, window: refill, weights: {input: 0.5}}}
            mode: shadow
            workspaces: [{name: prod, limits: {rpm: 600}, classes: [{name: flash, limits: {agents: 3}}]}]
            teams: [{name: research, weight: 2, limits: {agents: 5}, classes: [{name: flash, limits: {rpm: 50}}]}]
            each: [{by: agent, limits: {rpm: 60}, max: 10}, {by: run, limits: {concurrency: 2}}]
            priorities: {interactive: 16}
            """;

    /** Laid over a preset, with all the ways to say an amount. */
    private static final String OVER = """
            project: acme
            preset: anthropic/build
            classes:
              - {name: rest, models: ["*"], when: {context_over: 200000}, limits: {usd: {amount: 9, per: hour}}}
              - {name: sonnet, limits: {rpm: 10, itpm: {adopt: true}, otpm: {adaptive: {start: 1000, max: 90000}}}}
            limits: {usd: null, x: {amount: 0.5, per: minute, of: usd}}
            prices: {"*": {input: 3, cache_read: 0.000001, output: 15}, "claude-*": {input: 1, output: 2}}
            ramp: {agents_per_minute: 10}
            """;

    private static final List<String> TEXTS = List.of(
            YAML, VALID, OVER, Policy.parse(VALID).toJson(), Policy.parse(OVER).toJson());

    private static final String[] SNIPPETS = {
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "\"",
        "'",
        "\n",
        "  ",
        "\t",
        "-",
        "*a",
        "&a ",
        "!t ",
        "<<: ",
        "|\n",
        ">",
        "#",
        "%",
        "---\n",
        "null",
        "true",
        "0",
        "-1",
        "1e9",
        "1e999999",
        "9007199254740993",
        "0.00001",
        ".nan",
        "\\u0000",
        "\u0000",
        "\uD800",
        "\u2028",
        "é",
        "~",
        "?",
        "per: month",
        "window: refill, ",
        "5s",
        "999999999d",
        "0x1F",
        "limits: "
    };

    @Test
    void nothingButProblemsComesOutOfBadText() {
        long seed = Long.getLong("test.seed", 1); // the same in every build; another by hand
        Random random = new Random(seed);
        int accepted = 0;
        for (int i = 0; i < ROUNDS; i++) {
            StringBuilder text = new StringBuilder(TEXTS.get(i % TEXTS.size()));
            for (int changes = random.nextInt(1, 4); changes > 0; changes--) {
                mutate(text, random);
            }
            accepted += survives(text.toString(), seed) ? 1 : 0;
        }
        assertThat(accepted).as("policies accepted, seed %d", seed).isGreaterThan(ROUNDS / 100);
    }

    private static boolean survives(String text, long seed) {
        try {
            Policy policy = Policy.parse(text);
            Policy again = Policy.parse(policy.toJson());
            assertThat(again.toJson()).as("seed %d", seed).isEqualTo(policy.toJson());
            assertThat(again.scopes()).as("seed %d", seed).isEqualTo(policy.scopes());
            return true;
        } catch (InvalidPolicyException e) {
            assertThat(e.problems()).as("seed %d", seed).isNotEmpty();
            return false;
        } catch (RuntimeException | StackOverflowError e) {
            return fail("seed " + seed + ", text:\n" + text, e);
        }
    }

    private static void mutate(StringBuilder text, Random random) {
        int at = random.nextInt(text.length());
        int end = Math.min(text.length(), at + random.nextInt(1, 12));
        switch (random.nextInt(4)) {
            case 0 -> text.delete(at, end);
            case 1 -> text.insert(at, SNIPPETS[random.nextInt(SNIPPETS.length)]);
            case 2 -> text.replace(at, end, SNIPPETS[random.nextInt(SNIPPETS.length)]);
            default -> text.insert(random.nextInt(text.length()), text.substring(at, end));
        }
    }
}
