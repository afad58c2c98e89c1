package io.sluice;

import static io.sluice.Budget.CALL;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.Store.Answer;
import io.sluice.Store.Beat;
import io.sluice.Store.BeatAsk;
import io.sluice.Store.News;
import io.sluice.Store.Place;
import io.sluice.Store.Queued;
import io.sluice.Store.Settled;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a process says in its beats and makes of the answers; against a store and a clock in the test's hands. */
class HeartTest {
    private final FakeStore store = new FakeStore();
    private final FakeTimer timer = new FakeTimer();
    private final List<WaitListener.Waiting> told = new ArrayList<>();
    private final SluiceClient client = new SluiceClient(store, Sluice.Options.DEFAULT.withListener(new WaitListener() {
        @Override
        public void waiting(Waiting waiting) {
            told.add(waiting);
        }
    }));
    private final ProjectClient project = (ProjectClient) client.project("acme");
    private final Tempo tempo = new Tempo(timer.service(), timer::nanoTime, () -> 0, this::beat);
    private final PolicyCache policies = new PolicyCache(store, "acme", System::nanoTime, this::moved);
    private final Endings endings = new Endings(client, "acme");
    private final Held held = new Held("acme", tempo, endings);
    private final Waiters waiters = new Waiters();
    private final Outcomes outcomes = new Outcomes(project, tempo, waiters, held, endings);
    private final Asking asking = new Asking(client, "acme", policies, new Installer(store, client.host), outcomes);
    private final Heart heart = new Heart(project, tempo, policies, held, waiters, asking, outcomes, timer::nanoTime);

    private void beat() {
        heart.beat();
    }

    private void moved(PolicyView view) {
        outcomes.moved(view);
    }

    @AfterEach
    void everythingHasEnded() {
        client.close();
    }

    private Waiter ask(Call call) {
        return asking.begin(call, Duration.ofMinutes(1), false);
    }

    private static String id(Waiter waiter) {
        return waiter.name.id();
    }

    /** The beat that must be under way now. */
    private FakeStore.Asked<BeatAsk, Beat> beaten() {
        assertThat(store.beats).as("beats under way").hasSize(1);
        return store.beats.remove();
    }

    private Beat.Alive alive(BeatAsk ask, List<Place> claims, List<News> news, List<Place> looks) {
        List<Boolean> renewed = ask.renew().stream().map(any -> true).toList();
        return new Beat.Alive(store.stamp(), 1, 1, false, -1, renewed, claims, news, looks);
    }

    /** All well: what was claimed runs, what waits waits. */
    private Beat.Alive well(BeatAsk ask) {
        return alive(
                ask,
                ask.claims().stream().map(id -> running()).toList(),
                List.of(),
                ask.looks().stream().map(id -> inLine(FakeStore.SHORT)).toList());
    }

    private void answerWell() {
        FakeStore.Asked<BeatAsk, Beat> beat = beaten();
        beat.answer().complete(well(beat.question()));
    }

    private static Place running() {
        return new Place.Running("", 1_000_000, 1, "1,10,0,0,5");
    }

    private static Place inLine(Queued queued) {
        return new Place.InLine(queued);
    }

    private void outage(String reason) {
        beaten().answer().completeExceptionally(new OutageException(reason, "a test's", null));
    }

    private static String end(Waiter waiter) {
        assertThat(waiter.outcome).isCompletedExceptionally();
        Throwable e =
                Blocking.cause(waiter.outcome.handle((permit, thrown) -> thrown).join());
        return e instanceof OutageException outage
                ? outage.reason()
                : ((RefusedException) e).refusal().kind().label();
    }

    private List<String> undone() {
        return store.ended.stream()
                .filter(settlement -> settlement.how().equals("undone"))
                .map(settlement -> settlement.permit().id())
                .toList();
    }

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
                .isEqualTo(new BeatAsk("acme", client.host, List.of(permit.name), List.of(), List.of()));
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
                        well.stamp(), 1, 1, true, -1, well.renewed(), well.claims(), well.news(), well.looks()));
        timer.pass(19);
        assertThat(store.beats).isEmpty();
        timer.pass(1);
        answerWell();
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
        outcomes.close();
        assertThat(end(waiter)).isEqualTo("cancelled");
        Waiter late = ask(CALL);
        assertThat(end(late)).isEqualTo("cancelled");
        assertThat(undone()).containsExactly(id(waiter), id(late));
    }
}
