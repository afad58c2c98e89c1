package io.sluice;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.Store.Beat;
import io.sluice.Store.BeatAsk;
import io.sluice.Store.News;
import io.sluice.Store.Place;
import io.sluice.Store.Queued;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;

/** A process with one project, whose store and clock are in the test's hands. */
abstract class HeartFixture {
    final FakeStore store = new FakeStore();
    final FakeTimer timer = new FakeTimer();
    final List<WaitListener.Waiting> told = new ArrayList<>();
    final SluiceClient client = new SluiceClient(store, Sluice.Options.DEFAULT.withListener(new WaitListener() {
        @Override
        public void waiting(Waiting waiting) {
            told.add(waiting);
        }
    }));
    final ProjectClient project = (ProjectClient) client.project("acme");
    final Tempo tempo = new Tempo(timer.service(), timer::nanoTime, () -> 0, this::beat);
    final Installer installer = new Installer(store, "acme", client.host);
    final PolicyCache policies = new PolicyCache(store, "acme", System::nanoTime, installer::mended, this::moved);
    final Endings endings = new Endings(client, "acme");
    final LocalBudget budget = new LocalBudget(timer::nanoTime, () -> Share.ALONE);
    final Held held = new Held(tempo, endings, budget);
    final Waiters waiters = new Waiters();
    final Handed handed = new Handed(held, endings, budget, timer.service(), timer::nanoTime);
    final Outcomes outcomes = new Outcomes(project, tempo, waiters, held, handed, endings);
    final Observing observing = new Observing(client, "acme", policies, timer.service(), timer::nanoTime);
    final LocalLine line = new LocalLine(timer.service(), budget, outcomes, timer::nanoTime);
    final Fleet fleet = new Fleet(store, client.host, "acme", timer.service(), policies, () -> {}, timer::nanoTime);
    final OutageRule rule = new OutageRule(
            project, outcomes, budget, line, waiters, fleet, observing.learning, timer.service(), timer::nanoTime);
    final Asking asking = new Asking(client, "acme", policies, installer, outcomes, rule, observing.learning);
    final Heart heart = new Heart(project, tempo, policies, held, waiters, asking, outcomes, rule, timer::nanoTime);

    {
        rule.asksBy(asking::ask, heart::greet);
    }

    void beat() {
        heart.beat();
    }

    void moved(PolicyView view) {
        outcomes.waitEnds.moved(view);
    }

    @AfterEach
    void everythingHasEnded() {
        client.close();
    }

    Waiter ask(Call call) {
        return asking.begin(call, Duration.ofMinutes(1), false);
    }

    static String id(Waiter waiter) {
        return waiter.name.id();
    }

    /** The beat that must be under way now. */
    FakeStore.Asked<BeatAsk, Beat> beaten() {
        assertThat(store.beats).as("beats under way").hasSize(1);
        return store.beats.remove();
    }

    Beat.Alive alive(BeatAsk ask, List<Place> claims, List<News> news, List<Place> looks) {
        List<Store.Renewal> renewed =
                ask.renew().stream().map(any -> Store.Renewal.RENEWED).toList();
        return new Beat.Alive(
                store.stamp(),
                1,
                1,
                false,
                -1,
                renewed,
                claims,
                news,
                looks,
                List.of(),
                ask.asserts().stream().map(any -> true).toList());
    }

    /** All well: what was claimed runs, what waits waits. */
    Beat.Alive well(BeatAsk ask) {
        return alive(
                ask,
                ask.claims().stream().map(id -> running()).toList(),
                List.of(),
                ask.looks().stream().map(id -> inLine(FakeStore.SHORT)).toList());
    }

    void answerWell() {
        FakeStore.Asked<BeatAsk, Beat> beat = beaten();
        beat.answer().complete(well(beat.question()));
    }

    static Place running() {
        return new Place.Running("", 1_000_000, 1, "1,10,0,0,5");
    }

    static Place inLine(Queued queued) {
        return new Place.InLine(queued);
    }

    void outage(String reason) {
        beaten().answer().completeExceptionally(new OutageException(reason, "a test's", null));
    }

    static String end(Waiter waiter) {
        assertThat(waiter.outcome).isCompletedExceptionally();
        Throwable e =
                Blocking.cause(waiter.outcome.handle((permit, thrown) -> thrown).join());
        return e instanceof OutageException outage
                ? outage.reason()
                : ((RefusedException) e).refusal().kind().label();
    }

    List<String> undone() {
        return store.ended.stream()
                .filter(settlement -> settlement.how().equals("undone"))
                .map(settlement -> settlement.permit().id())
                .toList();
    }
}
