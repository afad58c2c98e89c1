package io.sluice;

import static io.sluice.Desks.ask;
import static io.sluice.Desks.get;
import static io.sluice.Desks.refusal;
import static io.sluice.Desks.take;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.sluice.Desk.Advice;
import io.sluice.Desk.Handout;
import io.sluice.Desk.Report;
import io.sluice.Permit.How;
import io.sluice.Permit.Reserved;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a caller's report of the provider's answer does: to its permit, to what it is told, to everybody else. */
@WithRedis
@Tag("contract")
@Timeout(120)
class DeskReportsIT {
    private static final String SERVED = """
            {"type":"message","model":"m-1","role":"assistant","content":[{"type":"text","text":"ok"}],
             "stop_reason":"end_turn","usage":{"input_tokens":4,"cache_read_input_tokens":3,
             "cache_creation_input_tokens":2,"output_tokens":1}}""";
    private static final String TOO_MANY = """
            {"type":"error","error":{"type":"rate_limit_error",
             "message":"This request would exceed your organization's rate limit of 50 requests per minute"}}""";
    private static final String NO_CREDIT = """
            {"type":"error","error":{"type":"invalid_request_error",
             "message":"Your credit balance is too low to access the Anthropic API."}}""";

    private final Desks desks;

    DeskReportsIT(RedisServer redis) {
        desks = new Desks(redis.uri());
        desks.first.install(Policy.parse("""
                project: %s
                provider: anthropic
                headroom: 1
                burst: 60s
                lease: 1m
                classes:
                  - name: m
                    models: [m-*]
                    max_output: 100
                    output_reserve: max
                    limits: {rpm: {amount: 1000, burst: 60s}, concurrency: 20}
                """.formatted(desks.id)));
    }

    @AfterEach
    void close() {
        desks.close();
    }

    private Desk desk(boolean other) {
        return other ? desks.there : desks.here;
    }

    private static Answer answer(int status, String body) {
        return Answer.of(status, Instant.now()).headers(Map.of()).body(body);
    }

    private static Answer tooMany(String retryAfter) {
        return Answer.of(429, Instant.now())
                .headers(Map.of("retry-after", List.of(retryAfter)))
                .body(TOO_MANY);
    }

    private static Report report(String reporter, Usage usage, @Nullable Answer answer) {
        return new Report(reporter, usage, answer, true);
    }

    private Desk.Outcome settled(Desk desk, Report report) {
        return get(desk.settle(take(desks.here, null).permit(), report));
    }

    /** For how long nobody is let in, as a call at the other desk hears. */
    private Duration onHold() {
        Refusal refusal = refusal(ask(desks.there, null, Duration.ZERO));
        assertThat(refusal.kind()).isEqualTo(Refusal.Kind.HOLD);
        assertThat(refusal.retryAfter()).isNotNull();
        return refusal.retryAfter();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void itsBodySaysWhatWasUsedAndItsOwnFiguresComeFirst(boolean other) {
        assertThat(settled(desk(other), report("a", Usage.UNKNOWN, answer(200, SERVED)))
                        .ending()
                        .charged())
                .isEqualTo(new Reserved(1, 4, 3, 2, 1));
        Usage told = new Usage(9L, null, 0L, null);
        assertThat(settled(desk(other), report("a", told, answer(200, SERVED)))
                        .ending()
                        .charged())
                .isEqualTo(new Reserved(1, 9, 3, 0, 1));
        assertThat(settled(desk(other), report("a", told, answer(200, "no JSON")))
                        .ending()
                        .charged())
                .isEqualTo(new Reserved(1, 9, 0, 0, 5));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aRejectionThatPassesIsToBeTriedAgainAndEverybodyWaits(boolean other) {
        Desk.Outcome outcome = settled(desk(other), report("a", Usage.UNKNOWN, tooMany("12")));

        assertThat(outcome.ending().ended()).isEqualTo(How.THROTTLED);
        assertThat(outcome.ending().charged()).isEqualTo(new Reserved(1, 0, 0, 0, 0));
        assertThat(outcome.advice())
                .isEqualTo(new Advice(
                        Advice.Action.RETRY, Duration.ofSeconds(12), Rejection.Kind.REQUESTS, Rejection.Scope.CLASS));
        assertThat(onHold()).isBetween(Duration.ofSeconds(8), Duration.ofSeconds(12));
    }

    @Test
    void oneWithoutAWaitIsTriedAgainInAWhile() {
        Advice advice = settled(desks.here, report("a", Usage.UNKNOWN, answer(529, "{}")))
                .advice();

        assertThat(advice.action()).isEqualTo(Advice.Action.RETRY);
        assertThat(advice.kind()).isEqualTo(Rejection.Kind.OVERLOAD);
        assertThat(advice.pause()).isBetween(Backoff.LEAST, Backoff.FIRST);
    }

    @Test
    void aRequestThatIsWrongIsNotAndNobodyWaitsForIt() {
        Advice advice = settled(
                        desks.here,
                        report(
                                "a",
                                Usage.UNKNOWN,
                                answer(
                                        400,
                                        "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"max_tokens: field required\"}}")))
                .advice();

        assertThat(advice)
                .isEqualTo(new Advice(Advice.Action.STOP, null, Rejection.Kind.INVALID, Rejection.Scope.REQUEST));
        take(desks.there, null);
    }

    /** It says a day, it gets five minutes. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void noReportStopsAProjectForLong(boolean other) {
        Advice advice = settled(desk(other), report("a", Usage.UNKNOWN, tooMany("86400")))
                .advice();

        assertThat(advice.pause()).isEqualTo(Duration.ofDays(1));
        assertThat(onHold()).isBetween(Duration.ofSeconds(280), Duration.ofSeconds(300));
        settledAgain(report("b", Usage.UNKNOWN, tooMany("86400")));
        assertThat(onHold()).isBetween(Duration.ofSeconds(280), Duration.ofSeconds(300));
    }

    private void settledAgain(Report report) {
        desks.first.project(desks.id).release(null);
        get(desks.here.settle(take(desks.here, null).permit(), report));
    }

    @Test
    void thatMoneyRanOutIsBelievedOfTwo() {
        Handout one = take(desks.here, null);
        Handout two = take(desks.here, null);
        Handout three = take(desks.here, null);
        Answer answer = answer(400, NO_CREDIT);

        Desk.Outcome outcome = get(desks.here.settle(one.permit(), report("a", Usage.UNKNOWN, answer)));
        assertThat(outcome.advice().kind()).isEqualTo(Rejection.Kind.CREDITS);
        assertThat(outcome.advice().action()).isEqualTo(Advice.Action.STOP);
        assertThat(onHold()).isBetween(Duration.ofSeconds(280), Duration.ofSeconds(300));
        get(desks.here.settle(two.permit(), report("a", Usage.UNKNOWN, answer)));
        assertThat(onHold()).isBetween(Duration.ofSeconds(280), Duration.ofSeconds(300));
        get(desks.here.settle(three.permit(), report("b", Usage.UNKNOWN, answer)));
        Refusal refusal = refusal(ask(desks.there, null, Duration.ZERO));
        assertThat(refusal.kind()).isEqualTo(Refusal.Kind.HOLD);
        assertThat(refusal.retryAfter()).as("until it is released").isNull();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whoMayNotTeachEndsItsPermitAndNothingElse(boolean other) {
        Report report = new Report("a", Usage.UNKNOWN, tooMany("60"), false);

        Desk.Outcome outcome = settled(desk(other), report);
        assertThat(outcome.ending().ended()).isEqualTo(How.THROTTLED);
        assertThat(outcome.advice().action()).isEqualTo(Advice.Action.RETRY);
        take(desks.here, null);
        take(desks.there, null);
    }

    @Test
    void whatHeadersSayIsLeftLowersTheLevel() {
        Answer answer = Answer.of(200, Instant.now())
                .headers(Map.of(
                        "anthropic-ratelimit-requests-limit", List.of("1000"),
                        "anthropic-ratelimit-requests-remaining", List.of("100"),
                        "anthropic-ratelimit-requests-reset",
                                List.of(Instant.now().plusSeconds(54).toString())))
                .body(SERVED);
        settled(desks.there, report("a", Usage.UNKNOWN, answer));

        await().until(() -> desks.levels().left().get("rpm") < 200);
    }

    @Test
    void aRepeatIsToldWhatToDoAsWell() {
        Handout handout = take(desks.here, "job-1");
        Report report = report("a", Usage.UNKNOWN, tooMany("12"));
        get(desks.here.settle(handout.permit(), report));

        for (Desk each : new Desk[] {desks.here, desks.there}) {
            Desk.Outcome again = get(each.settle(handout.permit(), report));
            assertThat(again.ending().already()).isTrue();
            assertThat(again.ending().ended()).isEqualTo(How.THROTTLED);
            assertThat(again.advice().pause()).isEqualTo(Duration.ofSeconds(12));
        }
    }
}
