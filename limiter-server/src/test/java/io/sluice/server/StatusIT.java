package io.sluice.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.sluice.Call;
import io.sluice.Permit;
import io.sluice.Sluice;
import io.sluice.Usage;
import io.sluice.server.Http.Reply;
import io.sluice.testbed.redis.RedisServers;
import io.sluice.testbed.redis.WithRedis;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** What a project is doing, and what an operator does to it. */
@Tag("contract")
@WithRedis
class StatusIT {
    private static final String CALL = "\"model\":\"claude-sonnet-5-5\",\"input_tokens\":100";

    private final Http http = Started.shared().http;
    private final String project = Policies.installed(http, "{rpm: 600, itpm: 2000000, concurrency: 1}");
    private final String at = "/v1/projects/" + project;

    @Test
    void statusSaysWhoHoldsTheBudgetAndWhoWaitsOnWhat() {
        http.post(at + "/permits", "{" + CALL + ",\"agent\":\"a1\",\"team\":\"research\"}");
        http.later(at + "/permits", "{" + CALL + ",\"id\":\"w1\",\"agent\":\"a2\",\"max_wait_ms\":20000}");
        await().atMost(10, TimeUnit.SECONDS)
                .until(() -> http.get(at + "/status").json().get("waiters").asInt() == 1);
        JsonNode status = http.get(at + "/status").json();
        assertThat(status.propertyNames())
                .contains(
                        "version",
                        "mode",
                        "degraded",
                        "limits",
                        "provider",
                        "waiting",
                        "agents",
                        "holds",
                        "rejections",
                        "hosts");
        JsonNode waiting = status.get("waiting").get(0);
        assertThat(waiting.get("id").asString()).isEqualTo("w1");
        assertThat(waiting.get("agent").asString()).isEqualTo("a2");
        assertThat(waiting.get("limit").asString()).isEqualTo("concurrency");
        assertThat(waiting.get("priority").asString()).isEqualTo("normal");
        assertThat(waiting.get("position").asInt()).isEqualTo(1);
        JsonNode slots = status.get("limits")
                .valueStream()
                .filter(limit -> limit.get("limit").asString().equals("concurrency"))
                .findFirst()
                .orElseThrow();
        assertThat(slots.get("scope").asString()).isEqualTo("c:sonnet");
        assertThat(slots.get("amount").toString()).isEqualTo("1");
        assertThat(slots.get("level").toString()).isEqualTo("0");
        assertThat(slots.get("in_flight").asInt()).isEqualTo(1);
        assertThat(status.get("agents")
                        .valueStream()
                        .map(agent -> agent.get("agent").asString() + " "
                                + agent.get("state").asString()))
                .contains("a1 calling", "a2 waiting");
    }

    @Test
    void statusComesEachSecondToWhoWantsAStream() {
        try (Http.Events stream = http.events("GET", at + "/status", null, "Accept", "text/event-stream")) {
            await().atMost(15, TimeUnit.SECONDS)
                    .until(() -> stream.named("status").size() >= 3);
            assertThat(stream.named("status").get(0).get("project").asString()).isEqualTo(project);
            assertThat(stream.ended).isFalse();
        }
        assertThat(http.get("/v1/projects/none-of-ours/status", "Accept", "text/event-stream")
                        .status())
                .isEqualTo(404);
    }

    @Test
    void aHoldStopsWhatIsHeldUntilItIsReleased() {
        Reply held = http.post(at + "/hold", "{\"for_ms\":60000,\"class\":\"sonnet\",\"reason\":\"maintenance\"}");
        assertThat(held.status()).isEqualTo(200);
        Reply no = http.post(at + "/permits", "{" + CALL + "}");
        assertThat(no.kind()).isEqualTo("hold");
        assertThat(Integer.parseInt(no.header("retry-after"))).isBetween(50, 60);
        JsonNode hold = http.get(at + "/status").json().get("holds").get(0);
        assertThat(hold.get("scope").asString()).isEqualTo("c:sonnet");
        assertThat(hold.get("kind").asString()).isEqualTo("operator");
        assertThat(hold.get("left_ms").asLong()).isBetween(50_000L, 60_000L);
        assertThat(http.delete(at + "/hold?class=sonnet").json().get("released").asBoolean())
                .isTrue();
        assertThat(http.post(at + "/permits", "{" + CALL + "}").status()).isEqualTo(201);

        http.post(at + "/hold", "{\"reason\":\"until I say so\"}");
        Reply endless = http.post(at + "/permits", "{" + CALL + "}");
        assertThat(endless.kind()).isEqualTo("hold");
        assertThat(endless.header("retry-after")).isNotEmpty();
        assertThat(http.delete(at + "/hold").json().get("released").asBoolean()).isTrue();

        assertThat(http.post(at + "/hold", "{\"for_ms\":5}").status()).isEqualTo(400);
        assertThat(http.post(at + "/hold", "{\"reason\":\"x\",\"class\":\"sonnet\",\"scope\":\"p\"}")
                        .status())
                .isEqualTo(400);
        assertThat(http.post(at + "/hold", "{\"reason\":\"x\",\"class\":\"none\"}")
                        .status())
                .isEqualTo(400);
    }

    /** The policy has no limits for each agent, team or run, and it was 400. */
    @ParameterizedTest
    @CsvSource({"agent, a:", "team, e:", "run, r:"})
    void oneAgentTeamOrRunIsHeldByItsName(String member, String prefix) {
        String its = "{" + CALL + ",\"" + member + "\":\"runaway\"}";
        String hold = "{\"" + member + "\":\"runaway\",\"for_ms\":60000,\"reason\":\"loops\"}";
        Reply held = http.post(at + "/hold", hold);
        assertThat(held.status()).as(held.body()).isEqualTo(200);
        Reply no = http.post(at + "/permits", its);
        assertThat(no.kind()).isEqualTo("hold");
        assertThat(no.json().get("detail").asString()).contains("runaway", "loops");
        Reply others = http.post(at + "/permits", "{" + CALL + ",\"" + member + "\":\"other\"}");
        assertThat(others.status()).as(others.body()).isEqualTo(201);
        http.post(at + "/permits/" + others.json().get("permit").asString() + "/settle", "{}");
        JsonNode told = http.get(at + "/status").json().get("holds").get(0);
        assertThat(told.get("scope").asString()).isEqualTo(prefix + "runaway");
        assertThat(http.delete(at + "/hold?" + member + "=runaway")
                        .json()
                        .get("released")
                        .asBoolean())
                .isTrue();
        Reply again = http.post(at + "/permits", its);
        assertThat(again.status()).as(again.body()).isEqualTo(201);
    }

    @Test
    void aLevelIsCorrectedAndTheOldOneTold() {
        Reply set = http.post(at + "/levels", "{\"limit\":\"itpm\",\"to\":-20000000,\"reason\":\"another account\"}");
        assertThat(set.status()).isEqualTo(200);
        assertThat(set.json().get("scope").asString()).isEqualTo("c:sonnet");
        assertThat(set.json().get("from").asLong()).isEqualTo(150_000);
        assertThat(http.post(at + "/permits", "{" + CALL + "}")
                        .json()
                        .get("limit")
                        .asString())
                .isEqualTo("itpm");
        assertThat(http.post(at + "/levels", "{\"limit\":\"nope\",\"to\":1,\"reason\":\"x\"}")
                        .kind())
                .isEqualTo("unknown_limit");
        assertThat(http.post(at + "/levels", "{\"limit\":\"itpm\",\"to\":1}").status())
                .isEqualTo(400);
    }

    @Test
    void usageEventsPlanAndMetricsAreTrueForJavaClientsToo() throws Exception {
        try (Http.Events events = http.events("GET", at + "/events", null, "Last-Event-ID", "0");
                Sluice sluice = Sluice.connect(RedisServers.shared().uri())) {
            Permit permit = sluice.project(project)
                    .acquire(
                            Call.of("claude-sonnet-5-5")
                                    .inputTokens(100)
                                    .agent("java-1")
                                    .team("research"),
                            Duration.ZERO);
            permit.settle(new Usage(90, 0, 0, 7));
            await().atMost(15, TimeUnit.SECONDS)
                    .until(() -> http.get(at + "/usage?by=agent").body().contains("java-1"));
            JsonNode row = http.get(at + "/usage?by=agent&step=hour")
                    .json()
                    .get("rows")
                    .get(0);
            assertThat(row.get("requests").asInt()).isEqualTo(1);
            assertThat(row.get("input_tokens").asInt()).isEqualTo(90);
            assertThat(row.get("output_tokens").asInt()).isEqualTo(7);
            Reply csv = http.get(at + "/usage?by=team&step=day&format=csv");
            assertThat(csv.header("content-type")).startsWith("text/csv");
            assertThat(csv.body()).startsWith("at,name,requests,").contains(",\"research\",1,90,0,0,7,");
            assertThat(http.get(at + "/usage?by=nobody").status()).isEqualTo(400);
            assertThat(http.get(at + "/usage?from=2020-01-01&to=2026-01-01").status())
                    .isEqualTo(400);

            Reply plan = http.get(at + "/plan?class=sonnet");
            assertThat(plan.status()).as(plan.body()).isEqualTo(200);
            assertThat(plan.json().get("source").asString()).isEqualTo("observed");

            await().atMost(10, TimeUnit.SECONDS)
                    .until(() -> events.named("permit").stream()
                            .anyMatch(event -> event.get("outcome").asString().equals("settled")));
            assertThat(events.named("policy")).isNotEmpty();
            String first = events.lines.stream()
                    .filter(line -> line.startsWith("id:"))
                    .findFirst()
                    .orElseThrow()
                    .substring(3);
            try (Http.Events resumed = http.events("GET", at + "/events", null, "Last-Event-ID", first)) {
                await().atMost(10, TimeUnit.SECONDS)
                        .until(() -> !resumed.named("permit").isEmpty());
                assertThat(resumed.named("policy")).as("only what came after").isEmpty();
            }

            settledOverHttp();
            String metrics = http.get("/actuator/prometheus").body();
            assertThat(metrics)
                    .contains("sluice_permits_total{class=\"sonnet\",outcome=\"settled\",project=\"" + project
                            + "\"} 1.0")
                    .contains("sluice_tokens_total{class=\"sonnet\",project=\"" + project + "\",type=\"input\"} 90.0")
                    .contains("sluice_wait_seconds_count{class=\"sonnet\",project=\"" + project
                            + "\",team=\"research\"} 1")
                    .contains("sluice_in_flight{project=\"" + project + "\",scope=\"p\"} 0.0")
                    .contains("sluice_waiters{class=\"sonnet\",project=\"" + project + "\"} 0.0")
                    .contains("sluice_level{limit=\"rpm\",project=\"" + project + "\",scope=\"c:sonnet\"}")
                    .contains("sluice_store_up 1.0")
                    .contains("sluice_script_seconds_count{script=\"acquire\"}")
                    .contains("sluice_script_seconds_count{script=\"settle\"}")
                    .contains("sluice_script_seconds_count{script=\"inspect\"}")
                    .contains("sluice_script_seconds_count{script=\"policy\"}")
                    .doesNotContain("java-1");
        }
    }

    /** A server tells the time of the scripts that it ran itself: the permit above was a Java client's. */
    private void settledOverHttp() {
        String permits = "/v1/projects/" + Policies.installed(http, "{rpm: 600}") + "/permits";
        String permit =
                http.post(permits, "{" + CALL + "}").json().get("permit").asString();
        assertThat(http.post(permits + "/" + permit + "/settle", "{}").status()).isEqualTo(200);
    }

    /** An id that is still to come, of a Redis that was set back, was waited for in silence. */
    @ParameterizedTest
    @ValueSource(strings = {"99999999999999999999", "18446744073709551615-1", "4102444800000-0", "what", "-1"})
    void whoAsksForWhatIsStillToComeHearsWhatHappensFromNowOn(String last) {
        try (Http.Events events = http.events("GET", at + "/events", null, "Last-Event-ID", last)) {
            await().atMost(10, TimeUnit.SECONDS)
                    .until(() -> !events.lines.isEmpty()); // the answer begins at once, though nothing happens
            http.post(at + "/hold", "{\"for_ms\":1,\"reason\":\"told\"}");
            await().atMost(10, TimeUnit.SECONDS)
                    .until(() -> events.named("hold").stream()
                            .anyMatch(told -> told.path("reason").asString("").equals("told")));
        }
        http.delete(at + "/hold");
    }

    /** A misspelt class released every hold of the project. */
    @Test
    void aParameterThatNobodyKnowsReleasesNothingAndTellsNothing() {
        http.post(at + "/hold", "{\"reason\":\"stays\"}");
        for (String query : new String[] {"?clas=sonnet", "?class=", "?class=a&class=b"}) {
            assertThat(http.delete(at + "/hold" + query).status()).as(query).isEqualTo(400);
        }
        assertThat(http.get(at + "/usage?form=csv").status()).isEqualTo(400);
        assertThat(http.get(at + "/plan?input_per_minute=many")
                        .json()
                        .get("detail")
                        .asString())
                .isEqualTo("/input_per_minute: must be a number, got 'many'");
        assertThat(http.get(at + "/status").json().get("holds").size()).isEqualTo(1);
        assertThat(http.delete(at + "/hold?scope=p").json().get("released").asBoolean())
                .isTrue();
    }

    /** Names that callers make up each left a client, a channel in Redis and a label behind, for ever. */
    @Test
    void ofAProjectThatThereIsNotNothingIsKept() {
        String nobodys = "/v1/projects/" + Policies.id() + "-nobodys";
        String call = "{\"model\":\"claude-sonnet-5-5\",\"input_tokens\":1}";
        assertThat(http.post(nobodys + "/permits", call).kind()).isEqualTo("no_project");
        assertThat(http.post(nobodys + "/permits/x/settle", "{}").kind()).isEqualTo("no_project");
        assertThat(http.post(nobodys + "/permits/x/renew", "").kind()).isEqualTo("no_project");
        assertThat(http.delete(nobodys + "/waits/x").kind()).isEqualTo("no_project");
        for (String part : new String[] {"", "/status", "/usage", "/events", "/plan", "/versions", "/versions/1"}) {
            assertThat(http.get(nobodys + part).kind()).as(part).isEqualTo("no_project");
        }
        assertThat(http.post(nobodys + "/hold", "{\"reason\":\"x\"}").kind()).isEqualTo("no_project");
        assertThat(http.delete(nobodys + "/hold").kind()).isEqualTo("no_project");
        assertThat(http.delete(nobodys).kind()).isEqualTo("no_project");
        assertThat(http.post(nobodys + "/rollback", "{\"to\":1}").kind()).isEqualTo("no_project");
        assertThat(http.get("/actuator/prometheus").body()).doesNotContain("-nobodys");
    }

    @Test
    void planDividesTheStatedAmountByWhatOneAgentUses() {
        Reply plan = http.get(at + "/plan?class=sonnet&input_per_minute=20000&requests_per_minute=4");
        assertThat(plan.json().get("agents_at_70").asInt()).isEqualTo(70);
        assertThat(plan.json().get("agents_at_80").asInt()).isEqualTo(80);
        assertThat(plan.json().get("binding").asString()).isEqualTo("itpm");
        assertThat(plan.json().get("source").asString()).isEqualTo("given");
        assertThat(http.get(at + "/plan?class=sonnet&input_per_minute=-1").status())
                .isEqualTo(400);
        assertThat(http.get(at + "/plan?class=opus&input_per_minute=1").kind()).isEqualTo("unknown_class");
        assertThat(http.get(at + "/plan?output_per_minute=1").kind()).isEqualTo("unlimited");
        assertThat(http.get(at + "/plan").kind()).isEqualTo("not_observed");
    }
}
