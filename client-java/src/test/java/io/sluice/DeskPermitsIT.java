package io.sluice;

import static io.sluice.Desks.CALL;
import static io.sluice.Desks.SOON;
import static io.sluice.Desks.ask;
import static io.sluice.Desks.asking;
import static io.sluice.Desks.get;
import static io.sluice.Desks.refused;
import static io.sluice.Desks.take;
import static io.sluice.Desks.used;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.sluice.Desk.Advice;
import io.sluice.Desk.Asking;
import io.sluice.Desk.Handout;
import io.sluice.Permit.Ending;
import io.sluice.Permit.How;
import io.sluice.Permit.Reserved;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A permit of the desk lives by its caller's renewals and ends once, at whichever desk. The lease is 1 s. */
@WithRedis
@Tag("contract")
@Timeout(120)
class DeskPermitsIT {
    private static final String LIMITS = "concurrency: 1, tokens: {amount: 1000, per: 1d, burst: 1d, window: refill, "
            + "weights: {input: 1, output: 1}}, calls: {amount: 1000, per: 1d, burst: 1d, window: refill, of: requests}";
    private static final Reserved NOTHING = new Reserved(0, 0, 0, 0, 0);

    private final Desks desks;

    DeskPermitsIT(RedisServer redis) {
        desks = new Desks(redis.uri()).with(LIMITS);
    }

    @AfterEach
    void close() {
        desks.close();
    }

    private Desk desk(boolean other) {
        return other ? desks.there : desks.here;
    }

    private long tokens() {
        return desks.levels().left().get("tokens");
    }

    @Test
    void itSaysWhatItTookAndUnderWhatName() {
        Handout handout = take(desks.here, "job-1");

        assertThat(handout.id()).isEqualTo("job-1");
        assertThat(handout.modelClass()).isEqualTo("m");
        assertThat(handout.reserved()).isEqualTo(new Reserved(1, 10, 0, 0, 5));
        assertThat(handout.lease()).isEqualTo(Duration.ofSeconds(1));
        assertThat(handout.degraded()).isFalse();
        assertThat(handout.again()).isFalse();
        assertThat(handout.permit()).matches("[A-Za-z0-9_-]{22,200}").doesNotContain("job-1");
        assertThat(tokens()).isEqualTo(985);
        assertThat(desks.levels().used()).isEqualTo(1);
    }

    @Test
    void withoutAnIdItGetsOneThatDoesNotNameThePermit() {
        Handout handout = take(desks.here, null);

        assertThat(handout.id()).matches("[A-Za-z0-9_-]{22}");
        assertThat(get(desks.here.cancel(handout.id())).ended()).isEqualTo(How.UNKNOWN);
        assertThat(desks.levels().used()).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void anyDeskSettlesItOnce(boolean other) {
        Handout handout = take(desks.here, "job-1");

        Desk.Outcome outcome = get(desk(other).settle(handout.permit(), used(7, 3)));
        assertThat(outcome.ending()).isEqualTo(new Ending(How.SETTLED, false, new Reserved(1, 7, 0, 0, 3)));
        assertThat(outcome.advice()).isEqualTo(new Advice(Advice.Action.DONE, null, null, null));
        assertThat(tokens()).isEqualTo(990);
        assertThat(desks.levels().used()).isZero();

        for (Desk each : new Desk[] {desks.here, desks.there}) {
            assertThat(get(each.settle(handout.permit(), used(100, 100))).ending())
                    .isEqualTo(new Ending(How.SETTLED, true, new Reserved(1, 7, 0, 0, 3)));
            assertThat(get(each.cancel(handout.permit())).already()).isTrue();
            assertThat(get(each.renew(handout.permit()))).isEmpty();
        }
        assertThat(tokens()).isEqualTo(990);
    }

    @Test
    void whatItsCallerDoesNotSayStandsAsEstimated() {
        Handout handout = take(desks.here, "job-1");
        Desk.Report report = new Desk.Report("token", new Usage(null, null, null, 2L), null, true);

        assertThat(get(desks.there.settle(handout.permit(), report)).ending().charged())
                .isEqualTo(new Reserved(1, 10, 0, 0, 2));
        assertThat(tokens()).isEqualTo(988);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void anyDeskCancelsItAndGivesEverythingBack(boolean other) {
        Handout handout = take(desks.here, "job-1");

        assertThat(get(desk(other).cancel(handout.permit()))).isEqualTo(new Ending(How.CANCELLED, false, NOTHING));
        assertThat(tokens()).isEqualTo(1000);
        assertThat(desks.levels().left()).containsEntry("calls", 1000L);
        assertThat(desks.levels().used()).isZero();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void itLivesAsLongAsItIsRenewedAtAnyDesk(boolean other) {
        Duration lease = Duration.ofSeconds(3);
        Handout handout = get(ask(desks.here, new Asking(CALL.id("job-1"), "token/bot", Duration.ZERO, lease)));

        for (int i = 0; i < 5; i++) {
            pause(Duration.ofMillis(800));
            assertThat(get(desk(other).renew(handout.permit()))).contains(lease);
        }
        assertThat(desks.levels().used()).isEqualTo(1);
        assertThat(get(desk(other).settle(handout.permit(), used(7, 3)))
                        .ending()
                        .ended())
                .isEqualTo(How.SETTLED);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void nobodyRenewsItForItsCallerAndItsUsageIsBookedLateOnce(boolean other) {
        Handout lost = take(desks.here, "job-1");
        Handout next = get(ask(desks.here, "job-2", SOON));

        assertThat(next.waited()).isBetween(Duration.ofMillis(500), Duration.ofSeconds(15));
        assertThat(get(desk(other).renew(lost.permit()))).isEmpty();
        assertThat(get(desk(other).settle(lost.permit(), used(8, 1))).ending())
                .isEqualTo(new Ending(How.EXPIRED, true, new Reserved(1, 8, 0, 0, 1)));
        assertThat(tokens()).isEqualTo(1000 - 9 - 15);
        assertThat(get(desk(other).settle(lost.permit(), used(500, 1))).ending().ended())
                .isEqualTo(How.EXPIRED);
        assertThat(tokens()).isEqualTo(1000 - 9 - 15);
        // The slot is the other's.
        assertThat(desks.levels().used()).isEqualTo(1);
    }

    @Test
    void aLeaseOfItsOwnIsKept() {
        Handout handout = get(ask(desks.here, new Asking(CALL, "token/bot", Duration.ZERO, Duration.ofSeconds(40))));

        assertThat(handout.lease()).isEqualTo(Duration.ofSeconds(40));
        assertThat(get(desks.there.renew(handout.permit()))).contains(Duration.ofSeconds(40));
    }

    @Test
    void aNameThatNobodyGaveOutIsUnknown() {
        Handout handout = take(desks.here, "job-1");
        String forged = "A".repeat(22) + handout.permit().substring(22);

        for (String name : new String[] {forged, "", "job-1", "x".repeat(500), "../" + handout.permit()}) {
            for (Desk each : new Desk[] {desks.here, desks.there}) {
                assertThat(get(each.settle(name, used(1, 1))).ending())
                        .isEqualTo(new Ending(How.UNKNOWN, true, NOTHING));
                assertThat(get(each.cancel(name)).ended()).isEqualTo(How.UNKNOWN);
                assertThat(get(each.renew(name))).isEmpty();
            }
        }
        assertThat(desks.levels().used()).isEqualTo(1);
    }

    @Test
    void itSettlesWithoutTheProcessThatGaveIt() {
        Handout handout = take(desks.here, "job-1");
        desks.first.close();

        assertThat(get(desks.there.renew(handout.permit()))).isPresent();
        assertThat(get(desks.there.settle(handout.permit(), used(7, 3)))
                        .ending()
                        .ended())
                .isEqualTo(How.SETTLED);
    }

    @Test
    void itSettlesUnderAnotherPolicyByWhatItTook() {
        Handout handout = take(desks.here, "job-1");
        desks.with(
                "concurrency: 2, tokens: {amount: 1000, per: 1d, burst: 1d, window: refill, weights: {input: 1, output: 1}}");

        assertThat(get(desks.there.settle(handout.permit(), used(7, 3)))
                        .ending()
                        .ended())
                .isEqualTo(How.SETTLED);
        assertThat(tokens()).isEqualTo(990);
        assertThat(desks.levels().used()).isZero();
    }

    @Test
    void usageFarAboveTheEstimateIsBookedAtItsBound() {
        Handout handout = take(desks.here, "job-1");

        get(desks.there.settle(handout.permit(), used(900, 0)));
        // max(4 x 15, one minute of 1,000 a day) = 60
        assertThat(tokens()).isEqualTo(940);
    }

    @Test
    void whoMayNotWaitIsToldSo() {
        take(desks.here, "job-1");

        assertThat(refused(ask(desks.there, "job-2", Duration.ZERO))).isEqualTo(Refusal.Kind.WAIT);
        assertThat(desks.levels().waiters()).isZero();
    }

    @Test
    void whatCannotBeAskedIsSaidAtOnce() {
        assertThatThrownBy(() -> asking("job 1", SOON)).hasMessageContaining("id must be");
        assertThatThrownBy(() -> new Asking(CALL, "", SOON, null)).hasMessageContaining("caller");
        assertThatThrownBy(() -> new Asking(CALL, "c", Duration.ofMillis(-1), null))
                .hasMessageContaining("maxWait");
        assertThatThrownBy(() -> new Asking(CALL, "c", SOON, Duration.ofMillis(999)))
                .hasMessageContaining("lease");
        assertThatThrownBy(() -> new Asking(CALL, "c", SOON, Duration.ofMinutes(16)))
                .hasMessageContaining("lease");
    }

    private static void pause(Duration length) {
        long until = System.nanoTime() + length.toNanos();
        await().pollInterval(Duration.ofMillis(10)).until(() -> System.nanoTime() - until > 0);
    }
}
