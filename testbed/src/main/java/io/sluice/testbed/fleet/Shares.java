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
        this.wholeShare = share(calls);
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

    static FlowFairness fairness(List<Flow> flows) {
        List<Flow> backlogged = flows.stream().filter(Flow::alwaysBacklogged).toList();
        List<Double> shares = backlogged.stream()
                .map(flow -> flow.part().sharePercent() / flow.weight())
                .toList();
        return new FlowFairness(
                shares.size() < 2 ? null : Double.valueOf(Statistics.jain(shares)),
                backlogged.stream()
                        .mapToLong(flow -> flow.part().granted())
                        .min()
                        .orElse(0),
                backlogged.stream().map(Flow::name).toList(),
                flows.stream()
                        .filter(flow -> !flow.alwaysBacklogged())
                        .map(Flow::name)
                        .toList());
    }

    private Flow flow(PolicyFlows.Key key, List<Call> calls) {
        double backlogged = percent(backloggedMs(calls) / 1000.0, judged.seconds());
        return new Flow(
                key.modelClass(),
                key.team(),
                key.priority(),
                policy.weight(key),
                part(calls),
                backlogged,
                backlogged >= FlowFairness.BACKLOGGED_PERCENT);
    }

    private Part part(List<Call> calls) {
        List<Call> within = calls.stream().filter(this::within).toList();
        return new Part(
                Waits.of(calls.stream()
                        .filter(call -> call.outcome() != Outcome.CUT_OFF)
                        .toList()),
                calls.stream().mapToLong(Call::rejections).sum(),
                within.stream().filter(Call::granted).count(),
                within.stream().map(Call::charge).reduce(Charge.NOTHING, Charge::plus),
                percent(share(calls), wholeShare),
                binding == null ? 0 : percent(used(binding.limit(), calls), binding.allowed()));
    }

    private boolean within(Call call) {
        return judged.contains(call.decidedMs());
    }

    private double share(List<Call> calls) {
        return calls.stream().filter(this::within).mapToDouble(this::share).sum();
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
        return calls.stream()
                .filter(this::within)
                .mapToDouble(call -> units(limit, call.charge()))
                .sum();
    }

    private long units(String limit, Charge charge) {
        return switch (limit) {
            case PolicyNumbers.RPM -> charge.requests();
            case PolicyNumbers.ITPM -> numbers.inputCost(charge.input(), charge.cacheRead(), charge.cacheWrite());
            case PolicyNumbers.OTPM -> charge.output();
            default -> throw new IllegalArgumentException("no rate limit " + limit);
        };
    }

    /** How much of the judged time at least one call was waiting. */
    private long backloggedMs(List<Call> calls) {
        List<Call> sorted = new ArrayList<>(calls);
        sorted.sort(Comparator.comparingLong(Call::startedMs));
        long covered = 0;
        long upTo = judged.fromMs();
        for (Call call : sorted) {
            covered += judged.overlapMs(Math.max(upTo, call.startedMs()), call.decidedMs());
            upTo = Math.max(upTo, call.decidedMs());
        }
        return covered;
    }

    private static double percent(double part, double whole) {
        return whole == 0 ? 0 : 100 * part / whole;
    }
}
