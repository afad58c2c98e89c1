package io.sluice;

import io.sluice.PolicyView.Resolved;
import io.sluice.Store.Answer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Puts calls to the store: resolved against the policy, asked, asked again, until there is an answer that counts. */
final class Asking {
    /** After this many time-outs in a row for one call Redis counts as out. Each asks with the same id: safe. */
    private static final int TRIES = 3;

    /** A version that moves on under a call again and again, or a state that is lost again and again, ends here. */
    private static final int RETRIES = 8;

    private final SluiceClient client;
    private final String id;
    private final PolicyCache policies;
    private final Installer installer;
    private final Outcomes outcomes;
    private final OutageRule rule;
    private final Learning learning;
    private final AtomicInteger questions = new AtomicInteger();

    /** Whether the store may be used as a call needs it. */
    private volatile boolean checked;

    Asking(
            SluiceClient client,
            String id,
            PolicyCache policies,
            Installer installer,
            Outcomes outcomes,
            OutageRule rule,
            Learning learning) {
        this.client = client;
        this.id = id;
        this.policies = policies;
        this.installer = installer;
        this.outcomes = outcomes;
        this.rule = rule;
        this.learning = learning;
    }

    /**
     * A call's first question is on its way on return.
     *
     * @param once never to wait, however much time there is
     * @throws IllegalArgumentException if {@code maxWait} is negative
     */
    Waiter begin(Call call, Duration maxWait, boolean once) {
        return begin(call, maxWait, once, null);
    }

    /** The same at the desk. */
    Waiter begin(Call call, Duration maxWait, boolean once, @Nullable Ticket ticket) {
        if (maxWait.isNegative()) {
            throw new IllegalArgumentException("maxWait must not be negative, got " + maxWait);
        }
        Waiter waiter = outcomes.waiter(call, maxWait, once || maxWait.isZero(), ticket);
        if (outcomes.refuses(waiter)) {
            return waiter;
        }
        LivePermit running = outcomes.runsHere(waiter);
        if (running == null) {
            ask(waiter);
        } else {
            outcomes.granted(waiter, running);
        }
        return waiter;
    }

    /** Asks for it, against the policy known here; nothing else of it is under way. */
    void ask(Waiter waiter) {
        waiter.state.set(Waiter.State.ASKING);
        // All at once: what was learned keeps no call waiting for longer than the policy does.
        CompletionStage<PolicyView> policy = policies.current();
        if (checked) {
            ask(waiter, policy);
            return;
        }
        client.store.check(id, client.host).whenComplete((known, e) -> {
            if (e == null) {
                checked = known;
                ask(waiter, policy);
            } else {
                // Bad set-up, whatever the policy says to outages.
                outcomes.failed(waiter, Blocking.cause(e));
            }
        });
    }

    private void ask(Waiter waiter, CompletionStage<PolicyView> policy) {
        CompletionStage<Void> learned = learning.ready();
        policy.thenCombine(learned, (view, ready) -> view).whenComplete((view, e) -> {
            if (e != null) {
                rule.met(waiter, policies.cached(), Blocking.cause(e));
            } else {
                ask(waiter, view);
            }
        });
    }

    /** Whether a call asked for so much more output than it would now that it is worth asking again: twice and more. */
    boolean asksForLess(Waiter waiter) {
        PolicyView view = policies.cached();
        Resolved asked = waiter.resolved;
        Resolved now = view == null || asked == null ? null : view.resolve(waiter.call, learning);
        return now != null
                && asked != null
                && asked.estimate().output() / 2 >= now.estimate().output();
    }

    private void ask(Waiter waiter, PolicyView view) {
        if (waiter.isDone()) {
            outcomes.over(waiter);
            return;
        }
        try {
            Resolved resolved = view.resolve(waiter.call, learning);
            if (resolved == null) {
                refuseUnlessNews(waiter, view, Refusals.unresolved(id, view.policy, waiter.call));
                return;
            }
            waiter.resolved = resolved;
            questions.incrementAndGet();
            client.questions.run(() -> send(waiter, resolved)).whenComplete((answer, e) -> {
                try {
                    if (e != null) {
                        unanswered(waiter, view, Blocking.cause(e));
                    } else {
                        waiter.unanswered = 0;
                        waiter.chances = 0;
                        answered(waiter, resolved, answer);
                    }
                } catch (RuntimeException failure) {
                    outcomes.failed(waiter, failure);
                } finally {
                    questions.decrementAndGet();
                }
            });
        } catch (RuntimeException failure) {
            outcomes.failed(waiter, failure);
        }
    }

    private CompletionStage<Answer> send(Waiter waiter, Resolved resolved) {
        if (waiter.isDone()) {
            // It gave up while others had their turn.
            return CompletableFuture.failedStage(new CancellationException());
        }
        long now = System.nanoTime();
        Store.Ask question = new Store.Ask(
                id,
                resolved.view().stamp,
                waiter.name,
                waiter.digest,
                client.host,
                waiter.leaseUs(resolved.view()),
                waiter.memo(resolved),
                resolved.flow(),
                resolved.weight(),
                resolved.agent(),
                resolved.names(),
                waiter.once ? 0 : Math.max(0, waiter.leftNs(resolved.view().policy, now) / 1_000),
                resolved.costs());
        return client.store.acquire(question);
    }

    private void answered(Waiter waiter, Resolved resolved, Answer answer) {
        if (answer instanceof Answer.Stale) {
            retry(waiter, policies.after(resolved.view()), "the policy changes too fast");
            return;
        }
        if (answer instanceof Answer.Lost lost) {
            mend(waiter, resolved.view(), lost.what());
            return;
        }
        waiter.retries = 0;
        rule.answered();
        if (answer instanceof Answer.Granted granted) {
            outcomes.granted(List.of(waiter), granted);
        } else if (answer instanceof Answer.Waiting stands) {
            outcomes.stands(waiter, stands);
        } else if (answer instanceof Answer.Wait wait) {
            Refusal.Kind kind = waiter.once ? Refusal.Kind.WAIT : Refusal.Kind.DEADLINE;
            outcomes.failed(waiter, new RefusedException(Refusals.wait(kind, id, wait.queued())));
        } else if (answer instanceof Answer.Ended ended && ended.state().equals("withdrawn")) {
            outcomes.failed(waiter, new RefusedException(Refusals.cancelled(id, "its caller took it back")));
        } else if (answer instanceof Answer.Ended && waiter.call.id == null) {
            // Granted to a question whose answer was lost, and its lease has run out: it goes back as if it never was.
            waiter.owed = true;
            outcomes.failed(waiter, new OutageException("timeout", "Redis answered after the lease had run out", null));
        } else {
            outcomes.failed(waiter, new RefusedException(Refusals.of(id, waiter.call, answer)));
        }
    }

    private void mend(Waiter waiter, PolicyView known, String what) {
        retry(waiter, mended(known), "the project's state is damaged: " + what);
    }

    /** Gives a project that lost its state what is known of it here. */
    CompletionStage<PolicyView> mended(PolicyView known) {
        return installer.mend(known).thenCompose(stamp -> policies.youngerThan(0));
    }

    /** A "no" that this process can give by itself must not rest on a policy older than the question. */
    private void refuseUnlessNews(Waiter waiter, PolicyView view, Refusal refusal) {
        policies.youngerThan(System.nanoTime() - waiter.startedNs).whenComplete((fresh, e) -> {
            if (e != null
                    && Blocking.cause(e) instanceof OutageException outage
                    && OutageRule.concerns(outage.reason())) {
                outcomes.failed(waiter, new RefusedException(refusal)); // the last that was known
            } else if (e != null) {
                outcomes.failed(waiter, Blocking.cause(e));
            } else if (fresh.stamp.equals(view.stamp)) {
                outcomes.failed(waiter, new RefusedException(refusal));
            } else {
                ask(waiter, fresh);
            }
        });
    }

    private void retry(Waiter waiter, CompletionStage<PolicyView> ready, String why) {
        if (++waiter.retries > RETRIES) {
            rule.met(waiter, policies.cached(), new OutageException("lost_state", "project " + id + ": " + why, null));
            return;
        }
        ready.whenComplete((view, e) -> {
            if (e != null) {
                rule.met(waiter, policies.cached(), Blocking.cause(e));
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
        if (reason.equals("timeout") || reason.equals("disconnected")) {
            waiter.unanswered++;
            waiter.owed = true;
        }
        if (reason.equals("timeout") && waiter.unanswered < TRIES && System.nanoTime() - waiter.deadlineNs < 0) {
            ask(waiter, view);
        } else {
            rule.met(waiter, view, e);
        }
    }

    /** Whether no question is under way. */
    boolean isQuiet() {
        return questions.get() == 0;
    }
}
