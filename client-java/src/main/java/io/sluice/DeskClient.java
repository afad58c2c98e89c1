package io.sluice;

import io.sluice.Permit.Ending;
import io.sluice.Permit.How;
import io.sluice.Permit.Reserved;
import io.sluice.PolicyView.Resolved;
import io.sluice.Store.Found;
import io.sluice.Store.PermitName;
import io.sluice.Store.Renewal;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The desk of one project. A permit that was handed out in this process is remembered here; any other is read from its record in
 * Redis, which says what its call was, and ends in the same way.
 */
final class DeskClient implements Desk {
    private static final Reserved NOTHING = new Reserved(0, 0, 0, 0, 0);
    private static final Ending UNKNOWN = new Ending(How.UNKNOWN, true, NOTHING);

    /** Stands for what cannot be a permit's name: no permit has such a nonce. */
    private static final PermitName NOBODY = new PermitName("-", "-");

    private final ProjectClient project;
    private final SluiceClient client;
    private final Function<Provider, Profile> profiles;

    /** Where results are handed over. */
    private final Executor callers;

    DeskClient(ProjectClient project, Function<Provider, Profile> profiles) {
        this(project, profiles, project.client.desk);
    }

    private DeskClient(ProjectClient project, Function<Provider, Profile> profiles, Executor callers) {
        this.project = project;
        this.client = project.client;
        this.profiles = profiles;
        this.callers = callers;
    }

    @Override
    public Desk on(Executor executor) {
        return new DeskClient(project, profiles, task -> {
            try {
                executor.execute(task);
            } catch (RejectedExecutionException ended) {
                task.run();
            }
        });
    }

    private <T> CompletableFuture<T> handOver(CompletionStage<T> ours) {
        return SluiceClient.handOver(ours, callers);
    }

    @Override
    public String project() {
        return project.id();
    }

    @Override
    public CompletionStage<Handout> acquire(Desk.Asking asking, Consumer<WaitListener.Waiting> waits) {
        return project.handOut(asking, new Ticket(asking.caller(), asking.lease(), waits), callers);
    }

    // ---- endings

    @Override
    public CompletionStage<Outcome> settle(String permit, Report report) {
        return handOver(whichever(permit).thenCompose(found -> settled(found, report)));
    }

    private CompletionStage<Outcome> settled(Named found, Report report) {
        Policy policy = found.view == null ? null : found.view.policy;
        Reading reading = policy == null ? null : reading(report, policy, found);
        Advice advice = advice(reading);
        CompletionStage<Ending> ending = found.permit == null
                ? found.end(reading != null && reading.rejection() != null ? How.THROTTLED : How.SETTLED)
                : found.permit.end.reported(report, reading);
        return ending.thenApply(end -> new Outcome(end, advice));
    }

    private @Nullable Reading reading(Report report, Policy policy, Named found) {
        Answer answer = report.answer();
        if (answer == null) {
            return null;
        }
        Call call = found.permit == null ? null : found.permit.call().call();
        if (call != null) {
            answer = answer.model() == null ? answer.model(call.model) : answer;
            answer = answer.serviceTier() == null && call.serviceTier != null
                    ? answer.serviceTier(call.serviceTier)
                    : answer;
            answer = answer.speed() == null && call.speed != null ? answer.speed(call.speed) : answer;
        }
        return profiles.apply(policy.provider()).read(answer);
    }

    private static Advice advice(@Nullable Reading reading) {
        Rejection rejection = reading == null ? null : reading.rejection();
        if (rejection == null) {
            return Advice.DONE;
        }
        if (!rejection.retryable()) {
            return new Advice(Advice.Action.STOP, null, rejection.kind(), rejection.scope());
        }
        Duration pause = Backoff.pause(
                rejection.waitFor(), 1, ThreadLocalRandom.current().nextDouble());
        return new Advice(Advice.Action.RETRY, pause, rejection.kind(), rejection.scope());
    }

    @Override
    public CompletionStage<Ending> cancel(String permit) {
        return handOver(whichever(permit)
                .thenCompose(found -> found.permit == null ? found.end(How.CANCELLED) : found.permit.end.cancelled()));
    }

    /**
     * A permit's name, and what is known of it.
     *
     * @param name {@link #NOBODY} for what is none
     * @param view the policy in force, {@code null} where that does not matter
     * @param permit {@code null} if nothing more is known than that it is not known here
     * @param ended how it ended, if that is known already
     */
    private record Named(
            DeskClient desk,
            PermitName name,
            @Nullable PolicyView view,
            @Nullable LivePermit permit,
            @Nullable Ending ended) {

        /** Ends what only Redis knows of. The estimate stands. What it does not know it counts. */
        CompletionStage<Ending> end(How how) {
            if (ended != null) {
                return CompletableFuture.completedStage(ended);
            }
            String label = how.name().toLowerCase(Locale.ROOT);
            String memo = how == How.CANCELLED ? Memo.of(NOTHING) : "";
            CompletionStage<Ending> end =
                    desk.project.end(new Store.Settlement(desk.project(), name, label, memo, 0, List.of()));
            return name.equals(NOBODY) ? end.exceptionally(e -> UNKNOWN) : end;
        }
    }

    private CompletionStage<Named> whichever(String handle) {
        PermitName name = Handle.read(handle);
        if (name == null) {
            return CompletableFuture.completedStage(new Named(this, NOBODY, null, null, null));
        }
        LivePermit here = project.handed.get(name);
        if (here != null) {
            return CompletableFuture.completedStage(
                    new Named(this, name, here.call().view(), here, null));
        }
        return client.store
                .find(project.id(), name.id())
                .thenCombine(project.knownPolicy(), (found, view) -> named(name, found, view));
    }

    private Named named(PermitName name, Found found, PolicyView view) {
        if (found instanceof Found.Live live && live.nonce().equals(name.nonce())) {
            return new Named(this, name, view, recorded(name, live, view), null);
        }
        if (found instanceof Found.Gone gone && gone.nonce().equals(name.nonce())) {
            How how = gone.state().equals("booked")
                    ? How.EXPIRED
                    : How.valueOf(gone.state().toUpperCase(Locale.ROOT));
            return new Named(this, name, view, null, new Ending(how, true, Memo.read(gone.memo())));
        }
        if (found instanceof Found.Lost lost) {
            throw new OutageException("lost_state", project.id() + ": its state is damaged: " + lost.what(), null);
        }
        mustBeTold(name);
        return new Named(this, name, view, null, null);
    }

    /** One that another process gave without Redis, and has not told of yet, is not unknown. */
    private void mustBeTold(PermitName name) {
        if (Untold.mayRun(name.id(), project.nowUs())) {
            throw new OutageException(
                    "untold", project.id() + ": it was given without Redis and is not known here yet; ask again", null);
        }
    }

    /** As the process that it was granted to would have it; {@code null} if the policy no longer says what its call costs. */
    private @Nullable LivePermit recorded(PermitName name, Found.Live live, PolicyView view) {
        Call call = Memo.call(live.memo(), live.agent());
        Resolved resolved = call == null ? null : view.resolve(call, project.observing.learning);
        return resolved == null
                ? null
                : new LivePermit(
                                project,
                                resolved.reserving(Memo.read(live.memo())),
                                name,
                                live.digest(),
                                Duration.of(live.leaseUs(), ChronoUnit.MICROS),
                                Duration.ZERO,
                                live.grantedUs(),
                                null,
                                false)
                        .asRecorded(live.costs());
    }

    // ---- leases

    @Override
    public CompletionStage<Optional<Duration>> renew(String permit) {
        PermitName name = Handle.read(permit);
        LivePermit here = name == null ? null : project.handed.get(name);
        if (name == null || (here != null && here.end.isAsked())) {
            return CompletableFuture.completedStage(Optional.empty());
        }
        if (here != null && !here.isInRedis()) {
            here.renewed(System.nanoTime());
            return CompletableFuture.completedStage(Optional.of(here.lease()));
        }
        return handOver(here == null ? renewedElsewhere(name) : renewed(here));
    }

    private CompletionStage<Optional<Duration>> renewed(LivePermit permit) {
        return project.renew(permit.name).thenCompose(renewal -> {
            if (renewal == Renewal.UNKNOWN && permit.isDeskLeased(System.nanoTime())) {
                // Redis lost what it knew. It gets its slots again, as any permit that runs.
                return project.assertAgain(permit).thenCompose(held -> lease(permit, held));
            }
            return lease(permit, renewal == Renewal.RENEWED);
        });
    }

    private CompletionStage<Optional<Duration>> lease(LivePermit permit, boolean held) {
        if (held) {
            permit.renewed(System.nanoTime());
            return CompletableFuture.completedStage(Optional.of(permit.lease()));
        }
        project.leavesDesk(permit);
        return client.store.find(project.id(), permit.name.id()).handle((found, e) -> {
            // Redis may have lost all it knew of it, and the lease ran out before it was told again.
            if (found instanceof Found.Nobody || ranOut(found, permit.name) != null) {
                project.deskLost(permit);
            }
            return Optional.empty();
        });
    }

    /** What is kept of a permit whose lease ran out; {@code null} of one that ended as somebody wished. */
    private static Found.@Nullable Live ranOut(@Nullable Found found, PermitName name) {
        return found instanceof Found.Live live
                        && live.nonce().equals(name.nonce())
                        && live.state().equals("expired")
                ? live
                : null;
    }

    private CompletionStage<Optional<Duration>> renewedElsewhere(PermitName name) {
        return client.store.find(project.id(), name.id()).thenCompose(found -> {
            if (found instanceof Found.Lost lost) {
                throw new OutageException("lost_state", project.id() + ": its state is damaged: " + lost.what(), null);
            }
            if (!(found instanceof Found.Live live) || !live.nonce().equals(name.nonce())) {
                if (!(found instanceof Found.Gone gone && gone.nonce().equals(name.nonce()))) {
                    mustBeTold(name);
                }
                return CompletableFuture.completedStage(Optional.empty());
            }
            Duration lease = Duration.of(live.leaseUs(), ChronoUnit.MICROS);
            return project.renew(name)
                    .thenCompose(renewal -> renewal == Renewal.RENEWED
                            ? CompletableFuture.completedStage(Optional.of(lease))
                            : goneElsewhere(name));
        });
    }

    private CompletionStage<Optional<Duration>> goneElsewhere(PermitName name) {
        return client.store
                .find(project.id(), name.id())
                .thenCombine(project.knownPolicy(), (found, view) -> {
                    Found.Live ranOut = ranOut(found, name);
                    LivePermit lost = ranOut == null ? null : recorded(name, ranOut, view);
                    if (lost != null) {
                        project.deskLost(lost);
                    }
                    return lost;
                })
                .handle((told, e) -> Optional.empty()); // that it is gone is known already
    }

    // ---- waits

    @Override
    public CompletionStage<Boolean> cancelWait(String caller, String id) {
        Names.name("id", id);
        // First in Redis: a call that waits here too would else be taken for one that gave up, and its place for
        // nobody's.
        CompletionStage<Boolean> elsewhere = client.store
                .find(project.id(), id)
                .thenCompose(found -> found instanceof Found.InLine line && isOf(caller, line.digest())
                        ? project.withdraw(new PermitName(id, line.nonce()))
                        : granted(caller, id, found));
        return handOver(elsewhere.handle((ended, e) -> {
            boolean here = project.takeBack(caller, id);
            if (e != null && !here) {
                throw Blocking.cause(e) instanceof RuntimeException known ? known : new IllegalStateException(e);
            }
            return here || Boolean.TRUE.equals(ended);
        }));
    }

    /** Granted in the line, and its host has not claimed it yet: that is still a wait. */
    private CompletionStage<Boolean> granted(String caller, String id, Found found) {
        return found instanceof Found.Live live && live.state().equals("granted") && isOf(caller, live.digest())
                ? project.withdraw(new PermitName(id, live.nonce()))
                : CompletableFuture.completedStage(false);
    }

    private static boolean isOf(String caller, String digest) {
        return digest.startsWith(Digests.ofCaller(caller));
    }

    @Override
    public CompletionStage<Void> closeLine() {
        return handOver(project.closeDesk());
    }
}
