package io.sluice.testbed.fleet;

import io.sluice.testbed.fleet.Budget.Interval;
import io.sluice.testbed.fleet.FleetEvent.Call;
import io.sluice.testbed.fleet.FleetEvent.Outcome;
import io.sluice.testbed.fleet.FleetReport.LimitUse;
import io.sluice.testbed.fleet.FleetReport.Waits;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Who of a fleet got how much of the budget, from what the agents told. */
final class Shares {
    private final List<Call> calls;
    private final Interval judged;
    private final Interval contended;
    private final PolicyNumbers numbers;
    private final PolicyFlows policy;
    private final @Nullable LimitUse binding;
    private final double wholeShare;

    /**
     * @param judged in ms after the start signal
     * @param binding the limit {@code use} is of; {@code null} if nothing was judged
     */
    Shares(List<Call> calls, Interval judged, PolicyNumbers numbers, PolicyFlows policy, @Nullable LimitUse binding) {
        this.calls = calls;
        this.judged = judged;
        this.numbers = numbers;
        this.policy = policy;
        this.binding = binding;
        long burstMs = Math.round(1000 * numbers.burstSeconds());
        this.contended = new Interval(Math.min(judged.fromMs() + burstMs, judged.toMs()), judged.toMs());
        this.wholeShare = share(judged, calls);
    }

    Map<String, Part> by(Function<Call, String> key) {
        return calls.stream()
                .collect(Collectors.groupingBy(
                        key, TreeMap::new, Collectors.collectingAndThen(Collectors.toList(), this::part)));
    }

    /** Heaviest first. */
    List<Flow> flows() {
        return calls.stream().collect(Collectors.groupingBy(policy::flow)).entrySet().stream()
                .map(entry -> flow(entry.getKey(), entry.getValue()))
                .sorted(Comparator.comparing(Flow::weight).reversed().thenComparing(Flow::name))
                .toList();
    }

    FlowFairness fairness(List<Flow> flows) {
        List<Flow> backlogged = flows.stream().filter(Flow::alwaysBacklogged).toList();
        List<Double> shares = backlogged.stream().map(Flow::sharePerWeight).toList();
        return new FlowFairness(
                contended.seconds(),
                shares.size() < 2 ? null : Double.valueOf(Statistics.jain(shares)),
                backlogged.stream().mapToLong(Flow::granted).min().orElse(0),
                backlogged.stream().map(Flow::name).toList(),
                flows.stream()
                        .filter(flow -> !flow.alwaysBacklogged())
                        .map(Flow::name)
                        .toList());
    }

    private Flow flow(PolicyFlows.Key key, List<Call> calls) {
        double backlogged = percent(backloggedMs(calls) / 1000.0, contended.seconds());
        return new Flow(
                key.modelClass(),
                key.team(),
                key.priority(),
                policy.weight(key),
                part(calls),
                within(contended, calls).stream().filter(Call::granted).count(),
                share(contended, calls) / policy.weight(key),
                backlogged,
                backlogged >= FlowFairness.BACKLOGGED_PERCENT);
    }

    private Part part(List<Call> calls) {
        List<Call> within = within(judged, calls);
        return new Part(
                Waits.of(calls.stream()
                        .filter(call -> call.outcome() != Outcome.CUT_OFF)
                        .toList()),
                calls.stream().mapToLong(Call::rejections).sum(),
                within.stream().filter(Call::granted).count(),
                within.stream().map(Call::charge).reduce(Charge.NOTHING, Charge::plus),
                percent(share(judged, calls), wholeShare),
                binding == null ? 0 : percent(used(binding.limit(), calls), binding.allowed()));
    }

    private static List<Call> within(Interval interval, List<Call> calls) {
        return calls.stream()
                .filter(call -> interval.contains(call.decidedMs()))
                .toList();
    }

    private double share(Interval interval, List<Call> calls) {
        return within(interval, calls).stream().mapToDouble(this::share).sum();
    }

    /** The largest part of a minute of any rate limit; where there is none, each call is 1. */
    private double share(Call call) {
        return numbers.limits().stream()
                .filter(limit -> !limit.equals(PolicyNumbers.CONCURRENCY))
                .mapToDouble(limit -> (double) units(limit, call.charge()) / numbers.amount(limit))
                .max()
                .orElse(call.granted() ? 1 : 0);
    }

    private double used(String limit, List<Call> calls) {
        if (limit.equals(PolicyNumbers.CONCURRENCY)) {
            return calls.stream()
                    .mapToDouble(call -> judged.overlapMs(call.decidedMs(), call.decidedMs() + call.heldMs()) / 1000.0)
                    .sum();
        }
        return within(judged, calls).stream()
                .mapToDouble(call -> units(limit, call.charge()))
                .sum();
    }

    private long units(String limit, Charge charge) {
        return switch (limit) {
            case PolicyNumbers.RPM -> charge.requests();
            case PolicyNumbers.ITPM -> numbers.inputCost(charge.input(), charge.cacheRead(), charge.cacheWrite());
            case PolicyNumbers.OTPM -> charge.output();
            case PolicyNumbers.TPM ->
                numbers.tokenCost(charge.input() + charge.cacheRead() + charge.cacheWrite(), 0, charge.output());
            default -> throw new IllegalArgumentException("no rate limit " + limit);
        };
    }

    /** How much of the contended time at least one call was waiting. */
    private long backloggedMs(List<Call> calls) {
        List<Call> sorted = new ArrayList<>(calls);
        sorted.sort(Comparator.comparingLong(Call::startedMs));
        long covered = 0;
        long upTo = contended.fromMs();
        for (Call call : sorted) {
            covered += contended.overlapMs(Math.max(upTo, call.startedMs()), call.decidedMs());
            upTo = Math.max(upTo, call.decidedMs());
        }
        return covered;
    }

    private static double percent(double part, double whole) {
        return whole == 0 ? 0 : 100 * part / whole;
    }
}
