package io.sluice;

import static io.sluice.Budget.CALL;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.Policy.Outage;
import io.sluice.Store.Answer;
import io.sluice.Store.BeatAsk;
import io.sluice.Store.PermitName;
import io.sluice.Store.ScopeCost;
import io.sluice.Store.Settlement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the policy says to outages happens, and to nothing else. */
class OutageRuleTest extends HeartFixture {
    private static final Duration LONG = Duration.ofMinutes(1);

    /** Longer than a call of the desk pauses in all before it is told. */
    private static final long ALL_PAUSES_MS = 400;

    private static final Permit.Reserved NOTHING = new Permit.Reserved(0, 0, 0, 0, 0);

    /** A new version of the policy is in force, and known here. */
    private void rule(Outage outage, String limits) {
        store.version++;
        store.policy = Budget.policy("acme", outage, limits);
        policies.youngerThan(-1);
    }

    private void isOut(String reason) {
        store.out = new OutageException(reason, "a test's", null);
        store.answers = !reason.equals("breaker");
    }

    private void isBack() {
        store.out = null;
        store.answers = true;
    }

    private Waiter once() {
        return asking.begin(CALL, Duration.ZERO, true);
    }

    private static LivePermit permit(Waiter waiter) {
        assertThat(waiter.outcome).isCompletedWithValueMatching(LivePermit::degraded);
        return waiter.outcome.join();
    }

    private static Answer granted(Store.Ask ask) {
        return new Answer.Granted(ask.permit().nonce(), ask.leaseUs(), 1_000_000, ask.memo(), false, null);
    }

    @ParameterizedTest
    @CsvSource(textBlock = """
            # Redis does not answer
            timeout,      true
            disconnected, true
            breaker,      true
            # it says that it cannot now
            oom,          true
            readonly,     true
            loading,      true
            noperm,       true
            noauth,       true
            wrongpass,    true
            misconf,      true
            masterdown,   true
            clusterdown,  true
            noreplicas,   true
            busy,         true
            tryagain,     true
            # it has lost the project, and nobody could mend it
            lost_state,   true
            # it answers, and it is no outage of Redis
            no_project,   false
            bad_policy,   false
            full,         false
            old,          false
            # nobody knows what it means: never permission
            bad_reply,    false
            script,       false
            '',           false
            new_word,     false
            """)
    void someReasonsAreMetByThePolicyAndSomeAreErrors(String reason, boolean met) {
        assertThat(OutageRule.concerns(reason)).isEqualTo(met);
        rule(Outage.FAIL_OPEN, "concurrency: 1");
        isOut(reason);
        assertThat(once().outcome.isCompletedExceptionally()).isEqualTo(!met);
        assertThat(OutageRule.label(reason)).isIn(reason, "other");
    }

    @Test
    void failClosedRefusesFailOpenAdmitsAndLocalShareCounts() {
        isOut("oom");
        rule(Outage.FAIL_CLOSED, "concurrency: 2");
        assertThat(end(once())).isEqualTo("oom");

        rule(Outage.FAIL_OPEN, "concurrency: 2");
        for (int i = 0; i < 5; i++) {
            permit(once());
        }

        rule(Outage.LOCAL_SHARE, "concurrency: 10");
        for (int i = 0; i < 3; i++) {
            permit(once());
        }
        assertThat(end(once())).as("five run already, and eight may").isEqualTo("wait");
    }

    /** Who only watches refuses nothing. */
    @Test
    void aPolicyThatOnlyWatchesAdmitsAll() {
        store.policy = Policy.parse("{project: acme, provider: generic, mode: shadow, outage: fail-closed,"
                + " classes: [{name: m, models: ['m-*'], limits: {concurrency: 1}}]}");
        isOut("readonly");
        permit(once());
        permit(once());
    }

    @Test
    void whatNoRedisIsNeededToKnowIsRefusedAsEver() {
        rule(Outage.FAIL_OPEN, "itpm: 1000");
        isOut("timeout");
        assertThat(end(asking.begin(Call.of("x-1"), Duration.ZERO, true))).isEqualTo("unknown_model");
        assertThat(end(asking.begin(CALL.inputTokens(100_000), Duration.ZERO, true)))
                .isEqualTo("never");
    }

    /** One blip logged a stack trace for each request and pinned the CPU (BerriAI/litellm#40620). */
    @Test
    void oneLineForEachChangeOfState() {
        rule(Outage.LOCAL_SHARE, "concurrency: 100");
        try (Logged logged = new Logged()) {
            isOut("timeout");
            permit(once());
            assertThat(rule.isOut()).as("one slow reply").isFalse();
            assertThat(logged.lines("Redis is out")).isEmpty();

            isOut("breaker");
            for (int i = 0; i < 20; i++) {
                permit(once());
            }
            assertThat(rule.isOut()).isTrue();
            assertThat(logged.lines("acme", "Redis is out (breaker)", "local-share"))
                    .hasSize(1);

            isBack();
            store.acquire = OutageRuleTest::granted;
            for (int i = 0; i < 20; i++) {
                assertThat(once().outcome.join().degraded()).isFalse();
            }
            assertThat(rule.isOut()).isFalse();
            assertThat(logged.lines("acme", "Redis answers again")).hasSize(1);
            assertThat(logged.lines("Redis is out")).hasSize(1);
        }
    }

    private Waiter atTheDesk() {
        return asking.begin(CALL, Duration.ZERO, false, new Ticket("token/bot", null, waiting -> {}));
    }

    private String ended(Waiter waiter) {
        timer.pass(ALL_PAUSES_MS);
        return end(waiter);
    }

    /** Where Redis failed at once, six questions of each call followed each other without a pause. */
    @Test
    void atTheDeskEachQuestionAfterAFailureWaitsTwiceAsLongAsTheLast() {
        rule(Outage.LOCAL_SHARE, "concurrency: 10");
        isOut("disconnected");
        store.asked.clear();
        Waiter waiter = atTheDesk();
        assertThat(store.asked).hasSize(1);
        int questions = 1;
        for (int pauseMs : new int[] {10, 20, 40, 80, 160}) {
            timer.pass(pauseMs - 1);
            assertThat(store.asked).as("before %d ms have passed", pauseMs).hasSize(questions);
            timer.pass(1);
            assertThat(store.asked).as("after %d ms", pauseMs).hasSize(++questions);
        }
        assertThat(end(waiter)).isEqualTo("disconnected");
        timer.pass(60_000);
        assertThat(store.asked).as("it asks no more").hasSize(6);
    }

    @Test
    void atTheDeskWhoGivesUpInAPauseAsksNoMore() {
        rule(Outage.LOCAL_SHARE, "concurrency: 10");
        isOut("disconnected");
        store.asked.clear();
        Waiter waiter = atTheDesk();
        waiter.outcome.cancel(false);
        waiter.result.cancel(false);
        timer.pass(ALL_PAUSES_MS);
        assertThat(store.asked).hasSize(1);
    }

    /** Servers were replaced one by one: a slow moment made permits that the next server asked knew nothing of, and they were lost. */
    @Test
    void atTheDeskSlowRepliesMakeNoPermitThatOneProcessAloneKnows() {
        rule(Outage.LOCAL_SHARE, "concurrency: 10");
        isOut("timeout");
        assertThat(ended(atTheDesk())).isEqualTo("timeout");
        assertThat(store.asked).as("questions").hasSizeGreaterThan(5);

        isOut("disconnected");
        assertThat(ended(atTheDesk())).isEqualTo("disconnected");
        permit(once()); // a call of this process needs nobody else to know it

        isOut("breaker");
        permit(atTheDesk());
    }

    @Test
    void atTheDeskAnAnswerThatComesLateIsTheAnswer() {
        rule(Outage.LOCAL_SHARE, "concurrency: 2");
        OutageException slow = new OutageException("timeout", "a test's", null);
        AtomicInteger questions = new AtomicInteger();
        store.acquire = ask -> {
            if (questions.incrementAndGet() < 4) {
                throw slow;
            }
            return granted(ask);
        };
        Waiter waiter = atTheDesk();
        timer.pass(ALL_PAUSES_MS);
        assertThat(waiter.outcome).isCompletedWithValueMatching(permit -> !permit.degraded());
        assertThat(questions).hasValue(4);
    }

    /** A full Redis takes beats all the while, so only a call can tell; without one it must not seem full for ever. */
    @Test
    void aFullRedisIsFullWhileCallsFindItSo() {
        rule(Outage.LOCAL_SHARE, "concurrency: 100");
        isOut("oom");
        permit(once());
        timer.pass(8_000);
        permit(once());
        timer.pass(8_000);
        rule.beats();
        assertThat(rule.isOut()).isTrue();
        timer.pass(2_001);
        rule.beats();
        assertThat(rule.isOut()).isFalse();
    }

    @Test
    void whoWaitsHereGoesOverToRedissLineWithTheTimeLeft() {
        rule(Outage.LOCAL_SHARE, "concurrency: 2");
        isOut("breaker");
        permit(once());
        Waiter first = asking.begin(CALL, LONG, false);
        Waiter second = asking.begin(CALL, LONG, false);
        assertThat(line.size()).isEqualTo(2);
        store.asked.clear();

        isBack();
        once();
        assertThat(line.size()).isZero();
        assertThat(store.asked).extracting(ask -> ask.permit().id()).contains(id(first), id(second));
        assertThat(store.asked.get(1).waitUs()).isBetween(50_000_000L, 60_000_000L);
        assertThat(waiters.standing()).isEqualTo(2);
        assertThat(undone()).doesNotContain(id(first), id(second));
    }

    /** Its first question may have been carried out: that goes back under its own name. */
    @Test
    void aPermitGivenHereHasANameOfItsOwn() {
        rule(Outage.LOCAL_SHARE, "concurrency: 2");
        isOut("timeout");
        LivePermit permit = permit(asking.begin(CALL.id("job-1"), Duration.ZERO, true));
        assertThat(permit.id()).isEqualTo("job-1");
        assertThat(permit.name.id()).isNotEqualTo("job-1");
        isBack();
        endings.close(() -> true);
        assertThat(undone()).contains("job-1");
    }

    @Test
    void callsInLineOutliveABeatThatFindsNobody() {
        rule(Outage.LOCAL_SHARE, "concurrency: 2");
        Waiter waiter = ask(CALL);
        Waiter next = ask(CALL);
        assertThat(waiters.standing()).isEqualTo(2);
        timer.pass(250);
        outage("breaker");
        LivePermit permit = permit(waiter);
        assertThat(waiters.standing()).isZero();
        assertThat(line.size()).isEqualTo(1);
        held.end(permit, Permit.How.SETTLED, permit.reserved());
        permit(next);
        assertThat(line.size()).isZero();
    }

    @Test
    void whoWaitsHereIsWokenWhenItsShareHasRefilled() {
        rule(Outage.LOCAL_SHARE, "rpm: 60");
        isOut("breaker");
        Waiter first = asking.begin(CALL, LONG, false);
        Waiter second = asking.begin(CALL, LONG, false);
        timer.pass(1_249); // 48 a minute
        assertThat(first.outcome).isNotDone();
        timer.pass(2);
        permit(first);
        assertThat(second.outcome).isNotDone();
        timer.pass(1_250);
        permit(second);
    }

    // ---- what Redis hears after

    private List<Settlement> heard(LivePermit permit) {
        endings.close(() -> true);
        return store.ended.stream()
                .filter(it -> it.permit().equals(permit.name))
                .toList();
    }

    private LivePermit given() {
        rule(Outage.LOCAL_SHARE, "concurrency: 5, rpd: 100000");
        isOut("breaker");
        Waiter waiter = asking.begin(CALL, LONG, false);
        timer.pass(1_100); // until the day's share of one call
        return permit(waiter);
    }

    @Test
    void whatHasEndedUnheardOfIsSpent() {
        LivePermit permit = given();
        assertThat(held.end(permit, Permit.How.SETTLED, permit.reserved()).toCompletableFuture())
                .isCompletedWithValue(new Permit.Ending(Permit.How.SETTLED, false, permit.reserved()));
        isBack();
        assertThat(heard(permit)).singleElement().satisfies(it -> {
            assertThat(it.how()).isEqualTo("spent");
            assertThat(it.stamp()).isEqualTo(store.stamp());
            assertThat(it.used()).contains(new ScopeCost("c:m", List.of(1L)));
        });
    }

    @Test
    void whatWasCancelledUnheardOfIsNobodysBusiness() {
        LivePermit permit = given();
        held.end(permit, Permit.How.CANCELLED, NOTHING);
        isBack();
        assertThat(heard(permit)).isEmpty();
    }

    @Test
    void whatRunsIsToldByTheNextBeatAndEndsLikeAnyOther() {
        LivePermit permit = given();
        heart.givenHere(permit);
        timer.pass(1_000);
        FakeStore.Asked<BeatAsk, Store.Beat> beat = beaten();
        assertThat(beat.question().renew()).isEmpty();
        assertThat(beat.question().asserts())
                .singleElement()
                .satisfies(it -> assertThat(it.permit()).isEqualTo(permit.name));
        isBack();
        beat.answer().complete(well(beat.question()));
        assertThat(held.parts(10)).containsExactly(List.of(permit));

        held.end(permit, Permit.How.SETTLED, permit.reserved());
        assertThat(heard(permit))
                .singleElement()
                .satisfies(it -> assertThat(it.how()).isEqualTo("settled"));
    }

    /** The beat that told of it may have been lost, and may not. */
    @Test
    void ofOneThatWasToldPerhapsRedisHearsBothWords() {
        LivePermit permit = given();
        heart.givenHere(permit);
        timer.pass(1_000);
        outage("timeout");
        held.end(permit, Permit.How.SETTLED, permit.reserved());
        store.settle = it -> it.how().equals("settled")
                ? new Store.Settled.Unknown()
                : new Store.Settled.Ended("booked", false, it.memo());
        isBack();
        assertThat(heard(permit)).extracting(Settlement::how).containsExactly("settled", "spent");
    }

    /** A settle that threw failed calls that had gone well. */
    @Test
    void whatEndsWithoutRedisHasEndedForWhoHoldsIt() {
        rule(Outage.LOCAL_SHARE, "concurrency: 5");
        store.acquire = OutageRuleTest::granted;
        LivePermit permit = once().outcome.join();
        isOut("breaker");
        assertThat(held.end(permit, Permit.How.SETTLED, permit.reserved()).toCompletableFuture())
                .isCompletedWithValue(new Permit.Ending(Permit.How.SETTLED, false, permit.reserved()));
        isBack();
        assertThat(heard(permit)).extracting(Settlement::how).containsExactly("settled");

        rule(Outage.FAIL_CLOSED, "concurrency: 5");
        LivePermit strict = once().outcome.join();
        isOut("breaker");
        assertThat(held.end(strict, Permit.How.SETTLED, strict.reserved()).toCompletableFuture())
                .isCompletedExceptionally();
    }

    @Test
    void nothingIsLeftOfWhoGaveUp() {
        rule(Outage.LOCAL_SHARE, "concurrency: 2");
        isOut("breaker");
        LivePermit runs = permit(once());
        Waiter waiter = asking.begin(CALL, LONG, false);
        outcomes.giveUp(waiter, "a test");
        assertThat(line.size()).isZero();
        Waiter other = asking.begin(CALL, LONG, false);
        held.end(runs, Permit.How.CANCELLED, NOTHING);
        LivePermit came = permit(other);
        assertThat(held.knows(came.name)).isTrue();
        held.end(came, Permit.How.CANCELLED, NOTHING);
        assertThat(held.size()).isZero();
        assertThat(held.knows(new PermitName(came.name.id(), ""))).isFalse();
        permit(once());
    }
}
