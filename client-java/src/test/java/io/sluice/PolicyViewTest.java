package io.sluice;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.PolicyView.Resolved;
import io.sluice.Store.Answer;
import io.sluice.Store.Layout;
import io.sluice.Store.ScopeCost;
import io.sluice.Store.StoredPolicy;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("contract")
class PolicyViewTest {
    /** Nothing yet. */
    private static final Learning LEARNED = new Learning(new FakeStore(), "acme", () -> {});

    /** Every kind of scope there is. */
    private static final String ALL = """
            project: acme
            provider: openai
            headroom: 1
            limits: {agents: 50, tpm: 100000}
            classes:
              - {name: m, models: ["m-*"], max_output: 100, limits: {rpm: 60, agents: 40}}
              - {name: other, models: ["o-*"], max_output: 100}
            workspaces:
              - {name: prod, limits: {concurrency: 9, agents: 30}, classes: [{name: m, limits: {rpm: 60, agents: 20}}]}
              - {name: bare}
            teams:
              - {name: research, weight: 3, limits: {tpm: 6000, agents: 10}, classes: [{name: m, limits: {agents: 5, rpm: 60}}]}
              - {name: ops}
            each:
              - {by: run, limits: {concurrency: 2}}
              - {by: team, limits: {rpm: 60}}
              - {by: agent, limits: {tpm: 6000, rpm: 60}}
            priorities: {interactive: 20}
            """;

    private static final Call CALL = Call.of("m-1").inputTokens(10).maxOutputTokens(5);

    /** A view of it with each limit at the place it has in the policy. */
    private static PolicyView view(String text) {
        List<Layout> layouts = new ArrayList<>();
        for (ScopeLimits scope : Policy.parse(text).scopes()) {
            List<String> names = scope.refills().stream().map(RefillLimit::name).toList();
            layouts.add(new Layout(
                    scope.scope(), names, names.stream().map(name -> true).toList()));
        }
        return new PolicyView("acme", new StoredPolicy("1:e", text, layouts));
    }

    private static Resolved resolved(PolicyView view, Call call) {
        return Objects.requireNonNull(view.resolve(call, LEARNED));
    }

    private static List<String> scopes(Resolved resolved) {
        return resolved.costs().stream().map(ScopeCost::scope).toList();
    }

    @Test
    void aCallThatNamesEverythingDrawsOnEverythingInOneOrder() {
        Resolved resolved = resolved(
                view(ALL),
                CALL.workspace("prod").team("research").agent("host-3/agent-17").run("r:1"));

        assertThat(resolved.costs())
                .containsExactly(
                        new ScopeCost("p", List.of(15L)),
                        new ScopeCost("c:m", List.of(1L)),
                        new ScopeCost("w:prod", List.of()),
                        new ScopeCost("w:prod|m", List.of(1L)),
                        new ScopeCost("t:research", List.of(15L)),
                        new ScopeCost("t:research|m", List.of(1L)),
                        new ScopeCost("a:host-3/agent-17", List.of(1L, 15L)),
                        new ScopeCost("e:research", List.of(1L)),
                        new ScopeCost("r:r:1", List.of()),
                        new ScopeCost("n:p", List.of()),
                        new ScopeCost("n:c:m", List.of()),
                        new ScopeCost("n:w:prod", List.of()),
                        new ScopeCost("n:w:prod|m", List.of()),
                        new ScopeCost("n:t:research", List.of()),
                        new ScopeCost("n:t:research|m", List.of()));
        assertThat(resolved.costsOf(new Permit.Reserved(1, 20, 0, 0, 3)))
                .hasSize(15)
                .contains(
                        new ScopeCost("t:research", List.of(23L)),
                        new ScopeCost("a:host-3/agent-17", List.of(1L, 23L)));
        assertThat(resolved.agent()).isEqualTo("host-3/agent-17");
    }

    /** What one report may say of itself: the most generous of the limits that count it decides. */
    @ParameterizedTest
    @CsvSource({
        "99999,     1,         99999,  1",
        "900000000, 900000000, 100000, 100000",
        "900000000, 7,         100000, 7",
    })
    void aReportIsToldUpToWhatIsBooked(long input, long output, long inputTold, long outputTold) {
        Resolved resolved = resolved(view(ALL), CALL.team("research"));

        assertThat(resolved.booked(new Permit.Reserved(3, input, 5, 0, output)))
                .isEqualTo(new Permit.Reserved(3, inputTold, 5, 0, outputTold));
    }

    @Test
    void aReportIsToldUpToFourTimesTheEstimateOfASmallLimit() {
        Resolved resolved = resolved(
                view(
                        "{project: acme, provider: openai, headroom: 1, limits: {tpm: 50}, classes: [{name: m, models: [m-1]}]}"),
                CALL);

        assertThat(resolved.booked(new Permit.Reserved(1, 900_000_000, 0, 0, 59)))
                .as("of 15 tokens")
                .isEqualTo(new Permit.Reserved(1, 60, 0, 0, 59));
    }

    @Test
    void whatNoLimitCountsIsToldAsReported() {
        Resolved resolved =
                resolved(view("{project: acme, classes: [{name: m, models: [m-1], limits: {rpm: 60}}]}"), CALL);

        Permit.Reserved reported = new Permit.Reserved(1, 900_000_000, 0, 7, 3);
        assertThat(resolved.booked(reported)).isEqualTo(reported);
    }

    /**
     * OpenAI charges the larger of prompt and cap when a call begins. Who gave back what of the cap was not used let in half as
     * many calls again as it takes.
     */
    @ParameterizedTest
    @CsvSource({
        "openai,  tpm, 1000, 1000",
        "openai,  tpd, 1000, 1000",
        "openai,  tpm, 200,  400",
        "openai,  tpm, ,     400",
        "openai,  'x: {amount: 60000, per: minute, of: tokens}', 1000, 400",
        "gemini,  tpm, 1000, 300",
        "generic, tpm, 1000, 400"
    })
    void aServedCallCostsWhatTheProviderKeeps(String provider, String limit, @Nullable Long cap, long cost) {
        String limits = limit.contains(":") ? limit : limit + ": 60000";
        PolicyView view = view("{project: p, provider: %s, classes: [{name: m, models: [m-1], limits: {%s}}]}"
                .formatted(provider, limits));
        Call call = Call.of("m-1").inputTokens(300);
        Resolved resolved = resolved(view, cap == null ? call : call.maxOutputTokens(cap));

        List<ScopeCost> costs = resolved.costsOfServed(new Permit.Reserved(1, 200, 100, 0, 100));

        assertThat(costs.get(1).units().get(0) / unit(view)).isEqualTo(cost);
    }

    private static long unit(PolicyView view) {
        return view.policy
                .scopesOf(view.policy.classOf("m-1"), "m-1", null, null)
                .get(1)
                .refills()
                .get(0)
                .weights()
                .unit();
    }

    /** Every combination of a class, a workspace, a team and an agent, each with, without or with nothing of its own. */
    @ParameterizedTest
    @MethodSource
    void drawsOnWhatItNames(String model, @Nullable String workspace, @Nullable String team, @Nullable String agent) {
        Call call = Call.of(model);
        call = workspace == null ? call : call.workspace(workspace);
        call = team == null ? call : call.team(team);
        call = agent == null ? call : call.agent(agent);
        boolean m = model.equals("m-1");
        boolean prod = "prod".equals(workspace);
        boolean research = "research".equals(team);
        Map<String, Boolean> shared = new LinkedHashMap<>();
        shared.put("p", true);
        shared.put(m ? "c:m" : "c:other", true);
        shared.put("w:prod", prod);
        shared.put("w:prod|m", prod && m);
        shared.put("t:research", research);
        shared.put("t:research|m", research && m);
        List<String> expected = new ArrayList<>();
        shared.forEach((scope, draws) -> expected.addAll(draws ? List.of(scope) : List.of()));
        expected.addAll(List.of(agent == null ? "a:-" : "a:" + agent, team == null ? "e:-" : "e:" + team, "r:-"));
        shared.remove("c:other");
        shared.forEach((scope, draws) -> expected.addAll(draws ? List.of("n:" + scope) : List.of()));

        PolicyView view = view(ALL);
        Resolved first = resolved(view, call);
        assertThat(scopes(first)).containsExactlyElementsOf(expected);
        assertThat(scopes(resolved(view, call))).as("found again").containsExactlyElementsOf(expected);
        assertThat(first.agent()).isEqualTo(agent == null ? "-" : agent);
        assertThat(first.impossible()).isNull();
    }

    static Stream<Arguments> drawsOnWhatItNames() {
        List<Arguments> rows = new ArrayList<>();
        for (String model : new String[] {"m-1", "o-1"}) {
            for (String workspace : new String[] {null, "prod", "bare"}) {
                for (String team : new String[] {null, "research", "ops", "unlisted"}) {
                    for (String agent : new String[] {null, "x"}) {
                        rows.add(Arguments.of(model, workspace, team, agent));
                    }
                }
            }
        }
        return rows.stream();
    }

    /** Calls that differ only in their agent go one way under different names. */
    @Test
    void namesThatGoOneWayAreNotMixedUp() {
        PolicyView view = view(ALL);

        assertThat(scopes(resolved(view, CALL.agent("x").team("ops")))).contains("a:x", "e:ops");
        assertThat(scopes(resolved(view, CALL.agent("y").team("unlisted")))).contains("a:y", "e:unlisted");
        assertThat(scopes(resolved(view, CALL.agent("z").run("run-1")))).contains("a:z", "e:-", "r:run-1");
    }

    /** A team's weight times its priority's. */
    @ParameterizedTest
    @CsvSource({
        "research, INTERACTIVE, research|i, 60",
        "research, NORMAL, research|n, 12",
        "research, BATCH, research|b, 3",
        "ops, INTERACTIVE, ops|i, 20",
        "ops, NORMAL, ops|n, 4",
        "unlisted, BATCH, other|b, 1",
        "other, INTERACTIVE, other|i, 20",
        ", NORMAL, other|n, 4"
    })
    void namesTheFlow(@Nullable String team, Priority priority, String flow, int weight) {
        Call call = CALL.priority(priority);
        Resolved resolved = resolved(view(ALL), team == null ? call : call.team(team));

        assertThat(resolved.flow()).isEqualTo(flow);
        assertThat(resolved.weight()).isEqualTo(weight);
    }

    @Test
    void theLargestWeightIsOneTheScriptsTake() {
        PolicyView view = view("{project: p, classes: [{name: m, models: [m-1]}], teams: [{name: t, weight: 1000}],"
                + " priorities: {batch: 1000}}");

        assertThat(resolved(view, CALL.team("t").priority(Priority.BATCH)).weight())
                .isEqualTo(1_000_000);
    }

    @Test
    void costsStandWhereRedisKeepsTheLimits() {
        String text = "{project: p, provider: openai, classes: [{name: m, models: [m-1]}],"
                + " each: [{by: agent, limits: {rpm: 60, tpm: 6000}}]}";
        PolicyView view = new PolicyView(
                "p",
                new StoredPolicy(
                        "1:e",
                        text,
                        List.of(
                                new Layout("p", List.of(), List.of()),
                                new Layout("c:m", List.of("old"), List.of(false)),
                                new Layout("a:", List.of("tpm", "itpm", "rpm"), List.of(true, false, true)))));

        assertThat(resolved(view, CALL.agent("x")).costs())
                .containsExactly(
                        new ScopeCost("p", List.of()),
                        new ScopeCost("c:m", List.of(0L)),
                        new ScopeCost("a:x", List.of(15L, 0L, 1L)));
    }

    /** The model's own weights apply wherever the limit stands. */
    @Test
    void weighsByTheModelInEveryScope() {
        PolicyView view = view("""
                project: p
                provider: openai
                classes: [{name: m, models: ["*"]}]
                teams: [{name: t, limits: {tpm: {amount: 6000, weights_for: {"big-*": {output: 3}}}}}]
                """);
        Call small = Call.of("small").maxOutputTokens(10).team("t");
        Call big = Call.of("big-1").maxOutputTokens(10).team("t");

        assertThat(resolved(view, small).costs()).contains(new ScopeCost("t:t", List.of(10L)));
        assertThat(resolved(view, big).costs()).contains(new ScopeCost("t:t", List.of(30L)));
    }

    @Test
    void aModelOrAWorkspaceThatThePolicyDoesNotKnowGoesNowhere() {
        PolicyView view = view(ALL);
        Call unknownModel = Call.of("x-1").workspace("prod");
        Call unknownWorkspace = CALL.workspace("prd");

        assertThat(view.resolve(unknownModel, LEARNED)).isNull();
        assertThat(Refusals.unresolved("acme", view.policy, unknownModel))
                .satisfies(refusal -> assertThat(refusal.kind()).isEqualTo(Refusal.Kind.UNKNOWN_MODEL))
                .satisfies(refusal -> assertThat(refusal.message()).contains("acme", "'x-1'"));
        assertThat(view.resolve(unknownWorkspace, LEARNED)).isNull();
        assertThat(Refusals.unresolved("acme", view.policy, unknownWorkspace))
                .satisfies(refusal -> assertThat(refusal.kind()).isEqualTo(Refusal.Kind.UNKNOWN_WORKSPACE))
                .satisfies(refusal -> assertThat(refusal.message()).contains("acme", "'prd'"))
                .satisfies(refusal -> assertThat(refusal.retryAfter()).isNull());
    }

    /** Where a policy lists no workspace, what a call says of it is nothing to the budget. */
    @Test
    void anyWorkspaceGoesWhereThePolicyListsNone() {
        PolicyView view = view("{project: p, classes: [{name: m, models: [m-1]}]}");

        assertThat(scopes(resolved(view, CALL.workspace("anything")))).containsExactly("p", "c:m");
    }

    @Test
    void aPolicyThatOnlyWatchesAdmitsWhatItDoesNotKnow() {
        PolicyView view = view(ALL + "mode: shadow\n");
        Resolved unknownModel =
                resolved(view, Call.of("x-1").agent("x").workspace("prod").team("research"));

        assertThat(unknownModel.modelClass()).isEqualTo("unknown");
        assertThat(unknownModel.costs()).containsExactly(new ScopeCost("p", List.of(8192L)));
        assertThat(unknownModel.flow()).isEqualTo("research|n");
        assertThat(scopes(resolved(view, CALL.workspace("prd")))).startsWith("p", "c:m", "a:-");
        assertThat(scopes(resolved(view, CALL.workspace("prod")))).startsWith("p", "c:m", "w:prod", "w:prod|m", "a:-");
    }

    /** Pools of their own within one family of models; the first that matches wins. */
    private static final String POOLS = """
            project: p
            classes:
              - {name: fast, models: ["m-*"], when: {speed: fast}, limits: {tpm: 6000}}
              - {name: long, models: ["m-*"], when: {context_over: 100, service_tier: standard}}
              - {name: flex, models: ["m-*"], when: {service_tier: flex}}
              - {name: longest, models: ["m-*"], when: {context_over: 1000}}
              - {name: embed, models: ["m-*"], when: {endpoint: embeddings}}
              - {name: rest, models: ["m-*"]}
            """;

    @ParameterizedTest
    @CsvSource({
        // service tier, speed, endpoint, fresh input, cached, class
        ",         ,         ,           1,    0,    rest",
        ",         standard, ,           1,    0,    rest",
        ",         fast,     ,           1,    0,    fast",
        ",         FAST,     ,           5000, 0,    fast",
        "flex,     fast,     embeddings, 1,    0,    fast",
        ",         ,         ,           100,  0,    rest",
        ",         ,         ,           101,  0,    long",
        ",         ,         ,           1,    100,  long",
        // Who asks for what everybody gets asks for nothing.
        "auto,     ,         ,           101,  0,    long",
        "default,  ,         ,           101,  0,    long",
        "priority, ,         ,           101,  0,    rest",
        "priority, ,         ,           500,  501,  longest",
        "flex,     ,         ,           1001, 0,    flex",
        "Flex,     ,         ,           1,    0,    flex",
        ",         ,         embeddings, 1,    0,    embed",
        ",         ,         messages,   1,    0,    rest"
    })
    void findsTheClassByWhatTheRequestAsksFor(
            @Nullable String tier,
            @Nullable String speed,
            @Nullable String endpoint,
            long input,
            long cached,
            String modelClass) {
        Call call = Call.of("m-1").inputTokens(input).cacheReadTokens(cached);
        call = tier == null ? call : call.serviceTier(tier);
        call = speed == null ? call : call.speed(speed);
        call = endpoint == null ? call : call.endpoint(endpoint);
        PolicyView view = view(POOLS);
        // Others of the same model must not lead it astray, nor what it left behind.
        resolved(view, Call.of("m-1"));
        resolved(view, Call.of("m-1").speed("fast"));
        resolved(view, Call.of("m-1").inputTokens(5000));

        assertThat(resolved(view, call).modelClass()).isEqualTo(modelClass);
        assertThat(resolved(view, call).modelClass()).as("found again").isEqualTo(modelClass);
        assertThat(scopes(resolved(view, call))).containsExactly("p", "c:" + modelClass);
    }

    @Test
    void callsThatMeetNoClassOfTheirModelGoNowhere() {
        PolicyView view = view("{project: p, classes: [{name: fast, models: [m-1], when: {speed: fast}}]}");

        assertThat(view.resolve(CALL, LEARNED)).isNull();
        assertThat(resolved(view, CALL.speed("fast")).modelClass()).isEqualTo("fast");
    }

    /** Whatever callers put into their calls, what is remembered of them stays small: here two ways. */
    @Test
    void remembersConditionsAndNotWords() {
        PolicyView view = view(POOLS);
        for (int i = 0; i < 100; i++) {
            resolved(
                    view,
                    Call.of("m-1").serviceTier("tier-" + i).endpoint("e-" + i).inputTokens(i));
        }
        resolved(view, Call.of("m-1").speed("fast"));

        assertThat(view.routesKnown()).isEqualTo(2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"serviceTier", "speed", "endpoint"})
    void whatTheRequestAsksForIsPartOfTheCall(String what) {
        Call call = CALL.id("id");
        Call asks = switch (what) {
            case "serviceTier" -> call.serviceTier("x");
            case "speed" -> call.speed("x");
            default -> call.endpoint("x");
        };

        assertThat(Digests.of("h", asks)).isNotEqualTo(Digests.of("h", call));
        assertThat(Digests.of("h", asks.agent("a"))).isNotEqualTo(Digests.of("h", asks));
    }

    /** The limits of the class, what the call costs beside one request, and why it can never be. */
    @ParameterizedTest
    @MethodSource
    void knowsWhatCanNeverBe(String limits, Call call, @Nullable Answer expected) {
        String text =
                "{project: p, provider: openai, classes: [{name: m, models: [m-1], max_output: 1}], " + limits + "}";

        assertThat(resolved(view(text), call.agent("x").team("t")).impossible()).isEqualTo(expected);
        assertThat(resolved(
                                view(text.replace("{project: p", "{project: p, mode: shadow")),
                                call.agent("x").team("t"))
                        .impossible())
                .as("where it only watches")
                .isNull();
    }

    static Stream<Arguments> knowsWhatCanNeverBe() {
        Call most = Call.of("m-1").inputTokens(89).maxOutputTokens(1);
        return Stream.of(
                // 100 × 0.9 = 90
                row("limits: {tpm: 100}", most, null),
                row("limits: {tpm: 100}", most.inputTokens(90), new Answer.Never("p", "tpm", 91, 90)),
                row("limits: {concurrency: 1, rpm: 60}", most, null),
                row("limits: {concurrency: 0}", most, new Answer.Closed("p", "concurrency")),
                row("limits: {agents: 0}", most, new Answer.Closed("n:p", "agents")),
                row("teams: [{name: t, limits: {rpm: 0}}]", most, new Answer.Closed("t:t", "rpm")),
                row("teams: [{name: u, limits: {rpm: 0}}]", most, null),
                row(
                        "teams: [{name: t, classes: [{name: m, limits: {tpm: 50}}]}]",
                        most,
                        new Answer.Never("t:t|m", "tpm", 90, 45)),
                row("each: [{by: agent, limits: {tpm: 50}}]", most, new Answer.Never("a:x", "tpm", 90, 45)),
                // Closed to all, also to a call that costs nothing there: so the scripts have it.
                row("limits: {otpm: 0}", most.maxOutputTokens(0), new Answer.Closed("p", "otpm")),
                // The first in the order of the scopes decides.
                row(
                        "limits: {tpm: 100}, each: [{by: run, limits: {concurrency: 0}}]",
                        most.inputTokens(90),
                        new Answer.Never("p", "tpm", 91, 90)));
    }

    private static Arguments row(String limits, Call call, @Nullable Answer expected) {
        return Arguments.of(limits, call, expected);
    }
}
