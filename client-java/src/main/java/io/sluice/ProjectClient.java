package io.sluice;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** One project in this process: the forms in which users ask, and what the project needs besides. */
final class ProjectClient implements Project {
    final SluiceClient client;
    private final String id;
    private final PolicyCache policies;
    private final Installer installer;
    private final Asking asking;
    private final Held held;
    private final AutoCloseable messages;

    ProjectClient(SluiceClient client, String id) {
        this.client = client;
        this.id = id;
        this.policies = new PolicyCache(client.store, id, System::nanoTime);
        this.installer = new Installer(client.store, client.host);
        this.held = new Held(client, id, policies);
        this.asking = new Asking(this, policies, installer, held);
        this.messages = client.store.listen(id, this::heard);
        client.meters.gauges(id, held::size, asking::waiting);
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

    @Override
    public Decision tryAcquire(Call call) {
        client.mayBlock();
        return decision(
                Blocking.get(asking.begin(call, Duration.ZERO, true).result.handle(Outcome::new)));
    }

    @Override
    public CompletionStage<Decision> tryAcquireAsync(Call call) {
        Waiter waiter = asking.begin(call, Duration.ZERO, true);
        return handOver(waiter, waiter.result.handle(Outcome::new).thenApply(this::decision));
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
            return Blocking.getInterruptibly(waiter.result);
        } catch (InterruptedException e) {
            asking.giveUp(waiter, "interrupted");
            throw e;
        }
    }

    @Override
    public CompletionStage<Permit> acquireAsync(Call call, Duration maxWait) {
        Waiter waiter = asking.begin(call, maxWait, false);
        return handOver(waiter, waiter.result.thenApply(permit -> permit));
    }

    /** Who ends the future in our stead, by cancelling it or by a time-out of its own, keeps nothing. */
    private <T> CompletableFuture<T> handOver(Waiter waiter, CompletionStage<T> ours) {
        CompletableFuture<T> theirs = client.handOver(ours);
        theirs.whenComplete((result, e) -> {
            if (e != null || result == null) {
                asking.giveUp(waiter, "cancelled");
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

    private void heard(String message) {
        if (message.equals("policy")) {
            policies.youngerThan(0);
        }
        asking.wake();
    }

    /** How many calls of this process wait. */
    int waiting() {
        return asking.waiting();
    }

    /** How many permits this process holds. */
    int held() {
        return held.size();
    }

    void close() {
        asking.close();
        try {
            messages.close();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /** Completes when nothing that should reach Redis is still under way. */
    CompletableFuture<Void> lastWords() {
        return held.close();
    }
}
