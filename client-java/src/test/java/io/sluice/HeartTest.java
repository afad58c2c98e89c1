package io.sluice;

import static io.sluice.Budget.CALL;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.Store.Answer;
import io.sluice.Store.Beat;
import io.sluice.Store.BeatAsk;
import io.sluice.Store.News;
import io.sluice.Store.Place;
import io.sluice.Store.Queued;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What a process says in its beats and makes of the answers. */
class HeartTest extends HeartFixture {

    // ---- when

    @Test
    void withNobodyWaitingItBeatsAThirdOfTheLeaseAfterTheLast() {
        store.acquire = ask -> new Answer.Granted(ask.permit().nonce(), 3_000_000, 1, ask.memo(), false, null);
        LivePermit permit = ask(CALL).outcome.join();
        timer.pass(999);
        assertThat(store.beats).isEmpty();
        timer.pass(1);
        FakeStore.Asked<BeatAsk, Beat> beat = beaten();
        assertThat(beat.question())
                .isEqualTo(new BeatAsk("acme", client.host, List.of(permit.name), List.of(), List.of(), List.of()));
        beat.answer().complete(well(beat.question()));
        timer.pass(999);
        assertThat(store.beats).isEmpty();
        timer.pass(1);
        answerWell();
    }

    /** The permits of a beat between two renewals are not renewed again. */
    @Test
    void whileCallsWaitItLooksAfterThemAndRenewsNoMoreOftenThanElse() {
        store.acquire = ask -> new Answer.Granted(ask.permit().nonce(), 3_000_000, 1, ask.memo(), false, null);
        ask(CALL).outcome.join();
        store.acquire = ask -> new Answer.Waiting(FakeStore.SHORT, -1);
        Waiter waiter = ask(CALL);
        int renewed = 0;
        for (int ms = 250; ms <= 2_000; ms += 250) {
            timer.pass(250);
            assertThat(store.beats.element().question().looks()).containsExactly(id(waiter));
            renewed += store.beats.element().question().renew().size();
            answerWell();
        }
        assertThat(renewed).isEqualTo(2);
    }

    @Test
    void whenNobodyWaitsAnyMoreItIsQuiet() {
        Waiter waiter = ask(CALL);
        outcomes.giveUp(waiter, "a test");
        timer.pass(10_000);
        assertThat(store.beats).isEmpty();
        assertThat(undone()).containsExactly(id(waiter));
    }

    /** Its place would stand until its deadline, and close what it is short on for those behind it. */
    @Test
    void whoGivesUpWhileTheQuestionIsUnderWayLeavesNoPlace() {
        store.acquire = ask -> {
            waiters.all().forEach(asks -> outcomes.giveUp(asks, "a test"));
            return new Answer.Waiting(FakeStore.SHORT, -1);
        };
        Waiter waiter = ask(CALL);
        assertThat(undone()).containsExactly(id(waiter));
    }

    @Test
    void moreThanFiveHundredPermitsAreRenewedInParts() {
        store.acquire = ask -> new Answer.Granted(ask.permit().nonce(), 3_000_000, 1, ask.memo(), false, null);
        for (int i = 0; i < 1_200; i++) {
            ask(CALL).outcome.join();
        }
        Set<String> renewed = new HashSet<>();
        timer.pass(1_000);
        for (int part = 0; part < 3; part++) {
            List<Store.PermitName> names = beaten(store.beats.element()).renew();
            assertThat(names).hasSizeLessThanOrEqualTo(500);
            names.forEach(name -> renewed.add(name.id()));
            answerWell();
            timer.pass(20);
        }
        assertThat(renewed).hasSize(1_200);
        assertThat(store.beats).isEmpty();
    }

    private static BeatAsk beaten(FakeStore.Asked<BeatAsk, Beat> beat) {
        return beat.question();
    }

    @Test
    void workThatIsLeftIsDoneBySoonBeatingAgain() {
        ask(CALL);
        timer.pass(250);
        FakeStore.Asked<BeatAsk, Beat> beat = beaten();
        Beat.Alive well = well(beat.question());
        beat.answer()
                .complete(new Beat.Alive(
                        well.stamp(),
                        1,
                        1,
                        true,
                        -1,
                        well.renewed(),
                        well.claims(),
                        well.news(),
                        well.looks(),
                        well.holds(),
                        well.asserted()));
        timer.pass(19);
        assertThat(store.beats).isEmpty();
        timer.pass(1);
        answerWell();
    }

    /** Redis lost its last writes, and with them the permit. */
    @Test
    void aPermitThatRedisDoesNotKnowIsAssertedAtOnceAndGoesOn() {
        store.acquire = ask -> new Answer.Granted(ask.permit().nonce(), 3_000_000, 1, ask.memo(), false, null);
        LivePermit permit = ask(CALL).outcome.join();
        timer.pass(1_000);
        answerRenewal(Store.Renewal.UNKNOWN);
        timer.pass(20);
        FakeStore.Asked<BeatAsk, Beat> beat = beaten();
        assertThat(beat.question().asserts()).singleElement().satisfies(one -> {
            assertThat(one.permit()).isEqualTo(permit.name);
            assertThat(one.costs()).isNotEmpty();
        });
        beat.answer().complete(well(beat.question()));
        timer.pass(1_000);
        assertThat(store.beats.element().question().asserts()).isEmpty();
        assertThat(store.beats.element().question().renew()).containsExactly(permit.name);
        answerRenewal(Store.Renewal.LOST);
        assertThat(held.size()).isZero();
    }

    private void answerRenewal(Store.Renewal renewal) {
        FakeStore.Asked<BeatAsk, Beat> beat = beaten();
        Beat.Alive well = well(beat.question());
        beat.answer()
                .complete(new Beat.Alive(
                        well.stamp(),
                        1,
                        1,
                        false,
                        -1,
                        List.of(renewal),
                        well.claims(),
                        well.news(),
                        well.looks(),
                        well.holds(),
                        well.asserted()));
    }

    // ---- claims

    @Test
    void aGrantRunsOnceItsClaimWasAnswered() {
        Waiter waiter = ask(CALL);
        heart.granted(List.of(id(waiter)));
        timer.pass(0);
        FakeStore.Asked<BeatAsk, Beat> beat = beaten();
        assertThat(beat.question().claims()).containsExactly(id(waiter));
        assertThat(waiter.isDone()).isFalse();
        beat.answer().complete(well(beat.question()));
        assertThat(waiter.outcome.join().id()).isEqualTo(id(waiter));
        assertThat(held.size()).isEqualTo(1);
        assertThat(waiters.standing()).isZero();
    }

    /** The message that says so can be lost. */
    @Test
    void aGrantThatOnlyABeatTellsOfIsClaimedAtOnceToo() {
        Waiter one = ask(CALL);
        Waiter other = ask(CALL);
        timer.pass(250);
        FakeStore.Asked<BeatAsk, Beat> beat = beaten();
        beat.answer()
                .complete(alive(
                        beat.question(),
                        List.of(),
                        List.of(new News(id(one), new Place.ToClaim())),
                        List.of(inLine(FakeStore.SHORT), new Place.ToClaim())));
        timer.pass(0);
        assertThat(store.beats.element().question().claims()).containsExactly(id(one), id(other));
        answerWell();
        assertThat(one.isDone()).isTrue();
        assertThat(other.isDone()).isTrue();
    }

    @Test
    void aClaimThatIsNotAnsweredIsMadeAgain() {
        Waiter waiter = ask(CALL);
        heart.granted(List.of(id(waiter)));
        timer.pass(0);
        outage("timeout");
        timer.pass(20);
        assertThat(store.beats.element().question().claims()).containsExactly(id(waiter));
        answerWell();
        assertThat(waiter.outcome).isCompleted();
    }

    @Test
    void aGrantThatWasUndoneLeavesTheCallInLineOrHasItAskAgain() {
        Waiter kept = ask(CALL);
        Waiter gone = ask(CALL);
        heart.granted(List.of(id(kept), id(gone)));
        timer.pass(0);
        FakeStore.Asked<BeatAsk, Beat> beat = beaten();
        beat.answer()
                .complete(alive(
                        beat.question(), List.of(new Place.InLine(null), new Place.ToSubmit()), List.of(), List.of()));
        assertThat(waiters.standing()).isEqualTo(2);
        assertThat(store.asked).hasSize(3);
        assertThat(store.asked.get(2).permit()).isEqualTo(gone.name);
    }

    /** Nobody would renew it, and nobody end it. */
    @Test
    void aGrantThatNobodyHereWantsGoesBack() {
        heart.granted(List.of("whose"));
        timer.pass(0);
        FakeStore.Asked<BeatAsk, Beat> beat = beaten();
        beat.answer()
                .complete(alive(
                        beat.question(), List.of(new Place.Running("nonce", 1_000_000, 1, "")), List.of(), List.of()));
        assertThat(store.ended).singleElement().satisfies(settlement -> {
            assertThat(settlement.how()).isEqualTo("undone");
            assertThat(settlement.permit()).isEqualTo(new Store.PermitName("whose", "nonce"));
        });
    }

    /** By a message and by a beat. The permit was undone under the call that had it. */
    @Test
    void aGrantThatIsToldOfTwiceIsOnePermit() {
        Waiter waiter = ask(CALL);
        for (int i = 0; i < 2; i++) {
            heart.granted(List.of(id(waiter)));
            timer.pass(0);
            assertThat(store.beats.element().question().claims()).containsExactly(id(waiter));
            answerWell();
        }
        assertThat(waiter.outcome.join().waited()).isNotNull();
        assertThat(held.size()).isEqualTo(1);
        assertThat(store.ended).isEmpty();
    }

    @Test
    void twoCallersOfOneIdGetOnePermitAndItGoesBackWithTheLast() {
        Waiter one = ask(CALL.id("job-1"));
        Waiter other = ask(CALL.id("job-1"));
        Waiter third = ask(CALL.id("job-1"));
        outcomes.giveUp(third, "a test");
        assertThat(undone()).as("two still want it").isEmpty();
        heart.granted(List.of("job-1"));
        timer.pass(0);
        FakeStore.Asked<BeatAsk, Beat> beat = beaten();
        beat.answer()
                .complete(alive(
                        beat.question(),
                        List.of(new Place.Running(one.name.nonce(), 1_000_000, 1, "")),
                        List.of(),
                        List.of()));
        assertThat(one.outcome.join()).isSameAs(other.outcome.join());

        outcomes.giveUp(one, "a test");
        assertThat(undone()).isEmpty();
        outcomes.giveUp(other, "a test");
        assertThat(undone()).containsExactly("job-1");
    }

    // ---- looks

    @Test
    void itLooksAfterThirtyTwoAtATimeInTurn() {
        for (int i = 0; i < 100; i++) {
            ask(CALL);
        }
        Set<String> seen = new HashSet<>();
        for (int i = 0; i < 4; i++) {
            timer.pass(250);
            List<String> looks = store.beats.element().question().looks();
            assertThat(looks).hasSize(32);
            seen.addAll(looks);
            answerWell();
        }
        assertThat(seen).hasSize(100);
    }

    /** Redis lost the line: all of it is found out soon, and not in one burst. */
    @Test
    void whatRedisLostIsSubmittedAgain() {
        for (int i = 0; i < 100; i++) {
            ask(CALL);
        }
        store.asked.clear();
        timer.pass(230);
        for (int i = 0; i < 4; i++) {
            timer.pass(20);
            FakeStore.Asked<BeatAsk, Beat> beat = beaten();
            List<Place> gone = new ArrayList<>();
            beat.question().looks().forEach(id -> gone.add(new Place.ToSubmit()));
            beat.answer().complete(alive(beat.question(), List.of(), List.of(), gone));
        }
        assertThat(store.asked).hasSize(128);
        assertThat(store.asked.stream().map(ask -> ask.permit().id()).distinct())
                .hasSize(100);
        assertThat(waiters.standing()).isEqualTo(100);
    }

    @Test
    void aListenerHearsWhatIsNewsAndNothingElse() {
        Waiter waiter = ask(CALL);
        assertThat(told).hasSize(1);
        look(new Queued(4_900_000, 0, "c:m", "concurrency", 1));
        assertThat(told).as("what passed, passed").hasSize(1);
        look(new Queued(4_900_000, 0, "p", "itpm", 1));
        look(new Queued(4_900_000, 0, "p", "itpm", 2));
        look(new Queued(9_000_000, 9_000_000, "p", "itpm", 2));
        look(new Queued(9_000_000, 9_000_000, "p", "itpm", 2));
        assertThat(told.stream()
                        .map(one -> one.scope() + " " + one.limit() + " " + one.position() + " "
                                + one.expected().toMillis() + " " + one.estimate()))
                .containsExactly(
                        "c:m concurrency 1 5000 true",
                        "p itpm 1 4900 true",
                        "p itpm 2 4900 true",
                        "p itpm 2 9000 true");
        assertThat(waiter.isDone()).isFalse();
    }

    private void look(Queued queued) {
        timer.pass(250);
        FakeStore.Asked<BeatAsk, Beat> beat = beaten();
        beat.answer().complete(alive(beat.question(), List.of(), List.of(), List.of(inLine(queued))));
    }
}
