package io.sluice;

import io.sluice.Store.Answer;
import io.sluice.Store.OnHold;
import io.sluice.Store.Queued;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What the store's "no"s mean to a caller, in words. */
final class Refusals {
    /** Nobody knows when a full line has room again. */
    private static final Duration A_WHILE = Duration.ofSeconds(1);

    /** What is short while a scope is on hold, as the scripts call it. */
    static final String HOLD = "hold";

    /** The kind of hold that no answer of the provider began. */
    static final String OPERATOR = "operator";

    /** Of a project, by the first letter of their scopes. */
    private static final Map<Character, String> PARTS =
            Map.of('c', "class", 'w', "workspace", 't', "team", 'e', "team", 'a', "agent", 'r', "run");

    private Refusals() {}

    static Refusal wait(Refusal.Kind kind, String project, Queued queued) {
        // Rounded up to the ms: a caller that sleeps exactly this long must not be early.
        Duration retryAfter = Duration.ofMillis((queued.waitUs() + 999) / 1_000);
        boolean estimate = !queued.exact();
        String until = (estimate ? "about " : "") + retryAfter.toMillis() + " ms";
        Integer position = queued.position() == 0 ? null : queued.position();
        String message = project + ": " + queued.limit() + " of " + queued.scope() + " has room in " + until
                + (queued.position() > 1 ? " for the call at place " + queued.position() : "")
                + (kind == Refusal.Kind.DEADLINE ? ", later than the call may wait" : "");
        return new Refusal(kind, queued.scope(), queued.limit(), retryAfter, estimate, position, message);
    }

    /**
     * Example: {@code acme-prod is on hold for 12 s: provider said input (class sonnet)}. Without an end it says until it is
     * released, and there is no point in waiting.
     */
    static Refusal hold(String project, OnHold hold) {
        boolean ends = hold.leftUs() != Store.UNTIL_RELEASED;
        Duration retryAfter = ends ? Duration.ofMillis((hold.leftUs() + 999) / 1_000) : null;
        String howLong =
                retryAfter == null ? "until it is released" : "for " + (retryAfter.toMillis() + 999) / 1_000 + " s";
        String who = hold.kind().equals(OPERATOR) ? "operator" : "provider said " + hold.kind();
        String part = PARTS.get(hold.scope().charAt(0));
        String where = part == null ? "" : " (" + part + " " + hold.scope().substring(2) + ")";
        String note = hold.note().isEmpty() ? "" : "; " + hold.note();
        return new Refusal(
                Refusal.Kind.HOLD,
                hold.scope(),
                HOLD,
                retryAfter,
                false,
                null,
                project + " is on hold " + howLong + ": " + who + where + note);
    }

    /** The same where this process decided alone. */
    static Refusal here(Refusal refusal) {
        return new Refusal(
                refusal.kind(),
                refusal.scope(),
                refusal.limit(),
                refusal.retryAfter(),
                refusal.estimate(),
                refusal.position(),
                refusal.message() + " (Redis is out: by this host's share)");
    }

    private static Refusal queueFull(String project, Answer.Full full) {
        String why = switch (full.what()) {
            case "line" ->
                full.waiting() + " calls wait already, no more than " + full.most() + " may (queue.max_waiters)";
            case "agent" ->
                full.waiting() + " calls of this agent wait already, no more than " + full.most()
                        + " may (half of queue.max_waiters)";
            default ->
                full.waiting() + " names are in use already by the limits of each '" + full.what() + "', no more than "
                        + full.most() + " may be (max)";
        };
        String scope = full.what().endsWith(":") ? full.what() : null;
        return new Refusal(Refusal.Kind.QUEUE_FULL, scope, null, A_WHILE, true, null, project + ": " + why);
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
        ModelClass modelClass = policy.classOf(call);
        Policy.Unpriced unpriced = modelClass == null ? null : policy.unpriced(modelClass, call);
        if (unpriced != null) {
            return helpless(
                    Refusal.Kind.UNPRICED,
                    unpriced.scope(),
                    unpriced.limit(),
                    project + ": " + unpriced.limit() + " of " + unpriced.scope()
                            + " counts money, and the policy has no price for the model '" + call.model + "'");
        }
        return helpless(
                Refusal.Kind.UNKNOWN_MODEL,
                null,
                null,
                project + ": no class of the policy matches the model '" + call.model + "'");
    }

    static Refusal cancelled(String project, String why) {
        return helpless(Refusal.Kind.CANCELLED, null, null, project + ": the wait was given up (" + why + ")");
    }

    static Refusal closed(String project) {
        return helpless(
                Refusal.Kind.CANCELLED, null, null, project + ": the call was given up, for the client was closed");
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
        if (answer instanceof Answer.Hold hold) {
            return hold(project, hold.hold());
        }
        if (answer instanceof Answer.Full full) {
            return queueFull(project, full);
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
        return new Refusal(kind, scope, limit, null, false, null, message);
    }
}
