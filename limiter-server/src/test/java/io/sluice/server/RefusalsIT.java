package io.sluice.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.sluice.server.Http.Reply;
import io.sluice.testbed.redis.WithRedis;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** Every "no" to a permit: what it is called, and whether and how long to wait. */
@Tag("contract")
@WithRedis
class RefusalsIT {
    private static final String MODEL = "\"model\":\"claude-sonnet-5-5\",\"input_tokens\":10";
    private static final String CALL = "{" + MODEL + "}";

    private final Http http = Started.shared().http;

    private static String permits(String project) {
        return "/v1/projects/" + project + "/permits";
    }

    private String installed(String policy) {
        String project = Policies.id();
        Reply set = http.put("/v1/projects/" + project, "project: " + project + "\n" + policy);
        assertThat(set.status()).as(set.body()).isEqualTo(200);
        return project;
    }

    private Reply taken(String project) {
        Reply granted = http.post(permits(project), CALL);
        assertThat(granted.status()).as(granted.body()).isEqualTo(201);
        return granted;
    }

    private long waiters(String project) {
        return http.get("/v1/projects/" + project + "/status")
                .json()
                .get("waiters")
                .asLong();
    }

    private static void assertLater(Reply no, String kind) {
        assertThat(no.status()).as(no.body()).isEqualTo(429);
        assertThat(no.kind()).isEqualTo(kind);
        assertThat(no.json().propertyNames()).contains("limit", "retry_after_ms", "estimate", "queue_position");
        long ms = no.json().get("retry_after_ms").asLong();
        assertThat(ms).isPositive();
        assertThat(no.header("retry-after")).isEqualTo(Long.toString((ms + 999) / 1_000));
    }

    private static void assertNever(Reply no, String kind) {
        assertThat(no.status()).as(no.body()).isEqualTo(422);
        assertThat(no.kind()).isEqualTo(kind);
        assertThat(no.headers()).doesNotContainKey("retry-after");
        assertThat(no.json().has("retry_after_ms")).isFalse();
    }

    /**
     * Limiters rounded their hint down, and who waited as told was refused again (brandur/redis-cell#56, zulip/zulip#39879); an
     * agent that gets no hint retries blindly, and one that is told of hours stops at once (digitallyinduced/haskell-agent#1300).
     */
    @ParameterizedTest
    @CsvSource({
        // calls, per, so one each, s of the hint
        "5, 2s, 400ms, 1",
        "1, 1900ms, 1900ms, 2",
        "1, 59700ms, 59700ms, 60",
        "1, 7h, 7h, 25200",
    })
    void theHintIsTheWaitInWholeSecondsRoundedUp(int amount, String per, String each, int seconds) {
        String project = installed("""
                provider: generic
                headroom: 1
                classes: [{name: all, models: ["*"], limits:
                  {calls: {amount: %d, per: %s, burst: %s, window: refill, of: requests}}}]
                """.formatted(amount, per, each));
        taken(project);

        Reply no = http.post(permits(project), CALL);
        assertLater(no, "wait");
        assertThat(no.json().get("limit").asString()).isEqualTo("calls");
        assertThat(no.json().get("estimate").asBoolean()).isFalse();
        assertThat(Integer.parseInt(no.header("retry-after"))).isBetween(Math.max(1, seconds - 5), seconds);
    }

    @Test
    void whoWaitsAsLongAsToldIsAdmitted() {
        String project = installed("""
                provider: generic
                headroom: 1
                classes: [{name: all, models: ["*"], limits:
                  {calls: {amount: 10, per: 9s, burst: 900ms, window: refill, of: requests}}}]
                """);
        taken(project);
        for (int i = 0; i < 3; i++) {
            long ms = http.post(permits(project), CALL)
                    .json()
                    .get("retry_after_ms")
                    .asLong();
            long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ms);
            await().pollInterval(1, TimeUnit.MILLISECONDS).until(() -> System.nanoTime() >= until);
            taken(project);
        }
    }

    @Test
    void whoWouldWaitTooLongIsToldAtOnceAndWhoWaitedInVainAtItsDeadline() {
        String rate = installed("""
                provider: generic
                headroom: 1
                classes: [{name: all, models: ["*"], limits:
                  {calls: {amount: 1, per: 20s, burst: 20s, window: refill, of: requests}}}]
                """);
        taken(rate);
        long started = System.nanoTime();
        assertLater(http.post(permits(rate), "{" + MODEL + ",\"max_wait_ms\":2000}"), "deadline");
        assertThat(System.nanoTime() - started)
                .as("an exact wait that is too long is not waited for")
                .isLessThan(TimeUnit.MILLISECONDS.toNanos(1_900));

        String slots = Policies.installed(http, "{concurrency: 1}");
        taken(slots);
        Reply no = http.post(permits(slots), "{" + MODEL + ",\"max_wait_ms\":400}");
        assertLater(no, "deadline");
        assertThat(no.json().get("limit").asString()).isEqualTo("concurrency");
        assertThat(no.json().get("estimate").asBoolean())
                .as("nobody knows when a call ends")
                .isTrue();
        assertThat(waiters(slots)).isZero();
    }

    /** A proxy slept an hour for a caller that gave up every five minutes (anthony-chaudhary/fak#2258). */
    @Test
    void aHoldThatOutlastsTheCallIsToldAtOnceWithItsTrueLength() {
        String project = Policies.installed(http, "{rpm: 600}");
        http.post("/v1/projects/" + project + "/hold", "{\"for_ms\":3600000,\"reason\":\"maintenance\"}");
        long started = System.nanoTime();
        Reply no = http.post(permits(project), "{" + MODEL + ",\"max_wait_ms\":300000}");

        assertThat(System.nanoTime() - started).isLessThan(TimeUnit.SECONDS.toNanos(5));
        assertLater(no, "hold");
        assertThat(Integer.parseInt(no.header("retry-after"))).isBetween(3_590, 3_600);
        assertThat(waiters(project)).isZero();
    }

    @Test
    void nobodyWaitsLongerThanThePolicySays() {
        String project = installed("""
                provider: generic
                queue: {max_wait: 1s}
                classes: [{name: all, models: ["*"], limits: {concurrency: 1}}]
                """);
        taken(project);
        long started = System.nanoTime();
        Reply no = http.post(permits(project), "{" + MODEL + ",\"max_wait_ms\":14400000}");

        assertLater(no, "deadline");
        assertThat(System.nanoTime() - started)
                .isBetween(TimeUnit.MILLISECONDS.toNanos(990), TimeUnit.SECONDS.toNanos(10));
    }

    /** A local wait looked like a provider's failure: healthy accounts were marked bad (diegosouzapw/OmniRoute#9164). */
    @Test
    void ourOwnNoIsNoneOfTheProviders() {
        String project = Policies.installed(http, "{rpm: {amount: 1, burst: 60s, headroom: 1}}");
        taken(project);
        for (int i = 0; i < 5; i++) {
            assertLater(http.post(permits(project), CALL), "wait");
        }
        await().atMost(15, TimeUnit.SECONDS)
                .until(() -> http.get("/actuator/prometheus")
                        .body()
                        .contains("sluice_permits_total{class=\"sonnet\",outcome=\"refused\",project=\"" + project
                                + "\"} 5.0"));

        JsonNode status = http.get("/v1/projects/" + project + "/status").json();
        assertThat(status.get("holds").isEmpty()).isTrue();
        assertThat(status.get("rejections").isEmpty()).isTrue();
        assertThat(http.get("/actuator/prometheus").body())
                .doesNotContainPattern("sluice_rejections_total\\{[^}]*" + project);
    }

    @Test
    void aFullLineTakesNobodyMoreAndNoAgentHalfOfIt() {
        String project = installed("""
                provider: generic
                queue: {max_waiters: 4}
                classes: [{name: all, models: ["*"], limits: {concurrency: 1}}]
                """);
        taken(project);
        List<CompletableFuture<Reply>> waiting = new ArrayList<>();
        for (String agent : new String[] {"a", "a", "b", "c"}) {
            waiting.add(http.later(permits(project), patient(agent)));
            await().atMost(15, TimeUnit.SECONDS).until(() -> waiters(project) == waiting.size());
            if (waiting.size() == 2) {
                assertLater(http.post(permits(project), patient("a")), "queue_full");
            }
        }

        assertLater(http.post(permits(project), patient("d")), "queue_full");
        assertThat(waiting).noneMatch(CompletableFuture::isDone);
        waiting.forEach(one -> one.cancel(true));
        await().atMost(15, TimeUnit.SECONDS).until(() -> waiters(project) == 0);
    }

    private static String patient(String agent) {
        return "{" + MODEL + ",\"agent\":\"" + agent + "\",\"max_wait_ms\":25000}";
    }

    @Test
    void namesThatCallersMakeUpAreBounded() {
        String project = installed("""
                provider: generic
                classes: [{name: all, models: ["*"], limits: {concurrency: 10}}]
                each: [{by: run, limits: {concurrency: 1}, max: 2}]
                """);
        for (String run : new String[] {"r1", "r2"}) {
            assertThat(http.post(permits(project), "{" + MODEL + ",\"run\":\"" + run + "\"}")
                            .status())
                    .isEqualTo(201);
        }

        assertLater(http.post(permits(project), "{" + MODEL + ",\"run\":\"r3\"}"), "queue_full");
        assertLater(http.post(permits(project), "{" + MODEL + ",\"run\":\"r1\"}"), "wait");
    }

    @Test
    void aModelWithoutAPriceIsRefusedWhereMoneyIsCounted() {
        String project = installed("""
                provider: generic
                classes: [{name: all, models: ["*"]}]
                limits: {usd: {amount: 500, per: month}}
                prices: {"claude-*": {input: 3, output: 15}}
                """);

        taken(project);
        Reply no = http.post(permits(project), "{\"model\":\"gpt-9\",\"input_tokens\":10,\"max_wait_ms\":25000}");
        assertNever(no, "unpriced");
        assertThat(no.json().get("limit").asString()).isEqualTo("usd");
    }

    @ParameterizedTest
    @CsvSource({
        "never, '{itpm: 1000}', claude-sonnet-5-5, 1001",
        "closed, '{rpm: 0}', claude-sonnet-5-5, 1",
        "closed, '{concurrency: 0}', claude-sonnet-5-5, 1",
        "closed, '{otpm: 0}', claude-sonnet-5-5, 1",
        "unknown_model, '{rpm: 100}', gpt-9, 1",
    })
    void whatWaitingCannotMendIsSaidAtOnceHoweverLongTheCallMayWait(
            String kind, String limits, String model, int tokens) {
        String project = Policies.installed(http, limits);
        String call = "{\"model\":\"" + model + "\",\"input_tokens\":" + tokens
                + ",\"max_wait_ms\":600000,\"max_output_tokens\":1}";

        assertNever(http.post(permits(project), call), kind);
    }

    @Test
    void inShadowModeNobodyWaitsAndWhatWouldHaveIsCounted() {
        String project = installed("""
                provider: generic
                mode: shadow
                classes: [{name: all, models: ["*"], limits: {concurrency: 1}}]
                """);
        for (int i = 0; i < 3; i++) {
            taken(project);
        }

        JsonNode status = http.get("/v1/projects/" + project + "/status").json();
        assertThat(status.get("mode").asString()).isEqualTo("shadow");
        assertThat(status.get("in_flight").get("p").asInt()).isEqualTo(3);
        await().atMost(10, TimeUnit.SECONDS)
                .until(() -> http.get("/actuator/prometheus")
                        .body()
                        .contains("sluice_rare_total{event=\"shadowed\",project=\"" + project + "\"} 2.0"));
        Reply nobodysModel = http.post(permits(project), "{\"model\":\"none\",\"input_tokens\":1}");
        assertThat(nobodysModel.status()).as("it admits everything").isEqualTo(201);
    }
}
