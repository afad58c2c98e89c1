package io.sluice;

import io.sluice.Store.Answer;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** What the store's "no"s mean to a caller, in words. */
final class Refusals {
    private Refusals() {}

    static Refusal wait(Refusal.Kind kind, String project, Answer.Wait wait) {
        // Rounded up to the ms: a caller that sleeps exactly this long must not be early.
        Duration retryAfter = Duration.ofMillis((wait.waitUs() + 999) / 1_000);
        boolean estimate = wait.exactUs() != wait.waitUs();
        String until = (estimate ? "about " : "") + retryAfter.toMillis() + " ms";
        String message = project + ": " + wait.limit() + " of " + wait.scope() + " has room in " + until
                + (kind == Refusal.Kind.DEADLINE ? ", later than the call may wait" : "");
        return new Refusal(kind, wait.scope(), wait.limit(), retryAfter, estimate, message);
    }

    static Refusal queueFull(String project, Answer.Wait wait, int waiting) {
        Refusal refusal = wait(Refusal.Kind.QUEUE_FULL, project, wait);
        return new Refusal(
                Refusal.Kind.QUEUE_FULL,
                refusal.scope(),
                refusal.limit(),
                refusal.retryAfter(),
                true,
                project + ": " + waiting + " calls wait already, no more may (queue.max_waiters)");
    }

    /** A call that {@link PolicyView#resolve} finds no place for. */
    static Refusal unresolved(String project, Policy policy, Call call) {
        if (!policy.allowsWorkspace(call.workspace)) {
            return helpless(
                    Refusal.Kind.UNKNOWN_WORKSPACE,
                    null,
                    null,
                    project + ": the policy lists workspaces, but not '" + call.workspace + "'");
        }
        return helpless(
                Refusal.Kind.UNKNOWN_MODEL,
                null,
                null,
                project + ": no class of the policy matches the model '" + call.model + "'");
    }

    static Refusal cancelled(String project, String why) {
        return new Refusal(
                Refusal.Kind.CANCELLED, null, null, null, false, project + ": the wait was given up (" + why + ")");
    }

    static Refusal of(String project, Call call, Answer answer) {
        if (answer instanceof Answer.Never never) {
            return helpless(
                    Refusal.Kind.NEVER,
                    never.scope(),
                    never.limit(),
                    project + ": the call costs " + never.cost() + " of " + never.limit() + " of " + never.scope()
                            + ", more than the " + never.ceiling() + " that can ever be admitted");
        }
        if (answer instanceof Answer.Closed closed) {
            return helpless(
                    Refusal.Kind.CLOSED,
                    closed.scope(),
                    closed.limit(),
                    project + ": " + closed.limit() + " of " + closed.scope() + " is 0, the policy admits nothing");
        }
        if (answer instanceof Answer.Conflict) {
            return helpless(
                    Refusal.Kind.CONFLICT,
                    null,
                    null,
                    project + ": the id '" + call.id + "' is in use by another caller or for another call");
        }
        if (answer instanceof Answer.Ended ended) {
            return helpless(
                    Refusal.Kind.ENDED,
                    null,
                    null,
                    project + ": the permit of the id '" + call.id + "' has ended (" + ended.state() + ")");
        }
        throw new OutageException("bad_reply", "not a refusal: " + answer, null);
    }

    private static Refusal helpless(Refusal.Kind kind, @Nullable String scope, @Nullable String limit, String message) {
        return new Refusal(kind, scope, limit, null, false, message);
    }
}
