package io.sluice;

import io.sluice.PolicyView.Resolved;
import io.sluice.Store.Answer;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What calls of one project meet while Redis cannot answer: the policy's {@code outage}. Each call asks Redis first; so this never
 * outlasts the outage. Calls that wait here ask again twice a second, the first of them alone, until there is an answer; then all
 * of them go over to Redis's line with the time they have left.
 */
final class OutageRule {
    private static final Logger log = LoggerFactory.getLogger(OutageRule.class);

    /** Redis gave no answer, or said that it cannot serve anybody now, or has lost what it knew of the project. */
    private static final Set<String> REDIS_IS_OUT = Set.of(
            "timeout",
            "disconnected",
            "breaker",
            "oom",
            "readonly",
            "loading",
            "noperm",
            "noauth",
            "wrongpass",
            "misconf",
            "masterdown",
            "clusterdown",
            "noreplicas",
            "busy",
            "tryagain",
            "wrongtype",
            "lost_state");

    /** One of these alone may be one slow reply. */
    private static final Set<String> MAY_BE_CHANCE = Set.of("timeout", "disconnected");

    /** Questions of one call of the desk before it is told so: more than open the store's breaker, so that an outage is found first. */
    private static final int DESK_TRIES = 6;

    /** Before the second of them; before each further one twice as long: 310 ms in all. */
    private static final long FIRST_PAUSE_MS = 10;

    private static final long LOOK_MS = 500;
    private static final long OOM_IS_NEWS_NS = TimeUnit.SECONDS.toNanos(10);

    private final SluiceClient client;
    private final String project;
    private final Outcomes outcomes;
    private final LocalBudget budget;
    private final LocalLine line;
    private final Waiters waiters;
    private final Fleet fleet;
    private final Learning learning;
    private final ScheduledExecutorService timer;
    private final LongSupplier nanoTime;
    private final AtomicBoolean looking = new AtomicBoolean();

    private Consumer<Waiter> ask = waiter -> {};
    private Runnable beat = () -> {};

    /** Why Redis is out; {@code null} while it answers. */
    private volatile @Nullable String out;

    private long sinceNs;

    /** When a call met it last. */
    private volatile long metAtNs;

    OutageRule(
            ProjectClient project,
            Outcomes outcomes,
            LocalBudget budget,
            LocalLine line,
            Waiters waiters,
            Fleet fleet,
            Learning learning,
            ScheduledExecutorService timer,
            LongSupplier nanoTime) {
        this.client = project.client;
        this.project = project.id();
        this.outcomes = outcomes;
        this.budget = budget;
        this.line = line;
        this.waiters = waiters;
        this.fleet = fleet;
        this.learning = learning;
        this.timer = timer;
        this.nanoTime = nanoTime;
    }

    /** How it reaches Redis again: by a call's own question, or by a beat. */
    void asksBy(Consumer<Waiter> question, Runnable aBeat) {
        ask = question;
        beat = aBeat;
    }

    /**
     * Whether an outage of this reason is met by the policy. What makes no sense, or is nobody's fault but the caller's (no policy, one
     * that cannot be read), is an error under every policy: never permission.
     */
    static boolean concerns(String reason) {
        return REDIS_IS_OUT.contains(reason);
    }

    /** A word for a meter: there are only so many. */
    static String label(String reason) {
        return REDIS_IS_OUT.contains(reason) || reason.equals("no_project") || reason.equals("bad_reply")
                ? reason
                : "other";
    }

    boolean isOut() {
        return out != null;
    }

    /** No permit comes of a call's question: what the policy says to that happens to it. */
    void met(Waiter waiter, @Nullable PolicyView view, Throwable e) {
        OutageException outage = e instanceof OutageException it ? it : null;
        if (outage != null) {
            client.meters.outage(label(outage.reason()));
        }
        if (outage == null || view == null || !concerns(outage.reason())) {
            outcomes.failed(waiter, e);
            return;
        }
        metAtNs = nanoTime.getAsLong();
        isOutFor(outage.reason(), view.policy);
        if (waiter.isDone()) {
            outcomes.over(waiter);
            return;
        }
        Policy.Outage rule = view.policy.shadow() ? Policy.Outage.FAIL_OPEN : view.policy.outage();
        if (rule == Policy.Outage.LOCAL_SHARE && waiter.ticket != null && out == null) {
            chance(waiter, outage);
            return;
        }
        RuntimeException no = rule == Policy.Outage.FAIL_CLOSED ? outage : resolve(waiter, view);
        if (no != null) {
            outcomes.failed(waiter, no);
        } else if (rule == Policy.Outage.FAIL_OPEN) {
            LivePermit running = outcomes.runsHere(waiter);
            outcomes.granted(
                    waiter, running == null ? outcomes.permit(waiter, budget.take(waiter.asked(), false)) : running);
        } else {
            line.enter(waiter, outage);
            look();
        }
    }

    /**
     * A slow reply or a lost connection, and Redis does not count as out. A permit of the share would be known to this process alone,
     * while the next request of its caller goes to any: so at the desk it is asked again, until there is an answer or an outage.
     */
    private void chance(Waiter waiter, OutageException outage) {
        if (++waiter.chances < DESK_TRIES && !timer.isShutdown()) {
            // What fails at once would else be asked as fast as it fails, by every call at the same time.
            long pauseMs = FIRST_PAUSE_MS << (waiter.chances - 1);
            timer.schedule(() -> ask.accept(waiter), pauseMs, TimeUnit.MILLISECONDS);
        } else {
            outcomes.failed(waiter, outage);
        }
    }

    /** What no Redis is needed to know. */
    private @Nullable RuntimeException resolve(Waiter waiter, PolicyView view) {
        try {
            Resolved resolved = view.resolve(waiter.call, learning);
            Answer no = resolved == null ? null : resolved.impossible();
            if (resolved == null) {
                return new RefusedException(Refusals.unresolved(project, view.policy, waiter.call));
            }
            waiter.resolved = resolved;
            return no == null ? null : new RefusedException(Refusals.of(project, waiter.call, no));
        } catch (OutageException e) {
            return e;
        }
    }

    /** Beats get no answer: nobody knows who stands where in Redis's line. */
    void silent(Throwable e) {
        for (Waiter waiter : waiters.all()) {
            if (waiter.state.get() == Waiter.State.STANDING) {
                for (Waiter one : waiters.toAsk(waiter.name.id())) {
                    met(one, one.asked().view(), e);
                }
            }
        }
    }

    /** Redis answered a call: whoever waits here asks it as well. */
    void answered() {
        if (out != null) {
            isBack();
        }
        if (line.size() > 0) {
            toRedis();
        }
    }

    /**
     * Redis answered a beat. Where it is full that says nothing, for beats it still takes; but if no call has met that for a while,
     * nobody knows it to be so any more.
     */
    void beats() {
        if (!"oom".equals(out) || nanoTime.getAsLong() - metAtNs > OOM_IS_NEWS_NS) {
            answered();
        }
    }

    private void toRedis() {
        List<Waiter> all = line.leaveAll();
        all.forEach(ask);
    }

    private void isOutFor(String reason, Policy policy) {
        // One slow reply is no outage yet; five in a row are, and then the store says so.
        if (out != null || (MAY_BE_CHANCE.contains(reason) && client.store.answers())) {
            return;
        }
        synchronized (this) {
            if (out != null) {
                return;
            }
            out = reason;
            sinceNs = nanoTime.getAsLong();
        }
        log.error("{}: Redis is out ({}): {}", project, reason, meaning(policy));
        look();
    }

    private String meaning(Policy policy) {
        if (policy.shadow()) {
            return "every call is admitted, the policy only watches";
        }
        return switch (policy.outage()) {
            case FAIL_CLOSED -> "every call is refused (outage: fail-closed)";
            case FAIL_OPEN -> "every call is admitted (outage: fail-open)";
            case LOCAL_SHARE -> {
                Share share = fleet.share();
                yield share.hosts() == 0
                        ? "this host has no share, for it does not know how many there are (outage: local-share)"
                        : "this host uses its share of 0.8 of each limit, one of " + share.hosts()
                                + " (outage: local-share)";
            }
        };
    }

    private void isBack() {
        String was;
        Duration took;
        synchronized (this) {
            was = out;
            out = null;
            took = Duration.ofNanos(nanoTime.getAsLong() - sinceNs);
        }
        if (was != null) {
            log.info("{}: Redis answers again after {} s", project, WholeSeconds.of(took));
        }
    }

    private void look() {
        if (!timer.isShutdown() && looking.compareAndSet(false, true)) {
            timer.schedule(this::looks, LOOK_MS, TimeUnit.MILLISECONDS);
        }
    }

    private void looks() {
        looking.set(false);
        if (out == null && line.size() == 0) {
            return;
        }
        // While the store's breaker is open it asks by itself.
        if (client.store.answers()) {
            Waiter first = line.first();
            if (first != null) {
                ask.accept(first);
            } else {
                beat.run();
            }
        }
        look();
    }
}
