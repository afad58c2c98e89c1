package io.sluice;

import io.sluice.PolicyView.Resolved;
import io.sluice.Store.Answer;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A call's way from its first question to a permit, a refusal or an outage: resolved against the policy, asked, told to
 * wait in {@link Line}, asked again. However it ends, nothing stays behind.
 */
final class Asking {
    /** After this many time-outs in a row for one call Redis counts as out. Each asks with the same id: safe. */
    private static final int TRIES = 3;

    /** A version that moves on under a call again and again, or a state that is lost again and again, ends here. */
    private static final int RETRIES = 8;

    private static final long FOREVER_NS = Long.MAX_VALUE / 4;

    private final ProjectClient project;
    private final SluiceClient client;
    private final String id;
    private final PolicyCache policies;
    private final Installer installer;
    private final Held held;
    private final Line line;

    Asking(ProjectClient project, PolicyCache policies, Installer installer, Held held) {
        this.project = project;
        this.client = project.client;
        this.id = project.id();
        this.policies = policies;
        this.installer = installer;
        this.held = held;
        this.line = new Line(client.timer, this::askAgain);
    }

    /**
     * A call's first question is on its way on return.
     *
     * @param once never to wait, however much time there is
     * @throws IllegalArgumentException if {@code maxWait} is negative
     */
    Waiter begin(Call call, Duration maxWait, boolean once) {
        if (maxWait.isNegative()) {
            throw new IllegalArgumentException("maxWait must not be negative, got " + maxWait);
        }
        long now = System.nanoTime();
        long wait = saturatedNanos(maxWait);
        Store.PermitName name = call.id == null ? new Store.PermitName(RandomIds.next(), "") : held.nameFor(call.id);
        String digest = call.id == null ? "" : digest(call);
        Waiter waiter = new Waiter(call, name, digest, now, now + wait, once || wait == 0);
        client.tell(() -> client.listener.started(id, call));
        waiter.result.whenComplete((permit, e) -> ended(waiter, permit, e));
        policies.current().whenComplete((view, e) -> {
            if (e != null) {
                fail(waiter, Blocking.cause(e));
            } else {
                ask(waiter, view);
            }
        });
        return waiter;
    }

    private void ask(Waiter waiter, PolicyView view) {
        if (waiter.isDone()) {
            return;
        }
        try {
            Resolved resolved = view.resolve(waiter.call);
            if (resolved == null) {
                refuseUnlessNews(waiter, view, Refusals.unresolved(id, view.policy, waiter.call));
                return;
            }
            waiter.resolved = resolved;
            Store.Ask ask = new Store.Ask(
                    id,
                    view.stamp,
                    waiter.name,
                    waiter.digest,
                    client.host,
                    view.leaseUs(),
                    Memo.of(resolved.estimate()),
                    resolved.costs());
            if (!waiter.beginAsking()) {
                return;
            }
            waiter.askedAtWake = line.wakes();
            long sent = System.nanoTime();
            client.store.acquire(ask).whenComplete((answer, e) -> {
                client.meters.script("acquire", Duration.ofNanos(System.nanoTime() - sent));
                boolean news = waiter.endAsking();
                try {
                    if (e != null) {
                        unanswered(waiter, view, Blocking.cause(e));
                    } else {
                        waiter.unanswered = 0;
                        answered(waiter, resolved, answer);
                    }
                    if (news) {
                        askAgain(waiter);
                    }
                } catch (RuntimeException failure) {
                    fail(waiter, failure);
                }
            });
        } catch (RuntimeException failure) {
            fail(waiter, failure);
        }
    }

    private void askAgain(Waiter waiter) {
        Resolved resolved = waiter.resolved;
        if (resolved != null) {
            policies.current().whenComplete((view, e) -> ask(waiter, view == null ? resolved.view() : view));
        }
    }

    private void answered(Waiter waiter, Resolved resolved, Answer answer) {
        if (!(answer instanceof Answer.Stale || answer instanceof Answer.Lost)) {
            waiter.retries = 0;
        }
        if (answer instanceof Answer.Granted granted) {
            granted(waiter, resolved, granted);
        } else if (answer instanceof Answer.Wait wait) {
            mustWait(waiter, resolved, wait);
        } else if (answer instanceof Answer.Stale) {
            retry(waiter, policies.after(resolved.view()), "the policy changes too fast");
        } else if (answer instanceof Answer.Lost lost) {
            mend(waiter, resolved.view(), lost.what());
        } else {
            refuse(waiter, Refusals.of(id, waiter.call, answer));
        }
    }

    private void mend(Waiter waiter, PolicyView known, String what) {
        retry(
                waiter,
                installer.mend(known).thenCompose(stamp -> policies.youngerThan(0)),
                "the project's state is damaged: " + what);
    }

    private void granted(Waiter waiter, Resolved resolved, Answer.Granted granted) {
        Duration waited = waiter.waited(System.nanoTime());
        Store.PermitName name = new Store.PermitName(waiter.name.id(), granted.nonce());
        Duration lease = Duration.ofNanos(granted.leaseUs() * 1_000);
        LivePermit permit = held.take(new LivePermit(project, resolved, name, lease, waited), name.equals(waiter.name));
        if (!waiter.result.complete(permit)) {
            // Given up at that very moment (Netflix/concurrency-limits#179).
            held.leave(permit);
        }
    }

    private void mustWait(Waiter waiter, Resolved resolved, Answer.Wait wait) {
        waiter.why = wait;
        long now = System.nanoTime();
        long left = Math.min(waiter.deadlineNs - now, maxWaitLeft(waiter, resolved, now));
        if (waiter.once || left <= 0 || TimeUnit.MICROSECONDS.toNanos(wait.exactUs()) > left) {
            Refusal.Kind kind = waiter.once ? Refusal.Kind.WAIT : Refusal.Kind.DEADLINE;
            refuse(waiter, Refusals.wait(kind, id, wait));
            return;
        }
        if (waiter.deadline == null) {
            if (line.size() >= resolved.view().policy.maxWaiters()) {
                refuse(waiter, Refusals.queueFull(id, wait, line.size()));
                return;
            }
            waiter.deadline = client.timer.schedule(
                    () -> refuse(waiter, Refusals.wait(Refusal.Kind.DEADLINE, id, latest(waiter, wait))),
                    left,
                    TimeUnit.NANOSECONDS);
        }
        line.add(resolved.modelClass(), waiter, wait);
        int position = line.position(resolved.modelClass(), waiter);
        client.tell(() -> client.listener.waiting(new WaitListener.Waiting(
                id,
                waiter.call,
                wait.scope(),
                wait.limit(),
                position == 0 ? null : position,
                Duration.of(wait.waitUs(), ChronoUnit.MICROS),
                position > 1 || wait.exactUs() != wait.waitUs())));
        if (waiter.isDone()) {
            waiter.deadline.cancel(false);
            line.remove(waiter);
        }
    }

    private static Answer.Wait latest(Waiter waiter, Answer.Wait first) {
        Answer.Wait why = waiter.why;
        return why == null ? first : why;
    }

    private static long maxWaitLeft(Waiter waiter, Resolved resolved, long now) {
        return saturatedNanos(resolved.view().policy.maxWait()) - (now - waiter.startedNs);
    }

    /** A "no" that this process can give by itself must not rest on a policy older than the question. */
    private void refuseUnlessNews(Waiter waiter, PolicyView view, Refusal refusal) {
        policies.youngerThan(System.nanoTime() - waiter.startedNs).whenComplete((fresh, e) -> {
            if (e != null) {
                fail(waiter, Blocking.cause(e));
            } else if (fresh.stamp.equals(view.stamp)) {
                refuse(waiter, refusal);
            } else {
                ask(waiter, fresh);
            }
        });
    }

    private void retry(Waiter waiter, CompletionStage<PolicyView> ready, String why) {
        if (++waiter.retries > RETRIES) {
            fail(waiter, new OutageException("lost_state", "project " + id + ": " + why, null));
            return;
        }
        ready.whenComplete((view, e) -> {
            if (e != null) {
                fail(waiter, Blocking.cause(e));
            } else {
                ask(waiter, view);
            }
        });
    }

    /** Nobody knows whether the script ran. The same id is safe to ask again; who gives up undoes what may be. */
    private void unanswered(Waiter waiter, PolicyView view, Throwable e) {
        String reason = e instanceof OutageException outage ? outage.reason() : "";
        if (reason.equals("wrongtype")) {
            // Something else wrote one of the project's keys; nothing of this call was written.
            mend(waiter, view, "wrongtype");
            return;
        }
        boolean unknown = reason.equals("timeout") || reason.equals("disconnected");
        if (unknown) {
            waiter.unanswered++;
        }
        if (reason.equals("timeout")
                && !waiter.isDone()
                && waiter.unanswered < TRIES
                && System.nanoTime() - waiter.deadlineNs < 0) {
            ask(waiter, view);
            return;
        }
        // Also where the last question was not even sent: an earlier one may have been heard.
        if (waiter.unanswered > 0) {
            held.undo(waiter.name);
        }
        fail(waiter, e);
    }

    private void refuse(Waiter waiter, Refusal refusal) {
        fail(waiter, new RefusedException(refusal));
    }

    private static void fail(Waiter waiter, Throwable e) {
        waiter.result.completeExceptionally(e);
    }

    /** Nobody wants the permit any more: not asked for again, and given back if it came. */
    void giveUp(Waiter waiter, String why) {
        if (!waiter.result.completeExceptionally(new RefusedException(Refusals.cancelled(id, why)))) {
            waiter.result.thenAccept(permit -> {
                client.meters.permit(id, permit.modelClass(), "cancelled");
                held.leave(permit);
            });
        }
    }

    /** However it ended, nothing stays behind. */
    private void ended(Waiter waiter, @Nullable LivePermit permit, @Nullable Throwable thrown) {
        if (waiter.deadline != null) {
            waiter.deadline.cancel(false);
        }
        line.remove(waiter);
        Duration waited = waiter.waited(System.nanoTime());
        Resolved resolved = waiter.resolved;
        String modelClass = resolved == null ? "unknown" : resolved.modelClass();
        if (permit != null) {
            client.meters.permit(id, modelClass, "granted");
            client.meters.waited(id, modelClass, teamLabel(waiter), waited);
            client.tell(() -> client.listener.granted(id, waiter.call, waited));
        } else {
            Throwable cause = thrown == null ? new IllegalStateException() : Blocking.cause(thrown);
            if (cause instanceof RefusedException) {
                client.meters.permit(id, modelClass, "refused");
            }
            client.tell(() -> client.listener.gaveUp(id, waiter.call, waited, String.valueOf(cause.getMessage())));
        }
    }

    private static String teamLabel(Waiter waiter) {
        Resolved resolved = waiter.resolved;
        String team = waiter.call.team;
        return resolved != null && team != null && resolved.view().policy.hasTeam(team) ? team : "other";
    }

    /** Something became free. */
    void wake() {
        line.wake();
    }

    /** How many calls wait. */
    int waiting() {
        return line.size();
    }

    /** Refuses what waits and what would have to. */
    void close() {
        line.end(waiter -> refuse(waiter, Refusals.cancelled(id, "the client was closed")));
    }

    private static long saturatedNanos(Duration duration) {
        return duration.compareTo(Duration.ofNanos(FOREVER_NS)) >= 0 ? FOREVER_NS : duration.toNanos();
    }

    /** Of caller and body: the same id with another digest is a conflict. */
    private String digest(Call call) {
        String body = String.join(
                "\n",
                client.host,
                call.model,
                String.valueOf(call.inputTokens),
                String.valueOf(call.cacheReadTokens),
                String.valueOf(call.cacheWriteTokens),
                Objects.toString(call.maxOutputTokens, ""),
                Objects.toString(call.agent, ""),
                Objects.toString(call.team, ""),
                Objects.toString(call.workspace, ""),
                Objects.toString(call.run, ""),
                call.priority.label());
        return Digests.hex(body, 8);
    }
}
