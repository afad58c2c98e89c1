package io.sluice.testbed.fleet;

import io.sluice.testbed.fleet.Budget.Interval;
import io.sluice.testbed.fleet.FleetEvent.Outcome;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * How a run went. What was accepted, rejected and used is what the provider logged; what was tried, given up and waited
 * is what the agents say.
 *
 * @param seconds from the start signal to the stop signal
 * @param judgedSeconds the part that use is measured over: from the first second in which every process has been
 *     granted; 0 if one never was
 * @param tried calls an agent wanted to make: completed + given up + cut off
 * @param cutOff calls the stop signal ended before they were answered
 * @param accepted requests the provider accepted
 * @param rejections requests the provider rejected, by what they ran into
 * @param limits each limit the policy sets, and how much of it was used
 * @param binding the limit with the highest use; {@code null} if nothing was judged
 * @param usedPercent use of the binding limit, 0 to about 100
 * @param overshootPercent by how much the worst minute passed the provider's own limit, on the worst limit; 0 is never
 * @param waits how long calls waited
 * @param waitsByTeam the same, by team ({@code -} is none)
 * @param waitsByPriority the same, by priority
 * @param callsPerAgent how many calls each agent completed
 * @param jain fairness among agents by tokens served, 1 is equal
 * @param givenUpBecause why calls were given up
 * @param byTeam waits, rejections and use of each team ({@code -} is none)
 * @param byPriority the same of each priority
 * @param flows the same of each flow, heaviest first
 * @param flowFairness fairness among flows by charged share ÷ weight
 * @param starvation waits that were too long
 * @param tasks what became of tasks with tools; {@code null} if the profile has none
 */
public record FleetReport(
        String strategy,
        int processes,
        int agents,
        long seed,
        double seconds,
        double judgedSeconds,
        long tried,
        long completed,
        long givenUp,
        long cutOff,
        long accepted,
        long rejected,
        Map<String, Long> rejections,
        List<LimitUse> limits,
        @Nullable String binding,
        double usedPercent,
        double overshootPercent,
        Waits waits,
        Map<String, Waits> waitsByTeam,
        Map<String, Waits> waitsByPriority,
        Spread callsPerAgent,
        double jain,
        Map<String, Long> givenUpBecause,
        Map<String, Part> byTeam,
        Map<String, Part> byPriority,
        List<Flow> flows,
        FlowFairness flowFairness,
        Starvation starvation,
        @Nullable Tasks tasks) {

    /**
     * One limit over the judged interval.
     *
     * @param amount as the policy states it: a minute, or in flight
     * @param allowed what the policy allows over the interval, burst and headroom included
     * @param used what the provider counted
     */
    public record LimitUse(String limit, long amount, double allowed, double used) {
        /** 0 to about 100. */
        public double percent() {
            return allowed == 0 ? 0 : 100 * used / allowed;
        }
    }

    /** How long calls waited, in ms, of those completed or given up. */
    public record Waits(long calls, long p50Ms, long p99Ms, long maxMs) {
        static Waits of(List<FleetEvent.Call> calls) {
            List<Long> sorted =
                    calls.stream().map(FleetEvent.Call::waitedMs).sorted().toList();
            return new Waits(
                    sorted.size(),
                    Statistics.percentile(sorted, 50),
                    Statistics.percentile(sorted, 99),
                    Statistics.percentile(sorted, 100));
        }
    }

    /** The least, the middle and the most. */
    public record Spread(long min, long median, long max) {}

    /** One line of JSON, names in snake_case. */
    public String toJson() {
        return Json.MAPPER.writeValueAsString(this);
    }

    /**
     * What a run left behind, before it is judged.
     *
     * @param stopMs the stop signal, by the target's clock
     */
    record Run(
            FleetOptions options,
            PolicyNumbers numbers,
            PolicyFlows flows,
            double seconds,
            long stopMs,
            List<LogEntry> log,
            JsonNode stats,
            List<FleetEvent.Call> calls,
            List<FleetEvent.Task> tasks) {
        /** The stop signal, in ms after the start signal. */
        long agentsStopMs() {
            return Math.round(seconds * 1000);
        }
    }

    static FleetReport of(Run run) {
        FleetOptions options = run.options();
        List<LogEntry> log = run.log();
        List<FleetEvent.Call> calls = run.calls();
        Interval told = judged(calls, options.processes(), run.agentsStopMs());
        // The agents know when they were granted, the target knows what came of it.
        Interval interval = told == null ? null : told.endingAt(run.stopMs());
        List<LimitUse> limits = limits(run, interval);
        LimitUse binding = limits.stream()
                .max(Comparator.comparingDouble(LimitUse::percent))
                .orElse(null);
        List<FleetEvent.Call> ended =
                calls.stream().filter(c -> c.outcome() != Outcome.CUT_OFF).toList();
        Interval wholeRun = new Interval(0, run.agentsStopMs());
        Shares shares = new Shares(calls, told == null ? wholeRun : told, run.numbers(), run.flows(), binding);
        List<Flow> flows = shares.flows();
        Map<String, Long> rejections =
                count(log.stream().filter(e -> e.is("rejected")).toList(), e -> text(e.kind()));
        return new FleetReport(
                options.strategy().label(),
                options.processes(),
                options.agents(),
                options.seed(),
                run.seconds(),
                interval == null ? 0 : interval.seconds(),
                calls.size(),
                log.stream().filter(e -> e.is("finished")).count(),
                with(calls, Outcome.GIVEN_UP).size(),
                with(calls, Outcome.CUT_OFF).size(),
                log.stream().filter(e -> e.is("accepted")).count(),
                rejections.values().stream().mapToLong(Long::longValue).sum(),
                rejections,
                limits,
                binding == null ? null : binding.limit(),
                binding == null ? 0 : binding.percent(),
                overshoot(run.stats()),
                Waits.of(ended),
                waitsBy(ended, c -> text(c.team())),
                waitsBy(ended, c -> c.priority().label()),
                callsPerAgent(options, log),
                Statistics.jain(served(options, log).values()),
                count(with(calls, Outcome.GIVEN_UP), c -> text(c.why())),
                shares.by(c -> text(c.team())),
                shares.by(c -> c.priority().label()),
                flows,
                shares.fairness(flows),
                Starvation.of(calls, options.profile().starvedMs()),
                options.profile().tools() == null ? null : Tasks.of(run.tasks()));
    }

    private static @Nullable Interval judged(List<FleetEvent.Call> calls, int processes, long stopMs) {
        return Budget.interval(
                calls.stream()
                        .filter(FleetEvent.Call::granted)
                        .map(call -> new Budget.Grant(Workload.processOf(call.agent()), call.decidedMs())),
                processes,
                stopMs);
    }

    private static List<LimitUse> limits(Run run, @Nullable Interval interval) {
        List<LimitUse> limits = new ArrayList<>();
        if (interval != null) {
            for (String limit : run.numbers().limits()) {
                limits.add(new LimitUse(
                        limit,
                        run.numbers().amount(limit),
                        Budget.allowed(limit, run.numbers(), interval),
                        Budget.used(limit, run.numbers(), run.log(), interval)));
            }
        }
        return limits;
    }

    /** The provider's own limits and its worst minutes, both as it states them. */
    private static double overshoot(JsonNode stats) {
        Map<String, String> counted = Map.of("rpm", "requests", "itpm", "input", "otpm", "output", "tpm", "tokens");
        double worst = 0;
        for (Map.Entry<String, String> entry : counted.entrySet()) {
            double limit = stats.path("limits").path(entry.getKey()).asDouble(0);
            double minute = stats.path("worst_minute").path(entry.getValue()).asDouble(0);
            worst = Math.max(worst, limit == 0 ? 0 : 100 * (minute - limit) / limit);
        }
        return worst;
    }

    private static Spread callsPerAgent(FleetOptions options, List<LogEntry> log) {
        Map<String, Long> done = perAgent(options);
        log.stream().filter(e -> e.is("finished")).forEach(e -> done.merge(e.agent(), 1L, Long::sum));
        List<Long> sorted = done.values().stream().sorted().toList();
        return new Spread(
                Statistics.percentile(sorted, 0),
                Statistics.percentile(sorted, 50),
                Statistics.percentile(sorted, 100));
    }

    private static Map<String, Long> served(FleetOptions options, List<LogEntry> log) {
        Map<String, Long> tokens = perAgent(options);
        log.stream()
                .filter(e -> e.is("finished"))
                .forEach(e ->
                        tokens.merge(e.agent(), e.input() + e.cacheRead() + e.cacheWrite() + e.output(), Long::sum));
        return tokens;
    }

    /** Every agent with 0: who got nothing counts too. */
    private static Map<String, Long> perAgent(FleetOptions options) {
        Map<String, Long> agents = new TreeMap<>();
        for (int process = 0; process < options.processes(); process++) {
            for (int agent = 0; agent < options.agents(); agent++) {
                agents.put(Workload.name(process, agent), 0L);
            }
        }
        return agents;
    }

    private static List<FleetEvent.Call> with(List<FleetEvent.Call> calls, Outcome outcome) {
        return calls.stream().filter(c -> c.outcome() == outcome).toList();
    }

    private static Map<String, Waits> waitsBy(List<FleetEvent.Call> calls, Function<FleetEvent.Call, String> key) {
        return calls.stream()
                .collect(Collectors.groupingBy(
                        key, TreeMap::new, Collectors.collectingAndThen(Collectors.toList(), Waits::of)));
    }

    private static <T> Map<String, Long> count(List<T> things, Function<T, String> key) {
        return things.stream().collect(Collectors.groupingBy(key, TreeMap::new, Collectors.counting()));
    }

    private static String text(@Nullable String value) {
        return value == null ? "-" : value;
    }
}
