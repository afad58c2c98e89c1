package io.sluice;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A store that answers what a test tells it, when the test says so. Knows one policy. */
final class FakeStore implements Store {
    static final Queued SHORT = new Queued(5_000_000, 0, "c:m", "concurrency", 1);

    /** What is asked is answered at once; what beats and ends waits for the test. */
    Function<Ask, Answer> acquire = ask -> new Answer.Waiting(SHORT, -1);

    /** Why it is out; {@code null}: it is not. */
    @Nullable
    OutageException out;

    /** Whether it answered lately. */
    boolean answers = true;

    final List<Ask> asked = new ArrayList<>();
    /** Whether beats fail at once, as they do while there is no connection; and how many did. */
    boolean isCut;

    int refusedBeats;

    final Deque<Asked<BeatAsk, Beat>> beats = new ArrayDeque<>();
    final List<Settlement> ended = new ArrayList<>();
    Function<Settlement, Settled> settle = it -> new Settled.Ended(it.how(), false, it.memo());
    final List<Observations> observed = new ArrayList<>();

    /** What was observed and ended, in the order in which it came. */
    final List<String> heard = new ArrayList<>();

    Function<Observations, CompletionStage<Observed>> observe =
            it -> CompletableFuture.failedStage(new OutageException("timeout", "not in this test", null));
    List<Learned> known = List.of();

    /** How often that was read. */
    int reads;

    Records records = new NoRecords();

    /** What ends the hearing of messages. */
    AutoCloseable listening = () -> {};

    boolean closed;

    Policy policy = Budget.policy("acme", "concurrency: 1");
    int version = 1;
    int installed;

    record Asked<Q, A>(Q question, CompletableFuture<A> answer) {}

    @Override
    public CompletionStage<Answer> acquire(Ask ask) {
        asked.add(ask);
        try {
            return out == null
                    ? CompletableFuture.completedStage(acquire.apply(ask))
                    : CompletableFuture.failedStage(out);
        } catch (OutageException e) {
            return CompletableFuture.failedStage(e);
        }
    }

    @Override
    public CompletionStage<Settled> settle(Settlement settlement) {
        if (out != null) {
            return CompletableFuture.failedStage(out);
        }
        ended.add(settlement);
        heard.add(settlement.how());
        return CompletableFuture.completedStage(settle.apply(settlement));
    }

    @Override
    public CompletionStage<Beat> beat(BeatAsk ask) {
        if (isCut) {
            refusedBeats++;
            throw new OutageException("disconnected", "a test's", null);
        }
        Asked<BeatAsk, Beat> asked = new Asked<>(ask, new CompletableFuture<>());
        beats.add(asked);
        return asked.answer;
    }

    @Override
    public CompletionStage<Observed> observe(Observations observations) {
        observed.add(observations);
        heard.add("observe");
        return observe.apply(observations);
    }

    @Override
    public CompletionStage<Found> find(String project, String id) {
        return CompletableFuture.completedStage(new Found.Nobody());
    }

    @Override
    public CompletionStage<List<Learned>> learned(String project) {
        reads++;
        return CompletableFuture.completedStage(known);
    }

    @Override
    public CompletionStage<Installed> install(Installation installation) {
        installed++;
        return CompletableFuture.completedStage(new Installed.Done(stamp(), true));
    }

    @Override
    public CompletionStage<StoredPolicy> policy(String project) {
        List<Layout> layouts = new ArrayList<>();
        for (ScopeLimits scope : policy.scopes()) {
            List<String> names = scope.refills().stream().map(RefillLimit::name).toList();
            layouts.add(new Layout(
                    scope.scope(), names, names.stream().map(name -> true).toList()));
        }
        return CompletableFuture.completedStage(new StoredPolicy(stamp(), policy.toJson(), layouts));
    }

    String stamp() {
        return version + ":e";
    }

    @Override
    public CompletionStage<Boolean> check(String project, String host) {
        return CompletableFuture.completedStage(true);
    }

    @Override
    public CompletionStage<Hosts> hosts(String project, String host) {
        return CompletableFuture.completedStage(new Hosts(1, 0));
    }

    @Override
    public AutoCloseable listen(String project, String host, Consumer<List<String>> granted) {
        return listening;
    }

    @Override
    public Records records() {
        return records;
    }

    @Override
    public boolean mustNotBlock() {
        return false;
    }

    @Override
    public void timed(BiConsumer<String, Duration> times) {}

    @Override
    public boolean answers() {
        return answers;
    }

    @Override
    public void close() {
        closed = true;
    }
}
