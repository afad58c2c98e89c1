package io.sluice;

import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** One project in this process: the forms in which users ask, and what the project needs besides. */
final class ProjectClient implements Project {
    final SluiceClient client;
    private final String id;
    private final Tempo tempo;
    private final PolicyCache policies;
    private final Installer installer;
    private final Endings endings;
    private final Held held;
    private final Waiters waiters = new Waiters();
    private final Outcomes outcomes;
    private final Asking asking;
    final Observing observing;
    private final Heart heart;
    private final AutoCloseable messages;

    /** Calls that wait outside the line, to be sent again. */
    final Set<Calling> pausing = ConcurrentHashMap.newKeySet();

    private volatile boolean closed;

    ProjectClient(SluiceClient client, String id) {
        this.client = client;
        this.id = id;
        this.tempo = new Tempo(
                client.timer,
                System::nanoTime,
                () -> ThreadLocalRandom.current().nextLong(Tempo.GAP_NS),
                this::beat);
        this.policies = new PolicyCache(client.store, id, System::nanoTime, this::moved);
        this.installer = new Installer(client.store, client.host);
        this.endings = new Endings(client, id);
        this.held = new Held(id, tempo, endings);
        this.outcomes = new Outcomes(this, tempo, waiters, held, endings);
        this.observing = new Observing(client, id, policies, client.timer, System::nanoTime);
        this.asking = new Asking(client, id, policies, installer, outcomes, observing.learning);
        this.heart = new Heart(this, tempo, policies, held, waiters, asking, outcomes, System::nanoTime);
        this.messages = client.store.listen(id, client.host, heart::granted);
        client.meters.gauges(id, held::size, waiters::standing);
    }

    private void beat() {
        heart.beat();
    }

    private void moved(PolicyView view) {
        outcomes.moved(view);
    }

    @Override
    public String id() {
        return id;
    }

    CompletionStage<String> install(Policy policy) {
        return installer
                .install(policy, policies.cached())
                .thenCompose(stamp -> policies.youngerThan(0).thenApply(view -> stamp));
    }

    /** The policy in force now. */
    CompletionStage<PolicyView> policy() {
        return policies.youngerThan(0);
    }

    /** A policy that was in force not long ago. */
    CompletionStage<PolicyView> knownPolicy() {
        return policies.current();
    }

    @Override
    public Decision tryAcquire(Call call) {
        client.mayBlock();
        return decision(
                Blocking.get(asking.begin(call, Duration.ZERO, true).outcome.handle(Outcome::new)));
    }

    @Override
    public CompletionStage<Decision> tryAcquireAsync(Call call) {
        Waiter waiter = asking.begin(call, Duration.ZERO, true);
        return handOver(waiter, waiter.outcome.handle(Outcome::new).thenApply(this::decision));
    }

    private record Outcome(
            @Nullable LivePermit permit, @Nullable Throwable thrown) {}

    private Decision decision(Outcome outcome) {
        if (outcome.permit() != null) {
            return new Decision.Granted(outcome.permit());
        }
        Throwable cause = Blocking.cause(Objects.requireNonNull(outcome.thrown()));
        if (cause instanceof RefusedException refused) {
            return new Decision.Refused(refused.refusal());
        }
        throw cause instanceof RuntimeException e ? e : new CompletionException(cause);
    }

    @Override
    public Permit acquire(Call call, Duration maxWait) throws InterruptedException {
        client.mayBlock();
        Waiter waiter = asking.begin(call, maxWait, false);
        try {
            return Blocking.getInterruptibly(waiter.outcome);
        } catch (InterruptedException e) {
            outcomes.giveUp(waiter, "interrupted");
            throw e;
        }
    }

    @Override
    public CompletionStage<Permit> acquireAsync(Call call, Duration maxWait) {
        Waiter waiter = asking.begin(call, maxWait, false);
        return handOver(waiter, waiter.outcome.thenApply(permit -> permit));
    }

    @Override
    public Response call(Call call, Profile profile, CallOptions options, Sender sender) throws InterruptedException {
        client.mayBlock();
        CallerThread caller = new CallerThread();
        return caller.until(new Calling(this, call, profile, options, caller.runs(sender)).start());
    }

    @Override
    public CompletionStage<Response> callAsync(Call call, Profile profile, CallOptions options, Sender.Async sender) {
        return new Calling(this, call, profile, options, sender).start();
    }

    /** Who ends the future in our stead, by cancelling it or by a time-out of its own, keeps nothing. */
    private <T> CompletableFuture<T> handOver(Waiter waiter, CompletionStage<T> ours) {
        CompletableFuture<T> theirs = client.handOver(ours);
        theirs.whenComplete((result, e) -> {
            if (e != null || result == null) {
                outcomes.giveUp(waiter, "cancelled");
            }
        });
        return theirs;
    }

    CompletionStage<Permit.Ending> end(LivePermit permit, Permit.How how, Permit.Reserved used) {
        return held.end(permit, how, used);
    }

    /** Starts nothing on a thread that must not wait for its end. */
    <T> T blocking(Supplier<CompletionStage<T>> start) {
        client.mayBlock();
        return Blocking.get(start.get());
    }

    /** It waits outside the line: nobody would wake it once this is closed. */
    void pauses(Calling calling) {
        pausing.add(calling);
        if (closed) {
            calling.close();
        }
    }

    /** How many calls of this process wait. */
    int waiting() {
        return waiters.standing();
    }

    /** How many permits this process holds. */
    int held() {
        return held.size();
    }

    void close() {
        closed = true;
        outcomes.close();
        pausing.forEach(Calling::close);
        try {
            messages.close();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /** Completes when nothing that should reach Redis is still under way. */
    CompletableFuture<Void> lastWords() {
        heart.close();
        CompletableFuture<Void> ended = endings.close(asking::isQuiet);
        return CompletableFuture.allOf(ended, observing.close());
    }
}
