package io.sluice;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.assertj.core.api.Assertions.tuple;

import io.sluice.InvalidPolicyException.Problem;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("contract")
class PolicyTest {
    private static final String FULL = """
            project: acme-prod
            provider: anthropic
            account: api
            upstream: https://api.anthropic.com
            headroom: 0.90
            burst: 5s
            quantum: 60s
            lease: 30s
            queue: {max_waiters: 10000, max_wait: 10m}
            outage: local-share
            mode: enforce
            classes:
              - name: sonnet
                models: ["claude-sonnet-*"]
                limits:
                  rpm: 4000
                  itpm: {amount: 2e6, weights_for: {"claude-sonnet-3*": {cache_read: 1}}}
                  otpm: 400000
                  concurrency: {amount: 64}
                  tokens_5h: {amount: 1000000, per: 300m, window: refill, of: tokens}
                output_reserve: learned
                max_output: 4096
              - name: rest
                models: ["*"]
            limits: {concurrency: 200}
            teams:
              - {name: research, weight: 2}
              - {name: ops}
            priorities: {interactive: 20, batch: 2}
            prices: {"claude-sonnet-*": {input: 3, cache_read: 0.3, cache_write: 3.75, output: 15}}
            """;

    @Test
    void readsWhatWasWritten() {
        Policy policy = Policy.parse(FULL);

        assertThat(policy.project()).isEqualTo("acme-prod");
        assertThat(policy.provider()).isEqualTo(Provider.ANTHROPIC);
        assertThat(policy.lease()).isEqualTo(Duration.ofSeconds(30));
        assertThat(policy.maxWaiters()).isEqualTo(10_000);
        assertThat(policy.maxWait()).isEqualTo(Duration.ofMinutes(10));
        assertThat(policy.outage()).isEqualTo(Policy.Outage.LOCAL_SHARE);
        assertThat(policy.warnings()).isEmpty();
        assertThat(policy.scopes()).extracting(ScopeLimits::scope).containsExactly("p", "c:sonnet", "c:rest");
        assertThat(policy.scopes()).extracting(ScopeLimits::slots).containsExactly(200L, 64L, -1L);
        assertThat(policy.scopes().get(1).refills())
                .extracting(RefillLimit::name)
                .containsExactly("itpm", "otpm", "rpm", "tokens_5h");
    }

    @Test
    void fillsInDefaults() {
        Policy policy = Policy.parse("{project: p, classes: [{name: c, models: [m]}]}");
        ModelClass only = Objects.requireNonNull(policy.classOf("m"));

        assertThat(policy.provider()).isEqualTo(Provider.GENERIC);
        assertThat(policy.lease()).isEqualTo(Duration.ofSeconds(30));
        assertThat(policy.maxWaiters()).isEqualTo(10_000);
        assertThat(policy.maxWait()).isEqualTo(Duration.ofMinutes(10));
        assertThat(policy.outage()).isEqualTo(Policy.Outage.LOCAL_SHARE);
        assertThat(policy.spec().headroom()).isEqualByComparingTo("0.9");
        assertThat(policy.spec().burst()).isEqualTo(Duration.ofSeconds(5));
        assertThat(policy.spec().quantum()).isEqualTo(Duration.ofSeconds(60));
        assertThat(only.maxOutput()).isEqualTo(8192);
        assertThat(only.outputReserve()).isEqualTo(OutputReserve.MAX);
        assertThat(policy.scopes())
                .allSatisfy(scope -> assertThat(scope.slots()).isEqualTo(-1));
        assertThat(policy.flowWeight(null, Priority.INTERACTIVE)).isEqualTo(16);
        assertThat(policy.flowWeight("anyone", Priority.NORMAL)).isEqualTo(4);
    }

    @Test
    void multipliesTheWeightsOfTeamAndPriority() {
        Policy policy = Policy.parse(FULL);

        assertThat(policy.flowWeight("research", Priority.INTERACTIVE)).isEqualTo(40);
        assertThat(policy.flowWeight("ops", Priority.NORMAL)).isEqualTo(4);
        assertThat(policy.flowWeight("unlisted", Priority.BATCH)).isEqualTo(2);
        assertThat(policy.flowTeam("research")).isEqualTo("research");
        assertThat(policy.flowTeam("unlisted")).isEqualTo("other");
        assertThat(policy.flowTeam(null)).isEqualTo("other");
    }

    @Test
    void theFirstClassThatMatchesWins() {
        Policy policy = Policy.parse(FULL);

        assertThat(policy.classOf("Claude-SONNET-5")).extracting("name").isEqualTo("sonnet");
        assertThat(policy.classOf("claude-haiku-4")).extracting("name").isEqualTo("rest");
        assertThat(Policy.parse("{project: p, classes: [{name: c, models: [m]}]}")
                        .classOf("n"))
                .isNull();
    }

    @Test
    void weighsACallByItsModel() {
        Policy policy = Policy.parse(FULL);
        ModelClass sonnet = Objects.requireNonNull(policy.classOf("claude-sonnet-5"));

        assertThat(itpm(policy, sonnet, "claude-sonnet-5").weights()).isEqualTo(new Weights(1, 0, 1, 0, 1, 0));
        assertThat(itpm(policy, sonnet, "claude-sonnet-3-5").weights()).isEqualTo(new Weights(1, 0, 1, 1, 1, 0));
    }

    private static RefillLimit itpm(Policy policy, ModelClass modelClass, String model) {
        return policy.scopesOf(modelClass, model, null, null).get(1).refills().get(0);
    }

    @Test
    void writesOneSpelling() {
        assertThat(Policy.parse(FULL).toJson()).isEqualTo("""
                {"project":"acme-prod","provider":"anthropic","account":"api",\
                "upstream":"https://api.anthropic.com","headroom":0.9,"burst":"5s","quantum":"1m","lease":"30s",\
                "queue":{"max_waiters":10000,"max_wait":"10m"},"outage":"local-share","mode":"enforce",\
                "classes":[{"name":"sonnet","models":["claude-sonnet-*"],\
                "limits":{"concurrency":64,"itpm":{"amount":2000000,\
                "weights_for":{"claude-sonnet-3*":{"cache_read":1}}},"otpm":400000,"rpm":4000,\
                "tokens_5h":{"amount":1000000,"per":"5h","window":"refill","of":"tokens"}},\
                "output_reserve":"learned","max_output":4096},{"name":"rest","models":["*"]}],\
                "limits":{"concurrency":200},"teams":[{"name":"research","weight":2},{"name":"ops"}],\
                "priorities":{"interactive":20,"batch":2},\
                "prices":{"claude-sonnet-*":{"input":3,"cache_read":0.3,"cache_write":3.75,"output":15}}}""");
    }

    @Test
    void readsBackWhatItWrites() {
        Policy policy = Policy.parse(FULL);
        Policy again = Policy.parse(policy.toJson());

        assertThat(again.toJson()).isEqualTo(policy.toJson());
        assertThat(again.scopes()).isEqualTo(policy.scopes());
    }

    /** Each says the same as the shortest way to say it. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "{project: p, burst: 1s, limits: {rpm: 60}}",
                "{limits: {rpm: 60}, burst: 1s, project: p}", // another order
                "{project: p, burst: 1000ms, limits: {rpm: 60.0}}", // other units and zeros
                "{project: p, burst: 1s, limits: {rpm: {amount: 6e1}}}", // the long form
                "{project: p, burst: 1s, limits: {rpm: 60, tpm: null}, classes: [], queue: {}}", // nothing said
                "{\"project\": \"p\", \"burst\": \"1s\", \"limits\": {\"rpm\": 60}}", // JSON
                "{\n\t\"project\": \"p\",\n\t\"burst\": \"1s\",\n\t\"limits\": {\n\t\t\"rpm\": 60\n\t}\n}\n", // tabs
                "\uFEFF# a comment\n---\nproject: p\nburst: '1s'\nlimits:\n  rpm: 60\n...\n"
            })
    void identicalContentIsIdenticalText(String text) {
        assertThat(Policy.parse(text).toJson())
                .isEqualTo("{\"project\":\"p\",\"burst\":\"1s\",\"limits\":{\"rpm\":60}}");
    }

    @Test
    void readsTheEscapesOfJson() {
        String json = "{\"project\":\"p\",\"classes\":[{\"name\":\"a\\/b\",\"models\":[\"m\\u00e9\\uD83D\\uDE00*\"]}]}";

        Policy policy = Policy.parse(json);

        assertThat(policy.classOf("mé😀x")).extracting("name").isEqualTo("a/b");
        assertThat(Policy.parse(policy.toJson()).toJson()).isEqualTo(policy.toJson());
    }

    @Test
    void loadsAFile(@TempDir Path directory) throws IOException {
        Path file = Files.writeString(directory.resolve("acme.yaml"), FULL);

        assertThat(Policy.load(file).toJson()).isEqualTo(Policy.parse(FULL).toJson());
    }

    @Test
    void refusesAFileItCannotRead(@TempDir Path directory) throws IOException {
        Path latin = Files.write(directory.resolve("latin.yaml"), "project: é".getBytes(StandardCharsets.ISO_8859_1));
        Path large = Files.writeString(directory.resolve("large.yaml"), "#".repeat(PolicyReader.MAX_BYTES + 1));

        assertThat(refused(latin)).hasMessageContaining("is not UTF-8 text").hasMessageContaining("latin.yaml");
        assertThat(refused(large)).hasMessageContaining("is larger than 256 KiB");
        assertThat(refused(directory.resolve("absent.yaml"))).hasMessageContaining("absent.yaml");
    }

    private static InvalidPolicyException refused(Path file) {
        return Objects.requireNonNull(catchThrowableOfType(InvalidPolicyException.class, () -> Policy.load(file)));
    }

    /** Headroom × (1 + burst ÷ quantum) is what a rolling span can see: 1 is the provider's limit. */
    @Test
    void warnsOfNumbersTheProviderMayReject() {
        // 0.9 × (1 + 10 s ÷ 60 s) = 1.05
        assertThat(Policy.parse("{project: p, burst: 10s, limits: {rpm: 60}, classes: [{name: c, models: [m]}]}")
                        .warnings())
                .singleElement()
                .satisfies(warning -> {
                    assertThat(warning.path()).isEqualTo("/burst");
                    assertThat(warning.message()).contains("1.05");
                });
        // the limit's own: 0.9 × (1 + 5 s ÷ 10 s) = 1.35
        assertThat(Policy.parse(
                                "{project: p, limits: {x: {amount: 600, per: 10s, of: requests}}, classes: [{name: c, models: [m]}]}")
                        .warnings())
                .singleElement()
                .satisfies(warning -> assertThat(warning.path()).isEqualTo("/limits/x"));
        // 0.9 × (1 + 5 s ÷ 60 s) = 0.975
        assertThat(Policy.parse("{project: p, limits: {rpm: 60}, classes: [{name: c, models: [m]}]}")
                        .warnings())
                .isEmpty();
    }

    /** What the provider does not know it cannot reject; a team still gets more than its limit says. */
    @Test
    void warnsOfALimitThatLetsMoreThroughWhereverItStands() {
        String x = "x: {amount: 600, per: 10s, of: requests}";
        Policy policy = Policy.parse("{project: p, classes: [{name: c, models: [m]}], workspaces: [{name: w, limits: {"
                + x
                + "}}], teams: [{name: t, classes: [{name: c, limits: {" + x + "}}]}], each: [{by: run, limits: {" + x
                + "}}]}");

        assertThat(policy.warnings())
                .extracting(Problem::path)
                .containsExactly("/workspaces/0/limits/x", "/teams/0/classes/0/limits/x", "/each/0/limits/x");
        assertThat(policy.warnings())
                .extracting(warning -> warning.message().contains("the provider may reject"))
                .containsExactly(true, false, false);
    }

    @Test
    void watchesOnlyWhereItSaysSo() {
        assertThat(Policy.parse("{project: p, mode: shadow}").shadow()).isTrue();
        assertThat(Policy.parse("{project: p, mode: enforce}").shadow()).isFalse();
        assertThat(Policy.parse("{project: p}").shadow()).isFalse();
    }

    /** Written in another order and with numbers spelt out; read back it is the same. */
    @Test
    void writesPartsInOneSpelling() {
        Policy policy = Policy.parse("""
                each: [{max: 1e4, limits: {rpm: {amount: 120}}, by: agent}]
                teams:
                  - {classes: [{limits: {rpm: 500.0}, name: c}], limits: {agents: 5, concurrency: 20}, weight: 2, name: t}
                workspaces: [{limits: {concurrency: {amount: 9}}, name: w}, {name: bare, limits: {}}]
                mode: shadow
                classes: [{models: [m], name: c}]
                project: p
                """);

        assertThat(policy.toJson()).isEqualTo("""
                {"project":"p","mode":"shadow","classes":[{"name":"c","models":["m"]}],\
                "workspaces":[{"name":"w","limits":{"concurrency":9}},{"name":"bare"}],\
                "teams":[{"name":"t","weight":2,"limits":{"agents":5,"concurrency":20},\
                "classes":[{"name":"c","limits":{"rpm":500}}]}],\
                "each":[{"by":"agent","limits":{"rpm":120},"max":10000}]}""");
        Policy again = Policy.parse(policy.toJson());
        assertThat(again.toJson()).isEqualTo(policy.toJson());
        assertThat(again.scopes()).isEqualTo(policy.scopes());
        assertThat(again.shadow()).isTrue();
    }

    @Test
    void warnsOfAClassThatIsNeverUsed() {
        Policy policy = Policy.parse(
                "{project: p, classes: [{name: all, models: ['claude-*']}, {name: s, models: [Claude-sonnet-?]}]}");

        assertThat(policy.warnings())
                .singleElement()
                .satisfies(warning -> assertThat(warning.path()).isEqualTo("/classes/1"));
    }

    /** Earlier classes for some of its calls leave it the others. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                // the first's when, the second's when, whether the second is never used
                "{}                                       | {}                                       | true",
                "{}                                       | {speed: fast}                            | true",
                "{speed: fast}                            | {}                                       | false",
                "{speed: fast}                            | {speed: Fast, service_tier: flex}        | true",
                "{speed: fast, service_tier: flex}        | {speed: fast}                            | false",
                "{service_tier: default}                  | {service_tier: auto}                     | true",
                "{context_over: 100}                      | {context_over: 200}                      | true",
                "{context_over: 200}                      | {context_over: 100}                      | false",
                "{endpoint: a}                            | {endpoint: b}                            | false",
            })
    void warnsOfAClassWhoseCallsAllGoElsewhere(String first, String second, boolean isNeverUsed) {
        Policy policy = Policy.parse("{project: p, classes: [{name: a, models: ['m*'], when: " + first
                + "}, {name: b, models: [m1], when: " + second + "}]}");

        assertThat(policy.warnings()).hasSize(isNeverUsed ? 1 : 0);
    }

    @Test
    void rampsAsItSays() {
        assertThat(Policy.parse("{project: p, ramp: {from: 0.25, double_every: 30s, agents_per_minute: 10}}")
                        .spec()
                        .ramp())
                .isEqualTo(new Ramp(new BigDecimal("0.25"), Duration.ofSeconds(30), 10));
        assertThat(Policy.parse("{project: p}").spec().ramp()).isNull();
    }

    /** A ramp that says nothing of itself is a ramp, also when it is read back. */
    @Test
    void aRampHasDefaults() {
        Policy policy = Policy.parse("{project: p, ramp: {}}");

        Ramp usual = new Ramp(new BigDecimal("0.1"), Duration.ofMinutes(1), null);
        assertThat(policy.spec().ramp()).isEqualTo(usual);
        assertThat(usual.fromPpm()).isEqualTo(100_000);
        assertThat(usual.everyUs()).isEqualTo(60_000_000);
        assertThat(policy.toJson()).isEqualTo("{\"project\":\"p\",\"ramp\":{\"from\":0.1}}");
        assertThat(Policy.parse(policy.toJson()).spec().ramp()).isEqualTo(usual);
    }

    /** Its numbers are made for the most it may become. */
    @Test
    void anAmountThatIsToBeFoundHasAStartAndAMost() {
        Policy policy = Policy.parse("""
                project: p
                limits:
                  rpm: {adaptive: {start: 60, max: 4500}}
                  itpm: {adaptive: {start: 9000}}
                  otpm: {adopt: true}
                  tpm: {adopt: true, amount: 5000}
                classes: [{name: c, models: [m]}]
                """);

        assertThat(policy.spec().limitsOf("p"))
                .extracting(
                        LimitSpec::name,
                        limit -> Objects.requireNonNull(limit.amount()).longValueExact(),
                        LimitSpec::startPpm)
                .containsExactly(
                        tuple("itpm", 900_000L, 10_000L),
                        tuple("otpm", 10_000_000L, 1_000_000L),
                        tuple("rpm", 4_500L, 13_333L),
                        tuple("tpm", 5_000L, 1_000_000L));
        assertThat(policy.warnings()).isEmpty();
        assertThat(Policy.parse(policy.toJson()).scopes()).isEqualTo(policy.scopes());
    }

    /** Days begin where the provider's do; OpenAI's do not begin, they refill. */
    @ParameterizedTest
    @CsvSource({
        "ANTHROPIC,  CALENDAR, UTC",
        "GEMINI,     CALENDAR, America/Los_Angeles",
        "OPENROUTER, CALENDAR, UTC",
        "GENERIC,    CALENDAR, UTC",
        "OPENAI,     REFILL,"
    })
    void countsDaysAsTheProviderDoes(Provider provider, LimitSpec.Window window, @Nullable String zone) {
        String text = "project: p\nlimits: {rpd: 200, tpd: 1000000}\nprovider: " + provider.label();
        Section root = new Section(Objects.requireNonNull(PolicyReader.read(text, new Problems())), new Problems());
        List<LimitSpec> limits = new LimitRules(provider, new Problems()).read(root);

        assertThat(limits)
                .hasSize(2)
                .allSatisfy(limit -> assertThat(limit.window()).isEqualTo(window))
                .allSatisfy(limit -> assertThat(
                                limit.zone() == null ? null : limit.zone().getId())
                        .isEqualTo(zone))
                .allSatisfy(limit ->
                        assertThat(limit.burst()).isEqualTo(provider == Provider.OPENAI ? Duration.ofDays(1) : null));
    }

    /** 200 a day: all of them at once if they are there, then one each 432 s, as the provider says in "7m12s". */
    @Test
    void aDayThatRefillsHoldsAWholeDay() {
        RefillLimit rpd = Policy.parse("{project: p, provider: openai, limits: {rpd: 200}}")
                .scopes()
                .get(0)
                .refills()
                .get(0);

        assertThat(rpd.capacity() / rpd.factor()).isEqualTo(200);
        assertThat(rpd.factor() / rpd.rate() * rpd.tickUs()).isEqualTo(432_000_000);
    }

    @Test
    void warnsOfAPolicyWithoutClasses() {
        assertThat(Policy.parse("project: p").warnings())
                .singleElement()
                .satisfies(warning -> assertThat(warning.message()).contains("unknown_model"));
    }
}
