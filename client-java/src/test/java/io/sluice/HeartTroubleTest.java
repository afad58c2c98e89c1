package io.sluice;

import static io.sluice.Budget.CALL;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.Store.Answer;
import io.sluice.Store.Beat;
import io.sluice.Store.BeatAsk;
import io.sluice.Store.News;
import io.sluice.Store.OnHold;
import io.sluice.Store.Place;
import io.sluice.Store.Queued;
import io.sluice.Store.Settled;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** What ends a wait but a permit: Redis in trouble, another policy, a deadline, nobody who wants it. */
class HeartTroubleTest extends HeartFixture {

    // ---- trouble

    @Test
    void afterThreeTimeOutsInARowWaitingCallsEndInAnOutage() {
        Waiter waiter = ask(CALL);
        timer.pass(250);
        outage("timeout");
        timer.pass(20);
        outage("timeout");
        assertThat(waiter.isDone()).isFalse();
        timer.pass(20);
        outage("timeout");
        assertThat(end(waiter)).isEqualTo("timeout");
        assertThat(undone()).containsExactly(id(waiter));
        assertThat(waiters.standing()).isZero();
    }

    @Test
    void aDisconnectIsSleptOverUntilTheBreakerOpens() {
        Waiter waiter = ask(CALL);
        for (int i = 0; i < 4; i++) {
            timer.pass(250);
            outage("disconnected");
        }
        assertThat(waiter.isDone()).isFalse();
        timer.pass(250);
        outage("breaker");
        assertThat(end(waiter)).isEqualTo("breaker");
    }

    @Test
    void oneAnswerInBetweenIsEnough() {
        Waiter waiter = ask(CALL);
        timer.pass(250);
        for (int i = 0; i < 5; i++) {
            outage("timeout");
            timer.pass(20);
            answerWell();
            timer.pass(250);
        }
        assertThat(waiter.isDone()).isFalse();
    }

    @Test
    void aProjectThatLostItsStateIsMendedAndItsCallsStandAgain() {
        Waiter waiter = ask(CALL);
        timer.pass(250);
        beaten().answer().complete(new Beat.Lost("waiters"));
        assertThat(store.installed).isEqualTo(1);
        timer.pass(20);
        FakeStore.Asked<BeatAsk, Beat> beat = beaten();
        assertThat(beat.question().looks()).containsExactly(id(waiter));
        beat.answer().complete(alive(beat.question(), List.of(), List.of(), List.of(new Place.ToSubmit())));
        assertThat(store.asked).hasSize(2);
        assertThat(waiter.isDone()).isFalse();
    }

    @Test
    void aStateThatIsLostAgainAndAgainIsAnOutage() {
        Waiter waiter = ask(CALL);
        timer.pass(230);
        for (int i = 0; i <= 8; i++) {
            timer.pass(20);
            beaten().answer().complete(new Beat.Lost("waiters"));
        }
        assertThat(end(waiter)).isEqualTo("lost_state");
        assertThat(store.installed).isEqualTo(8);
    }

    // ---- the policy moves

    @Test
    void whatANewVersionNeverAdmitsIsRefusedAtOnce() {
        Waiter possible = ask(CALL);
        Waiter never = ask(CALL.inputTokens(5_000));
        store.policy = Budget.policy("acme", "concurrency: 1, itpm: 1000");
        store.version = 2;
        timer.pass(250);
        answerWell();
        assertThat(end(never)).isEqualTo("never");
        assertThat(undone()).containsExactly(id(never));
        assertThat(possible.isDone()).isFalse();

        store.policy = Policy.parse("{project: acme, provider: generic, classes: [{name: x, models: [x]}]}");
        store.version = 3;
        timer.pass(250);
        answerWell();
        assertThat(end(possible)).isEqualTo("unknown_model");
    }

    @Test
    void aCallThatIsToldSoIsSubmittedAgainAgainstTheNewVersion() {
        Waiter waiter = ask(CALL);
        store.version = 2;
        timer.pass(250);
        FakeStore.Asked<BeatAsk, Beat> beat = beaten();
        beat.answer()
                .complete(alive(
                        beat.question(),
                        List.of(),
                        List.of(new News(id(waiter), new Place.ToSubmit())),
                        List.of(inLine(FakeStore.SHORT))));
        assertThat(store.asked).extracting(Store.Ask::stamp).containsExactly("1:e", "2:e");
        assertThat(store.asked).extracting(ask -> ask.permit().id()).containsOnly(id(waiter));
        assertThat(waiters.standing()).isEqualTo(1);
    }

    // ---- holds

    private void holds(OnHold... holds) {
        timer.pass(250);
        FakeStore.Asked<BeatAsk, Beat> beat = beaten();
        Beat.Alive well = well(beat.question());
        beat.answer()
                .complete(new Beat.Alive(
                        well.stamp(),
                        1,
                        1,
                        false,
                        -1,
                        well.renewed(),
                        well.claims(),
                        well.news(),
                        well.looks(),
                        List.of(holds),
                        List.of()));
    }

    /** The others would be refused at their deadlines anyway, having waited for nothing. */
    @Test
    void whoseDeadlineComesBeforeTheEndOfAHoldIsRefusedAtOnce() {
        Waiter patient = asking.begin(CALL, Duration.ofMinutes(9), false);
        Waiter impatient = asking.begin(CALL.id("job-1"), Duration.ofSeconds(10), false);
        holds(new OnHold("c:m", 12_000_000, "input", true, ""));

        assertThat(patient.isDone()).isFalse();
        Refusal refusal = impatient.refusal();
        assertThat(refusal.kind()).isEqualTo(Refusal.Kind.HOLD);
        assertThat(refusal.scope()).isEqualTo("c:m");
        assertThat(refusal.limit()).isEqualTo("hold");
        assertThat(refusal.retryAfter()).isEqualTo(Duration.ofSeconds(12));
        assertThat(refusal.message()).isEqualTo("acme is on hold for 12 s: provider said input (class m)");
        assertThat(store.ended)
                .as("its place is kept")
                .extracting(ended -> ended.how() + " " + ended.permit().id() + " " + ended.keepUs())
                .containsExactly("refused job-1 24000000");
    }

    /** The waiters were held to their deadlines by an empty account (langchain-ai/langchainjs#1929). */
    @Test
    void whatNobodyCanWaitForIsRefusedAtOnceWithTheReason() {
        List<Waiter> ten = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            ten.add(ask(CALL));
        }
        holds(new OnHold("p", Store.UNTIL_RELEASED, "credits", false, ""));

        assertThat(ten).allSatisfy(waiter -> {
            assertThat(end(waiter)).isEqualTo("hold");
            assertThat(waiter.refusal().retryAfter()).isNull();
            assertThat(waiter.refusal().message())
                    .isEqualTo("acme is on hold until it is released: provider said credits");
        });
        assertThat(undone()).hasSize(10);
        assertThat(waiters.standing()).isZero();
    }

    @Test
    void aHoldOfAnotherClassOrOneThatOpensKeepsNobodyFromWaiting() {
        Waiter waiter = ask(CALL);
        holds(new OnHold("c:x", Store.UNTIL_RELEASED, "credits", false, ""), new OnHold("c:m", 0, "input", true, ""));

        assertThat(waiter.isDone()).isFalse();
    }

    @Test
    void aCallThatMeetsAHoldItCannotWaitForIsRefusedWithItsReason() {
        store.acquire = ask -> new Answer.Hold(new OnHold("p", 90_000_000, "operator", true, "maintenance"));
        Waiter waiter = ask(CALL);

        assertThat(end(waiter)).isEqualTo("hold");
        assertThat(waiter.refusal().retryAfter()).isEqualTo(Duration.ofSeconds(90));
        assertThat(waiter.refusal().message()).isEqualTo("acme is on hold for 90 s: operator; maintenance");
        assertThat(store.ended).as("it stands nowhere").isEmpty();
    }

    @Test
    void whoWaitsBehindAHoldIsToldSo() {
        store.acquire = ask -> new Answer.Waiting(new Queued(12_000_000, 12_000_000, "c:m", "hold", 1), -1);
        ask(CALL);

        assertThat(told).singleElement().satisfies(waiting -> {
            assertThat(waiting.limit()).isEqualTo("hold");
            assertThat(waiting.toString()).isEqualTo("waiting on acme hold, 1 in line, 12 s");
        });
    }

    /** Healthy accounts were marked bad because our own waits looked like theirs (diegosouzapw/OmniRoute#9164). */
    @Test
    void ourOwnRefusalTeachesNothing() {
        store.acquire = ask -> new Answer.Wait(new Queued(60_000_000, 60_000_000, "c:m", "rpm", 0));
        assertThat(end(asking.begin(CALL, Duration.ofSeconds(1), false))).isEqualTo("deadline");
        store.acquire = ask -> new Answer.Hold(new OnHold("c:m", 90_000_000, "input", true, ""));
        assertThat(end(ask(CALL))).isEqualTo("hold");

        assertThat(store.observed).isEmpty();
        assertThat(client.store.answers()).isTrue();
    }

    // ---- giving up

    /** Its place is kept for whoever comes again under the same id. */
    @Test
    void whoWaitedInVainUnderAnIdOfItsOwnKeepsItsPlace() {
        store.acquire = ask -> new Answer.Waiting(new Queued(3_000_000, 0, "c:m", "concurrency", 4), -1);
        Waiter known = asking.begin(CALL.id("job-1"), Duration.ofMillis(20), false);
        Waiter unknown = asking.begin(CALL, Duration.ofMillis(20), false);
        assertThat(known.outcome).failsWithin(Duration.ofSeconds(5));
        assertThat(unknown.outcome).failsWithin(Duration.ofSeconds(5));
        assertThat(end(known)).isEqualTo("deadline");
        assertThat(known.refusal().position()).isEqualTo(4);
        assertThat(known.refusal().retryAfter()).isEqualTo(Duration.ofSeconds(3));
        assertThat(store.ended)
                .extracting(ended -> ended.how() + " " + ended.permit().id() + " " + ended.keepUs())
                .containsExactlyInAnyOrder("refused job-1 6000000", "undone " + id(unknown) + " 0");
    }

    @Test
    void aGrantThatMeetsTheDeadlineIsUndone() {
        store.settle =
                it -> it.how().equals("refused") ? new Settled.Unknown() : new Settled.Ended("undone", false, "");
        Waiter waiter = asking.begin(CALL.id("job-1"), Duration.ofMillis(1), false);
        assertThat(waiter.outcome).failsWithin(Duration.ofSeconds(5));
        assertThat(store.ended).extracting(Store.Settlement::how).containsExactly("refused", "undone");
    }

    /** It was told that the permit of its id "null" had ended. */
    @Test
    void aPermitThatRanOutBeforeItsAnswerCameIsAnOutageAndGoesBack() {
        store.acquire = ask -> new Answer.Ended("expired");
        Waiter waiter = ask(CALL);
        assertThat(end(waiter)).isEqualTo("timeout");
        assertThat(undone()).containsExactly(id(waiter));

        assertThat(end(ask(CALL.id("job-1")))).isEqualTo("ended");
        assertThat(undone()).hasSize(1);
    }

    @Test
    void aTryNeverStandsInLine() {
        store.acquire = ask -> new Answer.Waiting(FakeStore.SHORT, -1); // as another caller of its id does
        Waiter waiter = asking.begin(CALL.id("job-1"), Duration.ofMinutes(1), true);
        assertThat(store.asked.get(0).waitUs()).isZero();
        assertThat(end(waiter)).isEqualTo("wait");
        assertThat(waiters.standing()).isZero();
        assertThat(undone()).containsExactly("job-1");
    }

    @Test
    void closingRefusesWhatWaitsAndLeavesNothing() {
        Waiter waiter = ask(CALL);
        outcomes.waitEnds.close();
        assertThat(end(waiter)).isEqualTo("cancelled");
        Waiter late = asking.begin(CALL, Duration.ofMinutes(1), false);
        assertThat(end(late)).isEqualTo("cancelled");
        assertThat(undone()).containsExactly(id(waiter));
        assertThat(store.asked).as("who comes late does not ask").hasSize(1);
    }

    /** What it does not get rid of it must not try for ever. */
    @Test
    void closingWhileThereIsNoConnectionTellsOfEachPermitOnce() {
        store.acquire = ask -> new Answer.Granted(ask.permit().nonce(), 3_000_000, 1, ask.memo(), false, null);
        heart.givenHere(ask(CALL).outcome.join());
        store.isCut = true;
        int before = store.refusedBeats;

        CompletableFuture<Void> closed = CompletableFuture.runAsync(heart::close);

        assertThat(closed).succeedsWithin(Duration.ofSeconds(20));
        assertThat(store.refusedBeats - before).isBetween(1, 3);
    }
}
