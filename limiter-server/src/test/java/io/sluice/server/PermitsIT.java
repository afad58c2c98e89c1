package io.sluice.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.sluice.Call;
import io.sluice.Permit;
import io.sluice.Sluice;
import io.sluice.server.Http.Reply;
import io.sluice.testbed.redis.RedisServers;
import io.sluice.testbed.redis.WithRedis;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Permits for agents in any language, as the contract words them. */
@Tag("contract")
@WithRedis
class PermitsIT {
    private static final String CALL = "\"model\":\"claude-sonnet-5-5\",\"input_tokens\":100";

    private final Http http = Started.shared().http;

    private String permits(String project) {
        return "/v1/projects/" + project + "/permits";
    }

    @Test
    void aPermitIsGrantedRenewedAndSettledOnce() {
        String project = Policies.installed(http, "{rpm: 600, itpm: 100000, concurrency: 2}");
        Reply granted = http.post(
                permits(project),
                "{" + CALL + ",\"id\":\"one\",\"agent\":\"a/1\",\"team\":\"research\",\"lease_ms\":5000}");
        assertThat(granted.status()).isEqualTo(201);
        JsonNode permit = granted.json();
        assertThat(permit.propertyNames())
                .containsExactlyInAnyOrder("permit", "id", "class", "waited_ms", "lease_ms", "reserved", "degraded");
        assertThat(permit.get("id").asString()).isEqualTo("one");
        assertThat(permit.get("class").asString()).isEqualTo("sonnet");
        assertThat(permit.get("lease_ms").asLong()).isEqualTo(5_000);
        assertThat(permit.get("degraded").asBoolean()).isFalse();
        assertThat(permit.get("reserved").toString())
                .isEqualTo("{\"requests\":1,\"input\":100,\"cache_read\":0,\"cache_write\":0,\"output\":100}");
        String name = permits(project) + "/" + permit.get("permit").asString();

        Reply renewed = http.post(name + "/renew", "");
        assertThat(renewed.status()).isEqualTo(200);
        assertThat(renewed.json().get("lease_ms").asLong()).isEqualTo(5_000);

        Reply settled = http.post(name + "/settle", "{\"usage\":{\"input_tokens\":80,\"output_tokens\":10}}");
        assertThat(settled.status()).isEqualTo(200);
        assertThat(settled.body())
                .isEqualTo(
                        "{\"ended\":\"settled\",\"already\":false,\"charged\":{\"requests\":1,\"input\":80,\"cache_read\":0,"
                                + "\"cache_write\":0,\"output\":10},\"advice\":{\"action\":\"done\",\"wait_ms\":null,\"kind\":null,"
                                + "\"scope\":null}}");
        Reply again = http.post(name + "/settle", "{\"usage\":{\"input_tokens\":99,\"output_tokens\":99}}");
        assertThat(again.json().get("already").asBoolean()).isTrue();
        assertThat(again.json().get("charged").get("input").asLong()).isEqualTo(80);
        assertThat(http.post(name + "/renew", "").kind()).isEqualTo("gone");
        assertThat(http.post(name + "/renew", "").status()).isEqualTo(410);
    }

    @Test
    void aPermitIsCancelledOnceAndAnUnknownOneIsNotFound() {
        String project = Policies.installed(http, "{concurrency: 1}");
        String name = permits(project) + "/"
                + http.post(permits(project), "{" + CALL + "}")
                        .json()
                        .get("permit")
                        .asString();
        Reply cancelled = http.delete(name);
        assertThat(cancelled.status()).isEqualTo(200);
        assertThat(cancelled.json().get("ended").asString()).isEqualTo("cancelled");
        assertThat(cancelled.json().get("already").asBoolean()).isFalse();
        assertThat(http.delete(name).json().get("already").asBoolean()).isTrue();
        assertThat(http.post(permits(project), "{" + CALL + "}").status()).isEqualTo(201);

        String nobody = permits(project) + "/AAAAAAAAAAAAAAAAAAAAAAAA";
        assertThat(http.delete(nobody).status()).isEqualTo(404);
        assertThat(http.delete(nobody).kind()).isEqualTo("unknown");
        assertThat(http.post(nobody + "/settle", "{}").status()).isEqualTo(404);
        assertThat(http.post(nobody + "/renew", "").status()).isEqualTo(410);
    }

    @Test
    void theSameIdIsTheSamePermitWhileItLivesAndEndedAfterwards() {
        String project = Policies.installed(http, "{concurrency: 2}");
        String body = "{" + CALL + ",\"id\":\"job-1\",\"agent\":\"x\"}";
        Reply first = http.post(permits(project), body);
        Reply again = http.post(permits(project), body);
        assertThat(first.status()).isEqualTo(201);
        assertThat(again.status()).isEqualTo(200);
        assertThat(again.json().get("permit")).isEqualTo(first.json().get("permit"));

        Reply other = http.post(permits(project), "{" + CALL + ",\"id\":\"job-1\",\"agent\":\"y\"}");
        assertThat(other.status()).isEqualTo(409);
        assertThat(other.kind()).isEqualTo("conflict");
        Reply larger = http.post(
                permits(project),
                "{\"model\":\"claude-sonnet-5-5\",\"input_tokens\":101,\"id\":\"job-1\",\"agent\":\"x\"}");
        assertThat(larger.kind()).isEqualTo("conflict");

        http.delete(permits(project) + "/" + first.json().get("permit").asString());
        Reply ended = http.post(permits(project), body);
        assertThat(ended.status()).isEqualTo(409);
        assertThat(ended.kind()).isEqualTo("ended");
    }

    /** Two callers used one id and were merged in one entry: the first to finish released both slots (BerriAI/litellm#36459). */
    @Test
    void anIdThatTwoCallersChooseIsOneSlotOfOneOfThem() {
        String project = Policies.installed(http, "{concurrency: 2}");
        String permit = http.post(permits(project), "{" + CALL + ",\"id\":\"job-1\",\"agent\":\"x\"}")
                .json()
                .get("permit")
                .asString();
        assertThat(http.post(permits(project), "{" + CALL + ",\"id\":\"job-1\",\"agent\":\"y\"}")
                        .status())
                .isEqualTo(409);
        assertThat(http.post(permits(project), "{" + CALL + ",\"id\":\"job-2\",\"agent\":\"y\"}")
                        .status())
                .isEqualTo(201);
        http.post(permits(project) + "/" + permit + "/settle", "{}");
        assertThat(http.post(permits(project), "{" + CALL + "}").status()).isEqualTo(201);
        assertThat(http.post(permits(project), "{" + CALL + "}").status()).isEqualTo(429);
    }

    @Test
    void aCallThatDoesNotFitNowIsToldHowLongToWaitInWholeSeconds() {
        String project = Policies.installed(http, "{rpm: {amount: 30, burst: 2s}}");
        assertThat(http.post(permits(project), "{" + CALL + "}").status()).isEqualTo(201);
        Reply no = http.post(permits(project), "{" + CALL + "}");
        assertThat(no.status()).isEqualTo(429);
        assertThat(no.kind()).isEqualTo("wait");
        assertThat(no.json().get("limit").asString()).isEqualTo("rpm");
        assertThat(no.json().get("estimate").asBoolean()).isFalse();
        long ms = no.json().get("retry_after_ms").asLong();
        assertThat(ms).isBetween(1L, 2_300L);
        assertThat(no.header("retry-after")).isEqualTo(Long.toString((ms + 999) / 1_000));
        assertThat(no.json().has("queue_position")).isTrue();
    }

    @Test
    void aCallThatCannotBeServedIsToldSoWithoutAHintToRetry() {
        String project = Policies.installed(http, "{itpm: 1000, rpm: 100}");
        Reply never = http.post(permits(project), "{\"model\":\"claude-sonnet-5-5\",\"input_tokens\":5000}");
        assertThat(never.status()).isEqualTo(422);
        assertThat(never.kind()).isEqualTo("never");
        assertThat(never.headers()).doesNotContainKey("retry-after");
        Reply unknown = http.post(permits(project), "{\"model\":\"gpt-9\",\"input_tokens\":5}");
        assertThat(unknown.status()).isEqualTo(422);
        assertThat(unknown.kind()).isEqualTo("unknown_model");
        String closed = Policies.installed(http, "{rpm: 0}");
        assertThat(http.post(permits(closed), "{" + CALL + "}").kind()).isEqualTo("closed");
        Reply nowhere = http.post(permits("no-such-project"), "{" + CALL + "}");
        assertThat(nowhere.status()).isEqualTo(404);
        assertThat(nowhere.kind()).isEqualTo("no_project");
    }

    @Test
    void aCallWaitsInLineWithJavaAgentsAndIsGrantedWhenTheyEnd() throws Exception {
        String project = Policies.installed(http, "{concurrency: 1}");
        try (Sluice sluice = Sluice.connect(RedisServers.shared().uri())) {
            Permit java =
                    sluice.project(project).acquire(Call.of("claude-sonnet-5-5").inputTokens(10), Duration.ZERO);
            CompletableFuture<Reply> waiting =
                    http.later(permits(project), "{" + CALL + ",\"id\":\"w\",\"max_wait_ms\":20000}");
            await().atMost(10, TimeUnit.SECONDS).until(() -> waiters(project) == 1);
            java.settle(new io.sluice.Usage(1, 0, 0, 1));
            Reply granted = waiting.get(10, TimeUnit.SECONDS);
            assertThat(granted.status()).isEqualTo(201);
            assertThat(granted.json().get("waited_ms").asLong()).isPositive();
        }
    }

    @Test
    void whoHangsUpLeavesTheLine() {
        String project = Policies.installed(http, "{concurrency: 1}");
        http.post(permits(project), "{" + CALL + "}");
        CompletableFuture<Reply> waiting = http.later(permits(project), "{" + CALL + ",\"max_wait_ms\":25000}");
        await().atMost(10, TimeUnit.SECONDS).until(() -> waiters(project) == 1);
        waiting.cancel(true);
        await().atMost(10, TimeUnit.SECONDS).until(() -> waiters(project) == 0);
    }

    @Test
    void aWaitIsEndedByItsIdAndItsPostSaysCancelled() throws Exception {
        String project = Policies.installed(http, "{concurrency: 1}");
        http.post(permits(project), "{" + CALL + "}");
        CompletableFuture<Reply> waiting =
                http.later(permits(project), "{" + CALL + ",\"id\":\"w-1\",\"agent\":\"a\",\"max_wait_ms\":25000}");
        await().atMost(10, TimeUnit.SECONDS).until(() -> waiters(project) == 1);
        assertThat(http.delete("/v1/projects/" + project + "/waits/w-1").status())
                .isEqualTo(204);
        Reply cancelled = waiting.get(10, TimeUnit.SECONDS);
        assertThat(cancelled.status()).isEqualTo(409);
        assertThat(cancelled.kind()).isEqualTo("cancelled");
        assertThat(http.delete("/v1/projects/" + project + "/waits/w-1").status())
                .isEqualTo(404);
    }

    /** Another question with its id has come and gone, from the same agent or from one that may not have it. */
    @ParameterizedTest
    @CsvSource({"a,429", "b,409"})
    void soIsAWaitThatAnotherAskedForAsWell(String agent, int status) throws Exception {
        String project = Policies.installed(http, "{concurrency: 1}");
        http.post(permits(project), "{" + CALL + "}");
        String question = "{" + CALL + ",\"id\":\"w-1\",\"agent\":\"%s\",\"max_wait_ms\":%d}";
        CompletableFuture<Reply> waiting = http.later(permits(project), question.formatted("a", 25_000));
        await().atMost(10, TimeUnit.SECONDS).until(() -> waiters(project) == 1);
        assertThat(http.post(permits(project), question.formatted(agent, 50)).status())
                .isEqualTo(status);
        assertThat(http.delete("/v1/projects/" + project + "/waits/w-1").status())
                .isEqualTo(204);
        assertThat(waiting.get(10, TimeUnit.SECONDS).kind()).isEqualTo("cancelled");
    }

    @Test
    void aStreamTellsThePlaceInLineAndThenThePermit() {
        String project = Policies.installed(http, "{concurrency: 1}");
        String permit = http.post(permits(project), "{" + CALL + "}")
                .json()
                .get("permit")
                .asString();
        try (Http.Events stream = http.events(
                "POST", permits(project), "{" + CALL + ",\"max_wait_ms\":20000}", "Accept", "text/event-stream")) {
            await().atMost(10, TimeUnit.SECONDS)
                    .until(() -> !stream.named("waiting").isEmpty());
            JsonNode told = stream.named("waiting").get(0);
            assertThat(told.get("position").asInt()).isEqualTo(1);
            assertThat(told.get("limit").asString()).isEqualTo("concurrency");
            assertThat(told.get("wait_ms").asLong()).isPositive();
            http.delete(permits(project) + "/" + permit);
            await().atMost(10, TimeUnit.SECONDS).until(() -> stream.ended);
            assertThat(stream.named("granted")).hasSize(1);
            assertThat(stream.named("granted").get(0).get("permit").asString()).isNotEmpty();
        }
    }

    @Test
    void aStreamThatIsRefusedSaysSoWithTheSameBody() {
        String project = Policies.installed(http, "{rpm: 0}");
        try (Http.Events stream = http.events(
                "POST", permits(project), "{" + CALL + ",\"max_wait_ms\":20000}", "Accept", "text/event-stream")) {
            await().atMost(10, TimeUnit.SECONDS).until(() -> stream.ended);
            assertThat(stream.named("refused").get(0).get("kind").asString()).isEqualTo("closed");
            assertThat(stream.named("refused").get(0).get("status").asInt()).isEqualTo(422);
        }
    }

    @Test
    void aStreamWhoseReaderHangsUpLeavesTheLine() {
        String project = Policies.installed(http, "{concurrency: 1}");
        http.post(permits(project), "{" + CALL + "}");
        Http.Events stream = http.events(
                "POST", permits(project), "{" + CALL + ",\"max_wait_ms\":25000}", "Accept", "text/event-stream");
        await().atMost(10, TimeUnit.SECONDS).until(() -> waiters(project) == 1);
        stream.close();
        await().atMost(10, TimeUnit.SECONDS).until(() -> waiters(project) == 0);
    }

    @Test
    void theProvidersRefusalIsReadAndAdvised() {
        String project = Policies.installed(http, "{rpm: 600, concurrency: 4}");
        String permit = http.post(permits(project), "{" + CALL + "}")
                .json()
                .get("permit")
                .asString();
        Reply told = http.post(permits(project) + "/" + permit + "/settle", """
                {"status": 429, "headers": {"retry-after": "7", "request-id": ["a", "b"]},
                 "body": "{\\"type\\":\\"error\\",\\"error\\":{\\"type\\":\\"rate_limit_error\\",\\"message\\":\\"slow down\\"}}"}
                """);
        assertThat(told.status()).isEqualTo(200);
        assertThat(told.json().get("ended").asString()).isEqualTo("throttled");
        JsonNode advice = told.json().get("advice");
        assertThat(advice.get("action").asString()).isEqualTo("retry");
        assertThat(advice.get("wait_ms").asLong()).isBetween(6_000L, 8_000L);
        assertThat(advice.get("kind").asString()).isEqualTo("requests");
        Reply held = http.post(permits(project), "{" + CALL + "}");
        assertThat(held.status()).isEqualTo(429);
        assertThat(held.kind()).isEqualTo("hold");
        assertThat(Integer.parseInt(held.header("retry-after"))).isBetween(5, 8);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
                    {                                                              | ``
                    []                                                             | ``
                    {"input_tokens":1}                                             | /model
                    {"model":"m"}                                                  | /input_tokens
                    {"model":"m","input_tokens":1,"input_bytes":1}                 | /input_tokens
                    {"model":"m","input_tokens":-1}                                | /input_tokens
                    {"model":"m","input_tokens":1.5}                               | /input_tokens
                    {"model":"m","input_tokens":"1"}                               | /input_tokens
                    {"model":"m","input_tokens":1000000001}                        | /input_tokens
                    {"model":"m","input_tokens":99999999999999999999}              | /input_tokens
                    {"model":"m","input_tokens":1,"input_tokens":2}                | ``
                    {"model":"m","input_tokens":1,"priority":"urgent"}             | /priority
                    {"model":"m","input_tokens":1,"agent":"a b"}                   | /agent
                    {"model":"m","input_tokens":1,"team":""}                       | /team
                    {"model":"m","input_tokens":1,"id":"a\\u0000b"}                | /id
                    {"model":"m","input_tokens":1,"lease_ms":999}                  | /lease_ms
                    {"model":"m","input_tokens":1,"max_wait_ms":-1}                | /max_wait_ms
                    {"model":"m","input_tokens":1,"max_output_token":5}            | /max_output_token
                    """)
    void aBodyThatIsWrongIsRefusedNamingTheMember(String body, String path) {
        String project = Policies.installed(http, "{rpm: 600}");
        Reply no = http.post(permits(project), body);
        assertThat(no.status()).as(no.body()).isEqualTo(400);
        assertThat(no.kind()).isEqualTo("invalid");
        JsonNode problem = no.json().get("problems").get(0);
        assertThat(problem.get("path").asString()).isEqualTo(path);
        assertThat(problem.get("message").asString()).as("what Java calls it").doesNotContain("inputTokens");
    }

    @Test
    void whatIsTooLargeIsRefused() {
        String project = Policies.installed(http, "{rpm: 600}");
        Reply body = http.post(permits(project), "{" + CALL + ",\"id\":\"" + "x".repeat(1_100_000) + "\"}");
        assertThat(body.status()).isEqualTo(413);
        assertThat(body.kind()).isEqualTo("too_large");
        assertThat(http.post(permits(project), "{\"model\":\"" + "m".repeat(5_000) + "\",\"input_tokens\":1}")
                        .status())
                .isEqualTo(400);
        String name = permits(project) + "/"
                + http.post(permits(project), "{" + CALL + "}")
                        .json()
                        .get("permit")
                        .asString();
        assertThat(http.post(name + "/settle", "{\"status\":200,\"body\":\"" + "b".repeat(65_537) + "\"}")
                        .status())
                .isEqualTo(400);
        StringBuilder headers = new StringBuilder();
        for (int i = 0; i <= 100; i++) {
            headers.append(i == 0 ? "" : ",").append("\"h").append(i).append("\":\"v\"");
        }
        assertThat(http.post(name + "/settle", "{\"status\":200,\"headers\":{" + headers + "}}")
                        .status())
                .isEqualTo(400);
        assertThat(http.post(name + "/settle", "{\"usage\":{\"input_tokens\":-1}}")
                        .status())
                .isEqualTo(400);
        assertThat(http.post(name + "/settle", "{\"usage\":{\"input_tokens\":0,\"output_tokens\":null}}")
                        .json()
                        .get("charged")
                        .get("input")
                        .asLong())
                .isZero();
    }

    /** Ids may have slashes: what names one in an address may escape them, as most clients do, or not. */
    @ParameterizedTest
    @ValueSource(strings = {"task-9/3:x@y", "task-9%2F3%3Ax%40y", "task-9%2f3:x@y"})
    void aWaitWhoseIdHasSlashesIsEndedByIt(String written) {
        String project = Policies.installed(http, "{concurrency: 1}");
        http.post(permits(project), "{" + CALL + "}");
        CompletableFuture<Reply> waiting =
                http.later(permits(project), "{" + CALL + ",\"id\":\"task-9/3:x@y\",\"max_wait_ms\":20000}");
        await().atMost(10, TimeUnit.SECONDS).until(() -> waiters(project) == 1);
        String at = "/v1/projects/" + project + "/waits/";
        assertThat(http.delete(at + written + "/more").kind()).isEqualTo("unknown");
        assertThat(http.delete(at + written).status()).isEqualTo(204);
        assertThat(waiting.orTimeout(10, TimeUnit.SECONDS).join().kind()).isEqualTo("cancelled");
    }

    /** A number taken for a text names another agent than the caller knows; the other way round it was refused already. */
    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "/agent; \"agent\":5",
                "/team; \"team\":true",
                "/id; \"id\":1.5",
                "/agent; \"agent\":[\"a\"]",
                "/max_wait_ms; \"max_wait_ms\":\"5\"",
                "/max_wait_ms; \"max_wait_ms\":true",
                "/lease_ms; \"lease_ms\":1000.0",
            })
    void aMemberOfAnotherTypeIsRefusedByItsPath(String path, String member) {
        String project = Policies.installed(http, "{rpm: 600}");
        Reply no = http.post(permits(project), "{" + CALL + "," + member + "}");
        assertThat(no.status()).as(no.body()).isEqualTo(400);
        assertThat(no.json().get("problems").get(0).get("path").asString()).isEqualTo(path);
        assertThat(no.json().get("problems").get(0).get("message").asString())
                .isEqualTo(path.endsWith("_ms") ? "must be a whole number of 64 bits" : "must be text");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "text/event-stream | true",
                "text/event-stream, application/json;q=0.5 | true",
                "text/event-stream, */* | true",
                "application/json, text/event-stream | false",
                "text/event-stream;q=0.1, application/json | false",
                "text/event-stream;q=0 | false",
                "what is this | false",
            })
    void aStreamIsForWhomWouldRatherHaveOne(String accept, boolean stream) {
        String project = Policies.installed(http, "{rpm: 600}");
        Reply granted = http.post(permits(project), "{" + CALL + "}", "Accept", accept);
        assertThat(granted.status()).isEqualTo(stream ? 200 : 201);
        assertThat(granted.header("content-type")).startsWith(stream ? "text/event-stream" : "application/json");
        if (!stream) {
            String name = permits(project) + "/" + granted.json().get("permit").asString();
            assertThat(http.post(name + "/renew", "", "Accept", "image/png").status())
                    .isEqualTo(200);
            assertThat(http.post(name + "/settle", "{}", "Accept", accept).status())
                    .as("what it accepts is no reason not to hear how it ended")
                    .isEqualTo(200);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"multipart/form-data; boundary=x", "text/html", "nonsense"})
    void whatAFormOrANamelessClientSendsIsNoCall(String type) {
        String project = Policies.installed(http, "{rpm: 600}");
        Reply no = http.post(permits(project), "{" + CALL + "}", "Content-Type", type);
        assertThat(no.status()).isEqualTo(415);
        assertThat(no.kind()).isEqualTo("unsupported_media_type");
    }

    /** {@code curl -d} says that it sends a form, whatever it sends. A page can send the same, but not without being told from it. */
    @ParameterizedTest
    @ValueSource(strings = {"application/x-www-form-urlencoded", "text/plain;charset=UTF-8"})
    void whatNoBrowserSentIsReadAsJsonWhateverItIsSaidToBe(String type) {
        String project = Policies.installed(http, "{rpm: 600}");
        Reply yes = http.post(permits(project), "{" + CALL + "}", "Content-Type", type);
        assertThat(yes.status()).as(yes.body()).isEqualTo(201);
        String permit = permits(project) + "/" + yes.json().get("permit").asString();
        assertThat(http.post(permit + "/settle", "{}", "Content-Type", type).status())
                .isEqualTo(200);
        assertThat(http.post(permits(project), "model=claude-sonnet-5-5", "Content-Type", type)
                        .status())
                .isEqualTo(400);
        Http named = http.with("slc_nobody-asks-for-one-here");
        assertThat(named.post(permits(project), "{" + CALL + "}", "Content-Type", type)
                        .status())
                .isEqualTo(http.with("slc_nobody-asks-for-one-here")
                        .post(permits(project), "{" + CALL + "}")
                        .status());
        for (String browser : new String[] {
            "Sec-Fetch-Site: same-origin",
            "Sec-Fetch-Site: none",
            "Sec-Fetch-Site: cross-site",
            "Sec-Fetch-Mode: navigate",
            "sec-fetch-dest: empty",
            "Cookie: a=b",
            "Origin: https://evil.example",
            "Origin: null"
        }) {
            int colon = browser.indexOf(':');
            for (String path : new String[] {permits(project), permits(project) + "/x/settle"}) {
                Reply no = http.post(
                        path,
                        "{" + CALL + "}",
                        "Content-Type",
                        type,
                        browser.substring(0, colon),
                        browser.substring(colon + 2));
                assertThat(no.status())
                        .as(browser)
                        .isEqualTo(browser.startsWith("Origin") || browser.endsWith("cross-site") ? 403 : 415);
            }
        }
    }

    @Test
    void aPackedBodyIsRefusedBeforeItIsUnpackedAndALargeOneBeforeItIsRead() {
        String project = Policies.installed(http, "{rpm: 600}");
        Reply packed = http.post(permits(project), "{" + CALL + "}", "Content-Encoding", "gzip");
        assertThat(packed.status()).isEqualTo(415);
        assertThat(packed.json().get("detail").asString()).contains("gzip");
        String full = "{" + CALL + "}";
        String mebibyte = full + " ".repeat((1 << 20) - full.length());
        assertThat(http.post(permits(project), mebibyte).status()).isEqualTo(201);
        assertThat(http.post(permits(project), mebibyte + " ").kind()).isEqualTo("too_large");
    }

    @Test
    void whatIsNoCallIsToldSo() {
        String project = Policies.installed(http, "{rpm: 600}");
        assertThat(http.send("PATCH", permits(project), "{}").kind()).isEqualTo("method_not_allowed");
        assertThat(http.get("/nothing/here").kind()).isEqualTo("not_found");
    }

    private long waiters(String project) {
        return http.get("/v1/projects/" + project + "/status")
                .json()
                .get("waiters")
                .asLong();
    }
}
