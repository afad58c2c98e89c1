package io.sluice;

import io.sluice.PolicyView.Resolved;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One project in this process: the forms in which users ask, and what the project needs besides. */
final class ProjectClient implements Project {
    private static final Logger log = LoggerFactory.getLogger(ProjectClient.class);

    final SluiceClient client;
    private final String id;
    final Counting counting;
    private final Tempo tempo;
    private final PolicyCache policies;
    private final Installer installer;
    private final Endings endings;
    private final Held held;
    final Handed handed;
    private final Hearsay hearsay = new Hearsay(System::nanoTime);
    private final Waiters waiters = new Waiters();
    private final Outcomes outcomes;
    private final Asking asking;
    private final OutageRule rule;
    final Observing observing;
    final LocalBudget budget;
    private final Fleet fleet;
    private final LocalLine line;
    private final Heart heart;
    final Removal removal;

    /** Of its grants; {@code null} while nobody calls here: who only looks on need not have the right to listen. */
    private @Nullable AutoCloseable messages;

    /** Calls that are made here, from their permit to their answer. */
    final Set<Calling> calls = ConcurrentHashMap.newKeySet();

    private volatile boolean closed;

    ProjectClient(SluiceClient client, String id) {
        this.client = client;
        this.id = id;
        this.counting = new Counting(client, id);
        this.tempo = new Tempo(
                client.timer,
                System::nanoTime,
                () -> ThreadLocalRandom.current().nextLong(Tempo.GAP_NS),
                this::beat);
        this.installer = new Installer(client.store, id, client.host);
        this.policies = new PolicyCache(client.store, id, System::nanoTime, installer::mended, this::moved);
        this.endings = new Endings(client, id);
        this.fleet = new Fleet(client.store, client.host, id, client.timer, policies, this::greet, System::nanoTime);
        this.budget = new LocalBudget(System::nanoTime, fleet::share);
        this.held = new Held(tempo, endings, budget);
        this.handed = new Handed(held, endings, budget, client.timer, System::nanoTime);
        this.outcomes = new Outcomes(this, tempo, waiters, held, handed, endings);
        this.observing = new Observing(client, id, policies, client.timer, System::nanoTime);
        observing.onHold(counting::held);
        this.line = new LocalLine(client.timer, budget, outcomes, System::nanoTime);
        this.rule = new OutageRule(
                this, outcomes, budget, line, waiters, fleet, observing.learning, client.timer, System::nanoTime);
        this.asking = new Asking(client, id, policies, installer, outcomes, rule, observing.learning);
        this.heart = new Heart(this, tempo, policies, held, waiters, asking, outcomes, rule, System::nanoTime);
        this.removal = new Removal(this, client.timer);
        rule.asksBy(asking::ask, heart::greet);
        outcomes.onGivenHere(heart::givenHere);
        observing.learning.listener(heart::learned);
        client.meters.gauges(id, () -> held.size() + handed.size(), () -> waiters.standing() + line.size());
        client.meters.degraded(id, () -> rule.isOut() ? 1 : 0);
    }

    private void greet() {
        heart.greet();
    }

    /** What a provider's "no" means for this process, should Redis not hear of it. */
    void holdsHere(Rejection rejection, Resolved call) {
        holdHere(Lessons.ofRejection(rejection, call, Store.Observation.OPERATOR));
    }

    private void holdHere(List<Store.Observation> lessons) {
        for (Store.Observation one : lessons) {
            if (one instanceof Store.Observation.Hold hold) {
                budget.holdsNow(hold.asStated());
            }
        }
    }

    /** Calls will be made here: it hears of grants, and whoever may not make calls hears of that now. */
    synchronized ProjectClient listening() {
        if (messages == null && !closed) {
            messages = client.store.listen(id, client.host, heart::granted);
        }
        return this;
    }

    /** A call begins. */
    private Waiter begin(Call call, Duration maxWait, boolean once) {
        Waiter waiter = asking.begin(call, maxWait, once);
        fleet.used();
        return waiter;
    }

    private void beat() {
        heart.beat();
    }

    private void moved(PolicyView view) {
        outcomes.waitEnds.moved(view);
    }

    @Override
    public String id() {
        return id;
    }

    /** @throws AdminException {@code VERSION_MISMATCH} if another version than the expected one is in force */
    CompletionStage<Store.Installed.Done> install(Policy policy, @Nullable Long expected, String who, boolean drains) {
        return installer
                .install(policy, policies.cached(), expected, Installer.note(who, drains))
                .thenCompose(done -> policies.youngerThan(0).thenApply(view -> {
                    if (done.changed()) {
                        counting.policy(Store.version(done.stamp()), who);
                    }
                    return done;
                }));
    }

    /** Whether its calls meet the policy's outage rule now. */
    boolean isDegraded() {
        return rule.isOut();
    }

    CompletionStage<String> install(Policy policy) {
        return install(policy, null, client.host, false).thenApply(Store.Installed.Done::stamp);
    }

    /** The policy in force now. */
    CompletionStage<PolicyView> policy() {
        return policies.youngerThan(0);
    }

    /** Whether another version is in force than is known here, or none, by what the index of projects says ({@code null}: nothing). */
    boolean isNews(@Nullable Long listed) {
        PolicyView known = policies.cached();
        return known != null
                && (installer.wasSeenRemoved()
                        ? listed != null
                        : !Long.valueOf(Store.version(known.stamp)).equals(listed));
    }

    /** This process has removed it. */
    void isRemoved() {
        installer.isRemoved();
    }

    /** A policy that was in force not long ago. */
    CompletionStage<PolicyView> knownPolicy() {
        return policies.current();
    }

    @Override
    public Decision tryAcquire(Call call) {
        client.mayBlock();
        return decision(Blocking.get(begin(call, Duration.ZERO, true).outcome.handle(Outcome::new)));
    }

    @Override
    public CompletionStage<Decision> tryAcquireAsync(Call call) {
        Waiter waiter = begin(call, Duration.ZERO, true);
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
        Waiter waiter = begin(call, maxWait, false);
        try {
            return Blocking.getInterruptibly(waiter.outcome);
        } catch (InterruptedException e) {
            outcomes.giveUp(waiter, "interrupted");
            throw e;
        }
    }

    @Override
    public CompletionStage<Permit> acquireAsync(Call call, Duration maxWait) {
        Waiter waiter = begin(call, maxWait, false);
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

    @Override
    public Optional<Duration> hold(String scope, @Nullable Duration length, String reason) {
        return blocking(() -> new Orders(this).hold(scope, length, client.host, reason));
    }

    @Override
    public boolean release(@Nullable String scope) {
        return blocking(() -> new Orders(this).release(scope, client.host));
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
        CompletionStage<Permit.Ending> ended = held.end(permit, how, used);
        handed.forget(permit);
        return ended;
    }

    // ---- for the desk

    CompletionStage<Desk.Handout> handOut(Desk.Asking wanted, Ticket ticket, Executor callers) {
        Waiter waiter = asking.begin(wanted.call(), wanted.maxWait(), false, ticket);
        fleet.used();
        CompletableFuture<Desk.Handout> theirs =
                SluiceClient.handOver(waiter.outcome.thenApply(permit -> permit.handout(waiter)), callers);
        theirs.whenComplete((result, e) -> {
            if (e != null || result == null) {
                outcomes.giveUp(waiter, "cancelled");
            }
        });
        return theirs;
    }

    /** What a caller of the desk says that an answer to this call said. */
    void taughtAtDesk(Reading reading, String reporter, Resolved call, long grantedUs) {
        List<Store.Observation> lessons =
                hearsay.of(Lessons.of(reading, call, grantedUs), reporter, grantedUs, outcomes.clock.nowUs());
        observing.taught(lessons, hearsay.left(Remaining.of(reading, call), call, reporter));
        holdHere(lessons);
    }

    /** By Redis's clock. */
    long nowUs() {
        return outcomes.clock.nowUs();
    }

    CompletionStage<Store.Renewal> renew(Store.PermitName name) {
        return heart.renew(name);
    }

    CompletionStage<Boolean> assertAgain(LivePermit permit) {
        return heart.assertAgain(permit);
    }

    /** Its lease could not be renewed: this process need know no more of it. */
    void leavesDesk(LivePermit permit) {
        if (handed.forget(permit)) {
            held.leavesHere(permit);
        }
    }

    /** Its holder is told that its lease is lost, and so is everybody else: once, however often it asks here. */
    void deskLost(LivePermit permit) {
        if (handed.isNewlyLost(permit.name)) {
            permit.lost();
        }
    }

    /** Ends a permit of which no more is known than its name. */
    CompletionStage<Permit.Ending> end(Store.Settlement settlement) {
        return held.end(settlement);
    }

    /** Ends a wait, wherever it waits. */
    CompletionStage<Boolean> withdraw(Store.PermitName name) {
        return endings.withdraw(name);
    }

    /** Ends the waits of a caller's id here; whether there were any. */
    boolean takeBack(String caller, String callId) {
        return outcomes.waitEnds.takenBack(caller, callId);
    }

    CompletionStage<Void> closeDesk() {
        outcomes.waitEnds.closeDesk();
        return endings.returned();
    }

    /** Starts nothing on a thread that must not wait for its end. */
    <T> T blocking(Supplier<CompletionStage<T>> start) {
        client.mayBlock();
        return Blocking.get(start.get());
    }

    /** Whether it may begin: not once this is closed. */
    boolean begins(Calling calling) {
        calls.add(calling);
        if (closed) {
            calling.close();
        }
        return !closed;
    }

    /** How many calls of this process wait. */
    int waiting() {
        return waiters.standing() + line.size();
    }

    /** What this process may use now without Redis. */
    Share share() {
        return fleet.share();
    }

    /** How many permits this process holds. */
    int held() {
        return held.size();
    }

    /** No new calls; what waits is refused, what was sent is cancelled. {@link #lastWords} ends what is still held then. */
    void close() {
        if (closed) {
            return;
        }
        closed = true;
        fleet.close();
        outcomes.waitEnds.close();
        calls.forEach(Calling::close);
        AutoCloseable listens;
        synchronized (this) {
            listens = messages;
        }
        try {
            if (listens != null) {
                listens.close();
            }
        } catch (Exception e) {
            log.warn("{}: its messages did not end in order", id, e);
        }
    }

    /** Nobody is left to end it. There may be thousands, and what Redis is told of them must not time out in a queue. */
    private CompletableFuture<Permit.Ending> ends(LivePermit permit) {
        CompletionStage<Permit.Ending> ended =
                permit.degraded() ? permit.endsHere() : client.returns.run(permit::endsHere);
        return ended.toCompletableFuture();
    }

    /** Completes when nothing that should reach Redis is still under way. */
    CompletableFuture<Void> lastWords() {
        CompletableFuture<Void> freed =
                CompletableFuture.allOf(held.open().stream().map(this::ends).toArray(CompletableFuture[]::new));
        CompletableFuture<Void> told = heart.close();
        CompletableFuture<Void> ended = endings.close(asking::isQuiet);
        return CompletableFuture.allOf(freed, told, ended, observing.close())
                .handle((done, e) -> e)
                .thenCompose(ignored -> counting.close());
    }
}
