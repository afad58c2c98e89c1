package io.sluice.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.sluice.Call;
import io.sluice.Decision;
import io.sluice.Permit;
import io.sluice.Policy;
import io.sluice.Sluice;
import io.sluice.Usage;
import io.sluice.server.Http.Reply;
import io.sluice.testbed.redis.RedisServers;
import io.sluice.testbed.redis.WithRedis;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** Budgets that change while calls run, as two servers and a Java client see it. */
@WithRedis
@Timeout(120)
class LimitsMidFlightIT {
    private static final String MODEL = "claude-sonnet-5-5";
    private static final String CALL = "{\"model\":\"" + MODEL + "\",\"input_tokens\":10}";

    private static Started other;
    private final Http http = Started.shared().http;

    @BeforeAll
    static void start() {
        other = Started.on(RedisServers.shared().uri());
    }

    @AfterAll
    static void stop() {
        other.close();
    }

    private static String set(Http http, String project, String limits) {
        Reply set = http.put("/v1/projects/" + project, Policies.of(project, limits) + "headroom: 1\nburst: 60s\n");
        assertThat(set.status()).as(set.body()).isEqualTo(200);
        return "/v1/projects/" + project;
    }

    private static double level(Http http, String at, String limit) {
        return limit(http, at, limit).get("level").asDouble();
    }

    private static JsonNode limit(Http http, String at, String name) {
        return http.get(at + "/status")
                .json()
                .get("limits")
                .valueStream()
                .filter(one -> one.get("limit").asString().equals(name))
                .findFirst()
                .orElseThrow();
    }

    private static String take(Http http, String at, String call) {
        Reply granted = http.post(at + "/permits", call);
        assertThat(granted.status()).as(granted.body()).isEqualTo(201);
        return granted.json().get("permit").asString();
    }

    private static void settle(Http http, String at, String permit, long input) {
        Reply settled = http.post(
                at + "/permits/" + permit + "/settle",
                "{\"usage\":{\"input_tokens\":" + input + ",\"output_tokens\":1}}");
        assertThat(settled.status()).as(settled.body()).isEqualTo(200);
    }

    /** Requests under way wrote the settings they had begun with back over newer ones (BerriAI/litellm#25553). */
    @Test
    void callsThatEndUnderNewLimitsNeverBringTheOldOnesBack() {
        String project = Policies.id();
        String at = set(http, project, "{concurrency: 10}");
        List<String> running = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            running.add(take(i % 2 == 0 ? http : other.http, at, CALL));
        }
        set(other.http, project, "{concurrency: 2}");

        for (String permit : running) {
            assertThat(http.post(at + "/permits", CALL).kind()).isEqualTo("wait");
            assertThat(other.http.post(at + "/permits", CALL).kind()).isEqualTo("wait");
            settle(http, at, permit, 10);
            running = running.subList(1, running.size());
            if (running.size() < 2) {
                break;
            }
        }
        take(other.http, at, CALL);
        for (Http each : new Http[] {http, other.http}) {
            assertThat(each.post(at + "/permits", CALL).kind()).isEqualTo("wait");
            JsonNode slots = limit(each, at, "concurrency");
            assertThat(slots.get("amount").asInt()).isEqualTo(2);
            assertThat(slots.get("in_flight").asInt()).isEqualTo(2);
            assertThat(each.get(at + "/status").json().get("version").asInt()).isEqualTo(2);
            assertThat(each.get(at).body()).contains("\"concurrency\":2");
        }
    }

    /**
     * A limit below what was in use made a negative amount, and the task that gave permits back died of it
     * (resilience4j/resilience4j#2489).
     */
    @Test
    void limitsBelowWhatIsInUseClampWhatIsLeftAndLetRunningCallsEnd() {
        String project = Policies.id();
        String at = set(http, project, "{concurrency: 10, itpm: 100000, rpm: 600}");
        List<String> running = new ArrayList<>();
        List<String> debtors = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            running.add(take(http, at, CALL));
            debtors.add(take(other.http, at, CALL));
        }
        set(other.http, project, "{concurrency: 2, itpm: 10000, rpm: 60}");

        assertThat(level(http, at, "itpm")).isBetween(0.0, 10_000.0);
        assertThat(level(http, at, "rpm")).isBetween(0.0, 60.0);
        assertThat(level(http, at, "concurrency"))
                .as("no slot is free, none is owed")
                .isZero();
        for (String debtor : debtors) {
            settle(http, at, debtor, 30_000);
        }
        double owed = level(http, at, "itpm");
        assertThat(owed).as("of each one minute of the new limit").isBetween(-30_000.0, -20_000.0);
        set(http, project, "{concurrency: 2, itpm: 1000, rpm: 60}");
        assertThat(level(other.http, at, "itpm")).as("debt stays debt").isBetween(owed - 1, 0.0);
        set(http, project, "{concurrency: 2, itpm: 10000000, rpm: 60}");

        for (int left = running.size(); left > 2; left--) {
            assertThat(http.post(at + "/permits", CALL).kind()).isEqualTo("wait");
            settle(other.http, at, running.remove(0), 10);
        }
        await().atMost(15, TimeUnit.SECONDS).until(() -> level(http, at, "itpm") > 0);
        assertThat(http.post(at + "/permits", CALL).json().get("limit").asString())
                .as("two of two still run")
                .isEqualTo("concurrency");
        for (String permit : running) {
            assertThat(http.post(at + "/permits/" + permit + "/renew", "").status())
                    .isEqualTo(200);
            settle(http, at, permit, 10);
        }
        await().atMost(15, TimeUnit.SECONDS)
                .until(() -> http.post(at + "/permits", CALL).status() == 201);
    }

    /** New limits changed nothing for buckets that existed (bucket4j/bucket4j#261), or the old balance stayed (redisson/redisson#5098). */
    @Test
    void aRaisedLimitIsInForceEverywhereAndWhatWasUsedStaysUsed() {
        String project = Policies.id();
        String calls = "{calls: {amount: %d, per: 7d, window: rolling, of: requests}}";
        String at = set(http, project, calls.formatted(100));
        try (Sluice java = Sluice.connect(RedisServers.shared().uri())) {
            Call call = Call.of(MODEL).inputTokens(10);
            for (int i = 0; i < 90; i++) {
                Permit permit = ((Decision.Granted) java.project(project).tryAcquire(call)).permit();
                permit.settle(new Usage(10, 0, 0, 1));
            }
            assertThat(level(other.http, at, "calls")).isEqualTo(10);
            set(http, project, calls.formatted(200));

            assertThat(level(other.http, at, "calls")).isEqualTo(110);
            for (int i = 0; i < 110; i++) {
                if (i % 3 == 0) {
                    assertThat(java.project(project).tryAcquire(call)).isInstanceOf(Decision.Granted.class);
                } else {
                    take(i % 3 == 1 ? http : other.http, at, CALL);
                }
            }
            assertThat(java.project(project).tryAcquire(call)).isInstanceOf(Decision.Refused.class);
            assertThat(http.post(at + "/permits", CALL).json().get("limit").asString())
                    .isEqualTo("calls");
            assertThat(other.http.get(at + "/status").json().get("version").asInt())
                    .isEqualTo(2);
        }
    }

    /** A limit under one name of a model did not hold for calls by another that goes to the same (BerriAI/litellm#35486). */
    @Test
    void whateverNameAModelIsCalledByItsBudgetIsOne() {
        String project = Policies.id();
        String at = "/v1/projects/" + project;
        String policy = """
                project: %s
                provider: generic
                classes:
                  - {name: big, models: [fast, "group-b", "provider-model-*"], limits: {concurrency: 1}}
                  - {name: small, models: [%s], limits: {concurrency: 1}}
                """;
        http.put(at, policy.formatted(project, "tiny"));
        String permit = take(http, at, call("fast"));
        for (String name : new String[] {"fast", "group-b", "provider-model-x", "PROVIDER-MODEL-X"}) {
            assertThat(other.http
                            .post(at + "/permits", call(name))
                            .json()
                            .get("limit")
                            .asString())
                    .as(name)
                    .isEqualTo("concurrency");
        }

        // From now on it is another class's: what runs ends where it was charged.
        http.put(
                at,
                policy.formatted(project, "tiny, solo").replace("fast, ", "").replace("[tiny", "[fast, tiny"));
        String small = take(other.http, at, call("fast"));
        assertThat(http.post(at + "/permits", call("group-b")).kind()).isEqualTo("wait");
        other.http.post(at + "/permits/" + permit + "/settle", "{}");
        take(http, at, call("group-b"));
        assertThat(http.post(at + "/permits", call("tiny")).kind()).isEqualTo("wait");
        http.delete(at + "/permits/" + small);
        take(http, at, call("tiny"));
    }

    private static String call(String model) {
        return "{\"model\":\"" + model + "\",\"input_tokens\":1}";
    }

    /** Who makes keys makes budgets where the key is what is limited (liwala/ay-framework#66): here it is the project. */
    @Test
    void allTokensOfAProjectAndOneThatReplacesAnotherDrawOnOneBudget(@TempDir Path directory) throws IOException {
        try (Secured secured = new Secured(directory)) {
            String at = set(secured.root, Policies.id(), "{concurrency: 3}");
            String first = take(secured.one, at, CALL);
            take(secured.two, at, CALL);
            Path file = directory.resolve("tokens.yaml");
            String old = Files.readString(file);
            Files.writeString(
                    file, old.replace(Secured.hash(Secured.token("one")), Secured.hash(Secured.token("new"))));
            Http rotated = secured.server.http.with(Secured.token("new"));
            await().atMost(20, TimeUnit.SECONDS)
                    .until(() -> rotated.get("/v1/me").status() == 200);

            assertThat(secured.one.post(at + "/permits", CALL).status()).isEqualTo(401);
            take(rotated, at, CALL);
            assertThat(rotated.post(at + "/permits", CALL).kind()).isEqualTo("wait");
            assertThat(secured.two.post(at + "/permits", CALL).kind()).isEqualTo("wait");
            settle(rotated, at, first, 1);
            take(secured.two, at, CALL);
        }
    }

    /** Two rules of one user wrote the same key (parse-community/parse-server#10624). */
    @Test
    void namesThatReadAlikeWhenPutTogetherAreApart() {
        String project = Policies.id();
        String at = "/v1/projects/" + project;
        Reply set = http.put(at, """
                project: %s
                provider: generic
                classes: [{name: "c", models: ["c"]}, {name: "b:c", models: ["b:c"]}]
                each: [{by: agent, limits: {concurrency: 1}}, {by: team, limits: {concurrency: 1}}, {by: run, limits: {concurrency: 1}}]
                teams:
                  - {name: "a:b", classes: [{name: "c", limits: {concurrency: 1}}]}
                  - {name: "a", classes: [{name: "b:c", limits: {concurrency: 1}}]}
                """.formatted(project));
        assertThat(set.status()).as(set.body()).isEqualTo(200);

        take(http, at, "{\"model\":\"c\",\"input_tokens\":1,\"team\":\"a:b\",\"agent\":\"x\",\"run\":\"y\"}");
        take(http, at, "{\"model\":\"b:c\",\"input_tokens\":1,\"team\":\"a\",\"agent\":\"y\",\"run\":\"x\"}");
        assertThat(http.get(at + "/status").json().get("in_flight").get("p").asInt())
                .isEqualTo(2);
        // The project p:x and its neighbour: nothing of one is the other's.
        String near = project + ".x";
        String atNear = "/v1/projects/" + near;
        http.put(atNear, Policies.of(near, "{concurrency: 1}"));
        take(http, atNear, CALL);
        assertThat(http.get(at + "/status").json().get("in_flight").get("p").asInt())
                .isEqualTo(2);
    }

    /** 0 was taken for unset and unset for 0 (BerriAI/litellm#39881, ncecere/terraform-provider-litellm#31). */
    @ParameterizedTest
    @CsvSource({
        "rpm, itpm",
        "itpm, rpm",
        "otpm, rpm",
        "tpm, rpm",
        "rpd, rpm",
        "tpd, rpm",
        "concurrency, rpm",
        "agents, rpm",
    })
    void zeroNullAbsentNegativeAndVeryLargeMeanTheSameByFileAndByHttp(
            String limit, String beside, @TempDir Path directory) throws IOException {
        String project = Policies.id();
        String at = "/v1/projects/" + project;
        String owned = Policies.id();
        Path file = directory.resolve("a.yaml");
        Files.writeString(file, Policies.of(owned, "{" + limit + ": 0, " + beside + ": 600}"));
        Policy read = Policy.load(file);

        set(http, project, "{" + limit + ": 0, " + beside + ": 600}");
        JsonNode limits = http.get(at).json().get("classes").get(0).get("limits");
        assertThat(limits.get(limit).asInt(-1)).isZero();
        assertThat(read.toJson()).contains("\"" + limit + "\":0");
        Reply no = http.post(at + "/permits", CALL);
        assertThat(no.status()).isEqualTo(422);
        assertThat(no.kind()).isEqualTo("closed");
        assertThat(no.json().get("limit").asString()).isEqualTo(limit);
        assertThat(no.headers()).doesNotContainKey("retry-after");

        for (String open : new String[] {"{" + limit + ": null, " + beside + ": 600}", "{" + beside + ": 600}"}) {
            set(http, project, open);
            take(http, at, CALL);
            assertThat(http.get(at).json().get("classes").get(0).get("limits").has(limit))
                    .isFalse();
        }
        set(http, project, "{" + limit + ": 1000000, " + beside + ": 600}");
        // From nothing to a million gives nothing at once.
        take(http, at, "{\"model\":\"" + MODEL + "\",\"input_tokens\":10,\"max_wait_ms\":10000}");
        Reply negative = http.put(at, Policies.of(project, "{" + limit + ": -1}"));
        assertThat(negative.status()).isEqualTo(400);
        assertThat(negative.json().get("problems").get(0).get("path").asString())
                .isEqualTo("/classes/0/limits/" + limit);
        assertThat(http.get(at)
                        .json()
                        .get("classes")
                        .get(0)
                        .get("limits")
                        .get(limit)
                        .asInt())
                .as("nothing was changed")
                .isEqualTo(1_000_000);
    }
}
