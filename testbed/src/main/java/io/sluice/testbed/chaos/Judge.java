package io.sluice.testbed.chaos;

import io.sluice.testbed.chaos.Excess.Credit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;

/** Judges a leg, by the provider's log and by what Redis held; of what the fleet says by {@link Evidence#aloneMs} alone. */
final class Judge {
    /** A killed host's slots are asked after this much more than a lease. */
    static final int GRACE_MS = 1_000;

    private static final double LEASES_TO_RECOVER = 2;

    /** As many keys as a project has, whatever it has been through: what it is made of, its counters and events, and the index. */
    private static final int KEYS = 11;

    /**
     * The longest a call may wait in line, for each agent of the fleet: they are served some fourteen a second, so seven turns; less
     * the urgent than others.
     */
    private static final double WAIT_SECONDS_AN_AGENT = 0.5;

    private final Evidence leg;
    private final List<Sent> sent;
    private final long fromMs;

    Judge(Evidence leg) {
        this.leg = leg;
        this.sent = Sent.of(leg.log());
        this.fromMs = leg.judgedFromMs(sent);
    }

    List<Finding> findings() {
        List<Finding> findings = new ArrayList<>();
        if (leg.leg().keepsBooks()) {
            findings.addAll(books());
        }
        for (Limit limit : Limit.values()) {
            findings.add(excess(limit));
        }
        findings.add(inFlight());
        findings.add(taken());
        findings.add(stillHeld());
        findings.add(oldest());
        findings.add(outages());
        findings.addAll(leftovers());
        findings.add(recovery());
        findings.add(ended());
        return findings;
    }

    /** Who starts while Redis is out cannot: that is told, not judged. */
    private Finding ended() {
        long others = leg.troubles().stream()
                .filter(trouble -> !trouble.contains("OutageException"))
                .count();
        return Finding.atMost(
                "", "processes that ended by themselves", (double) others, 0, String.join("; ", leg.troubles()));
    }

    private List<Finding> books() {
        if (leg.end().standing().isEmpty()) {
            return List.of(Finding.atMost("1, 3", "books that could not be read", 1, 0, ""));
        }
        Books books = Books.of(leg, sent, leg.end().standing().get());
        String requests = String.format(Locale.ROOT, "%+.0f of %,d", books.requests(), sent.size() + leg.rejected());
        String tokens = String.format(Locale.ROOT, "%+,.0f", books.tokens());
        return List.of(
                Finding.atMost(
                        "1, 3",
                        "requests served and not charged",
                        -books.requests(),
                        (double) books.mayLack(),
                        requests),
                Finding.atMost(
                        "3", "requests charged and not sent", books.requests(), (double) books.mayExceed(), requests),
                Finding.atMost(
                        "1, 3", "tokens used and not charged", -books.tokens(), (double) books.mayLackTokens(), tokens),
                Finding.atMost(
                        "3", "tokens charged and not used", books.tokens(), (double) books.mayExceedTokens(), tokens));
    }

    private Finding excess(Limit limit) {
        List<Credit> credits = Allowances.of(limit, leg);
        Excess excess = Excess.of(limit, sent, leg.terms(), credits);
        double perSecond = Terms.FULL.perSecond(limit);
        String beside = excess.bare() == 0
                ? ""
                : String.format(
                        Locale.ROOT,
                        "beyond what holds without faults: %.2f s of refill, of %.1f s that they may cost",
                        excess.bare() / perSecond,
                        credits.stream().mapToDouble(Credit::units).sum() / perSecond);
        return Finding.atMost(
                "2, 6",
                limit.name().toLowerCase(Locale.ROOT) + " beyond its bound in any interval",
                excess.beyond(),
                0,
                beside);
    }

    /** Where hosts kept to themselves, or lost a lease, calls that run already come on top. */
    private Finding inFlight() {
        int beyond = 0;
        int most = 0;
        List<String> when = new ArrayList<>();
        for (Sent call : sent) {
            int above = call.inFlight() - slotsAt(call.atMs());
            if (above > beyond) {
                when.add(String.format(
                        Locale.ROOT, "%d at %.1f s", call.inFlight(), (call.atMs() - leg.startMs()) / 1_000.0));
            }
            beyond = Math.max(beyond, above);
            most = Math.max(most, call.inFlight());
        }
        String beside = "most: " + most + (when.isEmpty() ? "" : "; " + String.join(", ", when));
        return Finding.atMost("2, 4", "calls in flight above the slots there were", beyond, 0, beside);
    }

    /** By Redis's own count: permits that were given without it come back as slots, above the limit if need be. */
    private Finding taken() {
        long beyond = leg.watched().stream()
                .mapToLong(look -> look.standing().slots() - slotsAt(look.atMs()))
                .max()
                .orElse(0);
        return Finding.atMost(
                "2, 4",
                "slots taken in Redis above those there were",
                (double) Math.max(0, beyond),
                0,
                leg.watched().size() + " looks");
    }

    /**
     * Calls that hosts sent by themselves and that may still run. On a busy machine single answers of Redis come too late without
     * any fault of ours, and the policy's outage rule lets such a call start.
     */
    private int alone(long atMs) {
        return (int) leg.aloneMs().stream()
                .filter(sentMs -> sentMs <= atMs + Excess.WAY_MS && atMs <= sentMs + Terms.LEASE_MS)
                .count();
    }

    private int slotsAt(long atMs) {
        int slots = Terms.SLOTS + alone(atMs);
        for (Happening one : leg.happenings()) {
            if (one.fromMs() <= atMs && atMs <= one.toMs() + Terms.LEASE_MS) {
                slots += switch (one.kind()) {
                    case PAUSE -> leg.agents();
                    case CRASH, LOSING, FAILOVER, RESTART, PARTITION, STALL, EMPTY, LOST_REPLIES ->
                        (int) (Terms.SLOTS * Allowances.SHARE);
                    case KILL, SCRIPTS, LIMITS, WEIGHTS, DELAY -> 0;
                };
            }
        }
        return slots;
    }

    private Finding stillHeld() {
        int held =
                leg.happenings().stream().mapToInt(Happening::stillHeld).max().orElse(0);
        long kills =
                leg.happenings().stream().filter(one -> one.stillHeld() >= 0).count();
        return Finding.atMost(
                "4", "slots of a killed host a lease and 1 s later", Math.max(0, held), 0, kills + " looked at");
    }

    private Finding oldest() {
        long oldest = leg.watched().stream()
                .mapToLong(look -> look.standing().oldestMs())
                .max()
                .orElse(0);
        return Finding.atMost(
                "7, 9",
                "oldest call in line, s",
                oldest / 1_000.0,
                WAIT_SECONDS_AN_AGENT * leg.processes() * leg.agents(),
                leg.watched().size() + " looks");
    }

    /** What reached the provider while no host reached Redis, above the hosts' shares. */
    private Finding outages() {
        double beyond = 0;
        int looked = 0;
        for (Happening one : leg.happenings()) {
            long from = one.outMs() + Excess.WAY_MS;
            if (one.isOutage() && from < one.toMs()) {
                looked++;
                for (Limit limit : Limit.values()) {
                    double used = sent.stream()
                            .filter(call -> call.atMs() >= from && call.atMs() <= one.toMs())
                            .mapToLong(call -> call.cost(limit))
                            .sum();
                    double share = Allowances.SHARE
                            * (Terms.burst(limit) + leg.terms().refilled(limit, one.outMs(), one.toMs()));
                    beyond = Math.max(beyond, (used - share) / Terms.FULL.perSecond(limit));
                }
            }
        }
        return Finding.atMost(
                "11", "s of refill used beyond the hosts' shares in an outage", beyond, 0, looked + " outages");
    }

    private List<Finding> leftovers() {
        Evidence.End end = leg.end();
        long slots = end.standing().map(Standing::slots).orElse(-1L);
        long waiters = end.standing().map(Standing::waiters).orElse(-1L);
        double after =
                end.emptyAfterMs() == Evidence.End.NEVER ? Double.POSITIVE_INFINITY : end.emptyAfterMs() / 1_000.0;
        return List.of(
                Finding.atMost("4, 12", "slots left", (double) Math.abs(slots) + end.running(), 0, ""),
                Finding.atMost("7, 12", "calls left in line", (double) Math.abs(waiters), 0, ""),
                Finding.atMost("4", "s until all was empty", after, (Terms.LEASE_MS + GRACE_MS) / 1_000.0, ""),
                Finding.atMost("12", "keys", end.keys(), KEYS, counters()));
    }

    private String counters() {
        return leg.end()
                .standing()
                .map(standing -> standing.counters().isEmpty() ? "" : "counted: " + standing.counters())
                .orElse("");
    }

    private Finding recovery() {
        Recovery recovery = new Recovery(sent, leg.happenings(), fromMs, leg.stopMs());
        double worst = 0;
        String of = "";
        for (Happening one : leg.happenings()) {
            OptionalDouble ms = recovery.of(one);
            if (ms.orElse(0) > worst) {
                worst = ms.getAsDouble();
                of = "after " + one.kind().word();
            }
        }
        return Finding.atMost("", "s to recover", worst / 1_000, LEASES_TO_RECOVER * Terms.LEASE_MS / 1_000, of);
    }

    /** How long each incident's recovery took, in ms, in order; -1 where the leg ended first. */
    List<Double> recoveries() {
        Recovery recovery = new Recovery(sent, leg.happenings(), fromMs, leg.stopMs());
        return leg.happenings().stream().map(one -> recovery.of(one).orElse(-1)).toList();
    }

    /** What was used of a limit from the first second in which all processes were served to the stop signal. */
    double used(Limit limit) {
        return sent.stream()
                .filter(call -> call.atMs() >= fromMs && call.atMs() <= leg.stopMs())
                .mapToLong(call -> call.cost(limit))
                .sum();
    }

    /** What was allowed in that time. */
    double allowed(Limit limit) {
        return fromMs == leg.stopMs() ? 0 : Terms.burst(limit) + leg.terms().refilled(limit, fromMs, leg.stopMs());
    }

    long requests() {
        return sent.size() + leg.rejected();
    }
}
