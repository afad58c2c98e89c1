package io.sluice;

import static io.sluice.Desks.CALL;
import static io.sluice.Desks.SOON;
import static io.sluice.Desks.ask;
import static io.sluice.Desks.get;
import static io.sluice.Desks.refused;
import static io.sluice.Desks.take;
import static io.sluice.Desks.used;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.sluice.Desk.Asking;
import io.sluice.Desk.Handout;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a repeated question is, at the desk where it was asked first and at another. */
@WithRedis
@Tag("contract")
@Timeout(120)
class DeskIdsIT {
    private final Desks desks;

    DeskIdsIT(RedisServer redis) {
        desks = new Desks(redis.uri());
        desks.first.install(Budget.policy(
                desks.id,
                "concurrency: 2, calls: {amount: 1000, per: 1d, burst: 1d, window: refill, of: requests}",
                "1m"));
    }

    @AfterEach
    void close() {
        desks.close();
    }

    private Desk desk(boolean other) {
        return other ? desks.there : desks.here;
    }

    private static Asking of(Call call, String caller, @Nullable Duration lease) {
        return new Asking(call, caller, Duration.ZERO, lease);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aLivePermitIsHandedOutAgainAndTakesNothingMore(boolean other) {
        Handout handout = take(desks.here, "job-1");

        Handout again = take(desk(other), "job-1");
        assertThat(again.permit()).isEqualTo(handout.permit());
        assertThat(again.again()).isTrue();
        assertThat(again.reserved()).isEqualTo(handout.reserved());
        assertThat(again.lease()).isEqualTo(handout.lease());
        assertThat(desks.levels().used()).isEqualTo(1);
        assertThat(desks.levels().left()).containsEntry("calls", 999L);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void howLongItMayWaitIsNoPartOfWhatItAsks(boolean other) {
        Handout handout = take(desks.here, "job-1");

        assertThat(get(ask(desk(other), "job-1", SOON)).permit()).isEqualTo(handout.permit());
    }

    static Stream<Asking> others() {
        Call call = CALL.id("job-1");
        return Stream.of(
                of(call.inputTokens(11), "token/bot", null),
                of(call.maxOutputTokens(6), "token/bot", null),
                of(call.cacheReadTokens(1), "token/bot", null),
                of(call.agent("other"), "token/bot", null),
                of(call.team("other"), "token/bot", null),
                of(call.run("other"), "token/bot", null),
                of(call.priority(Priority.BATCH), "token/bot", null),
                of(call.serviceTier("flex"), "token/bot", null),
                of(
                        Call.of("m-2")
                                .inputTokens(10)
                                .maxOutputTokens(5)
                                .agent("bot")
                                .id("job-1"),
                        "token/bot",
                        null),
                of(call, "token/bot", Duration.ofSeconds(30)),
                of(call, "token/bat", null),
                of(call, "token/bot\n", null));
    }

    @ParameterizedTest
    @MethodSource("others")
    void anotherCallOrAnotherCallerIsAConflict(Asking other) {
        take(desks.here, "job-1");

        assertThat(refused(ask(desks.here, other))).isEqualTo(Refusal.Kind.CONFLICT);
        assertThat(refused(ask(desks.there, other))).isEqualTo(Refusal.Kind.CONFLICT);
        assertThat(desks.levels().used()).isEqualTo(1);
    }

    @ParameterizedTest
    @MethodSource("others")
    void aWaitingIdIsNobodyElses(Asking other) {
        take(desks.here, "a");
        take(desks.here, "b");
        CompletableFuture<Handout> waits = ask(desks.here, "job-1", SOON);
        await().until(() -> desks.levels().waiters() == 1);
        Asking patient = new Asking(other.call(), other.caller(), SOON, other.lease());

        assertThat(refused(ask(desks.there, patient))).isEqualTo(Refusal.Kind.CONFLICT);
        assertThat(waits).isNotDone();
    }

    @Test
    void aJavaClientsIdIsNobodyElsesEither() {
        Permit permit = Budget.take(desks.first.project(desks.id), CALL.id("job-1"));

        assertThat(refused(ask(desks.here, "job-1", Duration.ZERO))).isEqualTo(Refusal.Kind.CONFLICT);
        assertThat(refused(ask(desks.there, "job-1", Duration.ZERO))).isEqualTo(Refusal.Kind.CONFLICT);
        permit.cancel();
    }

    @ParameterizedTest
    @EnumSource(
            value = Permit.How.class,
            names = {"SETTLED", "CANCELLED"})
    void whatHasEndedIsRefused(Permit.How how) {
        Handout handout = take(desks.here, "job-1");
        if (how == Permit.How.SETTLED) {
            get(desks.here.settle(handout.permit(), used(1, 1)));
        } else {
            get(desks.here.cancel(handout.permit()));
        }

        assertThat(refused(ask(desks.here, "job-1", Duration.ZERO))).isEqualTo(Refusal.Kind.ENDED);
        assertThat(refused(ask(desks.there, "job-1", SOON))).isEqualTo(Refusal.Kind.ENDED);
    }

    /** Without an id nobody can ask for the same. */
    @Test
    void withoutAnIdEachQuestionIsACallOfItsOwn() {
        assertThat(take(desks.here, null).permit())
                .isNotEqualTo(take(desks.here, null).permit());
        assertThat(desks.levels().used()).isEqualTo(2);
    }
}
