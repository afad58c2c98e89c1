package io.sluice.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.sluice.server.Http.Reply;
import io.sluice.testbed.redis.WithRedis;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What asking again with an id is, at the server that was asked first and at another: the contract's table, row by row. */
@Tag("contract")
@WithRedis
class IdsIT {
    private static final String BODY =
            "{\"id\":\"job-1\",\"agent\":\"a\",\"model\":\"claude-sonnet-5-5\",\"input_tokens\":%d,\"max_wait_ms\":%d}";
    private static final long PATIENT = 25_000;

    @TempDir
    static Path directory;

    private static Secured first;
    private static Secured second;

    private final String project = Policies.installed(first.root, "{concurrency: 1}");
    private final String at = "/v1/projects/" + project;
    private final String permits = at + "/permits";

    @BeforeAll
    static void start() throws IOException {
        first = new Secured(directory);
        second = new Secured(directory);
    }

    @AfterAll
    static void stop() {
        first.close();
        second.close();
    }

    private static Secured server(boolean other) {
        return other ? second : first;
    }

    private static String body(long tokens, long maxWaitMs) {
        return BODY.formatted(tokens, maxWaitMs);
    }

    private String takeTheSlot() {
        Reply granted = first.one.post(permits, "{\"model\":\"claude-sonnet-5-5\",\"input_tokens\":1}");
        assertThat(granted.status()).isEqualTo(201);
        return granted.json().get("permit").asString();
    }

    private CompletableFuture<Reply> waiting(Http caller, String body, int andThenWait) {
        CompletableFuture<Reply> reply = caller.later(permits, body);
        await().atMost(15, TimeUnit.SECONDS).until(() -> waiters() == andThenWait);
        return reply;
    }

    private int waiters() {
        return first.root.get(at + "/status").json().get("waiters").asInt();
    }

    private static Reply ended(CompletableFuture<Reply> reply) {
        return reply.orTimeout(25, TimeUnit.SECONDS).join();
    }

    private static void assertNo(Reply reply, String kind) {
        assertThat(reply.status()).as(reply.body()).isEqualTo(409);
        assertThat(reply.kind()).isEqualTo(kind);
        assertThat(reply.headers()).doesNotContainKey("retry-after");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void ofALivePermitItIsTheSamePermit(boolean other) {
        Reply granted = first.one.post(permits, body(10, 0));
        Reply again = server(other).one.post(permits, body(10, 0));

        assertThat(granted.status()).isEqualTo(201);
        assertThat(again.status()).isEqualTo(200);
        assertThat(again.json().get("permit")).isEqualTo(granted.json().get("permit"));
        assertThat(again.json().get("id").asString()).isEqualTo("job-1");
        assertThat(again.json().get("reserved")).isEqualTo(granted.json().get("reserved"));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void ofAWaitItJoinsThatWaitAndKeepsItsPlace(boolean other) {
        String running = takeTheSlot();
        CompletableFuture<Reply> before = waiting(first.one, body(10, PATIENT), 1);
        CompletableFuture<Reply> rival =
                waiting(first.two, "{\"model\":\"claude-sonnet-5-5\",\"input_tokens\":1,\"max_wait_ms\":25000}", 2);
        CompletableFuture<Reply> joined = server(other).one.later(permits, body(10, PATIENT));
        await().during(300, TimeUnit.MILLISECONDS).atMost(5, TimeUnit.SECONDS).until(() -> waiters() == 2);

        first.one.delete(permits + "/" + running);
        Reply granted = ended(joined);
        assertThat(granted.status()).as(granted.body()).isIn(200, 201);
        assertThat(ended(before).json().get("permit")).isEqualTo(granted.json().get("permit"));
        assertThat(rival.isDone()).as("who came between still waits").isFalse();
        first.one.post(permits + "/" + granted.json().get("permit").asString() + "/settle", "{}");
        assertThat(ended(rival).status()).isEqualTo(201);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void ofAnEndedPermitItHasEnded(boolean other) {
        String permit =
                first.one.post(permits, body(10, 0)).json().get("permit").asString();
        server(!other).one.post(permits + "/" + permit + "/settle", "{}");

        assertNo(server(other).one.post(permits, body(10, 0)), "ended");
        assertNo(server(other).one.post(permits, body(10, PATIENT)), "ended");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void withAnotherBodyItIsAConflictWhileItLivesAndWhileItWaits(boolean other) {
        String running = takeTheSlot();
        CompletableFuture<Reply> waits = waiting(first.one, body(10, PATIENT), 1);
        assertNo(server(other).one.post(permits, body(11, PATIENT)), "conflict");
        assertThat(waits.isDone()).isFalse();

        first.one.delete(permits + "/" + running);
        assertThat(ended(waits).status()).isEqualTo(201);
        assertNo(server(other).one.post(permits, body(11, 0)), "conflict");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void ofAnotherCallerItIsAConflictWhileItLivesAndWhileItWaits(boolean other) {
        String running = takeTheSlot();
        CompletableFuture<Reply> waits = waiting(first.one, body(10, PATIENT), 1);
        assertNo(server(other).two.post(permits, body(10, PATIENT)), "conflict");
        assertThat(waits.isDone()).isFalse();

        first.one.delete(permits + "/" + running);
        assertThat(ended(waits).status()).isEqualTo(201);
        assertNo(server(other).two.post(permits, body(10, 0)), "conflict");
        assertNo(server(other).one.post(permits, body(10, 0).replace("\"a\"", "\"b\"")), "conflict");
    }

    /** What Redis keeps of an ended permit says whose it was. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void ofAnotherCallersEndedPermitItIsAConflictToo(boolean other) {
        String permit =
                first.one.post(permits, body(10, 0)).json().get("permit").asString();
        first.one.post(permits + "/" + permit + "/settle", "{}");

        assertNo(server(other).two.post(permits, body(10, 0)), "conflict");
        assertNo(server(other).one.post(permits, body(11, 0)), "conflict");
        assertNo(server(other).one.post(permits, body(10, 0)), "ended");
    }

    /** How long it would wait is no part of what it asks. */
    @Test
    void howLongItMayWaitMayDiffer() {
        Reply granted = first.one.post(permits, body(10, 0));

        assertThat(second.one.post(permits, body(10, 60_000)).json().get("permit"))
                .isEqualTo(granted.json().get("permit"));
    }

    /** Merged in one entry the first of two callers to finish released both slots (BerriAI/litellm#36459). */
    @Test
    void twoWhoAskAtTheSameMomentWithOneIdGetOneSlotBetweenThem() {
        CompletableFuture<Reply> one = first.one.later(permits, body(10, 0));
        CompletableFuture<Reply> two = second.two.later(permits, body(10, 0));

        assertThat(java.util.List.of(ended(one).status(), ended(two).status()))
                .as("%s and %s", one.join(), two.join())
                .containsExactlyInAnyOrder(201, 409);
        Reply granted = one.join().status() == 201 ? one.join() : two.join();
        Http winner = granted.equals(one.join()) ? second.one : first.two;
        assertThat(first.root
                        .get(at + "/status")
                        .json()
                        .get("in_flight")
                        .get("p")
                        .asInt())
                .isEqualTo(1);
        winner.post(permits + "/" + granted.json().get("permit").asString() + "/settle", "{}");
        assertThat(first.root
                        .get(at + "/status")
                        .json()
                        .get("in_flight")
                        .get("p")
                        .asInt())
                .isZero();
    }
}
