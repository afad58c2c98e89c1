package io.sluice;

import io.sluice.Admin.Used;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * How many agents a budget carries: the limit divided by what one agent uses late in its session, when its context is longest, at
 * 70 and 80 % of the limit, for the limit that carries fewest. Rounded down; against the stated amount, not the one less headroom:
 * the 20 or 30 % are the headroom here. Pure.
 *
 * <p>Example: 2,000,000 input tokens a minute, agents that use 20,000 a minute late in their session: 70 at 70 %, 80 at 80 %.
 *
 * @param agentsAt70 agents that use 70 % of the binding limit
 * @param agentsAt80 the same of 80 %
 * @param binding the limit that carries fewest
 * @param limits what each limit carries, the fewest first; of those that count something that an agent uses
 */
public record Plan(long agentsAt70, long agentsAt80, Carried binding, List<Carried> limits) {
    private static final BigDecimal AT_70 = new BigDecimal("0.7");
    private static final BigDecimal AT_80 = new BigDecimal("0.8");

    /**
     * The advice.
     *
     * @param modelClass whose limits count, beside those of the whole project; {@code null}: those of all classes
     * @return empty: no limit counts anything that an agent uses
     */
    public static Optional<Plan> of(List<Status.Limit> limits, @Nullable String modelClass, Use use) {
        List<Status.Limit> counted = limits.stream()
                .filter(limit -> counts(limit.scope(), modelClass))
                .filter(limit -> used(limit, use) > 0)
                .sorted(Comparator.comparing((Status.Limit limit) -> ratio(limit, use)))
                .toList();
        if (counted.isEmpty()) {
            return Optional.empty();
        }
        List<Carried> all = counted.stream()
                .map(limit -> new Carried(limit.scope(), limit.limit(), limit.amount(), agents(limit, use, AT_80)))
                .toList();
        long at70 = agents(counted.get(0), use, AT_70);
        return Optional.of(new Plan(at70, all.get(0).agentsAt80(), all.get(0), all));
    }

    private static BigDecimal ratio(Status.Limit limit, Use use) {
        return BigDecimal.valueOf(limit.amount()).divide(BigDecimal.valueOf(used(limit, use)), MathContext.DECIMAL64);
    }

    private static boolean counts(String scope, @Nullable String modelClass) {
        return scope.equals("p") || (modelClass == null ? scope.startsWith("c:") : scope.equals("c:" + modelClass));
    }

    private static double used(Status.Limit limit, Use use) {
        Double used = use.of(limit.limit());
        return used == null ? 0 : used;
    }

    private static long agents(Status.Limit limit, Use use, BigDecimal share) {
        return BigDecimal.valueOf(limit.amount())
                .multiply(share)
                .divide(BigDecimal.valueOf(used(limit, use)), 0, RoundingMode.DOWN)
                .longValue();
    }

    /** One limit: its scope, name and stated amount, and the agents that use 80 % of it. */
    public record Carried(String scope, String limit, double amount, long agentsAt80) {}

    /**
     * What one agent uses.
     *
     * @param requests a minute
     * @param input tokens a minute that input limits count
     * @param output tokens a minute
     * @param inFlight calls at a time, on average
     */
    public record Use(double requests, double input, double output, double inFlight) {

        /**
         * As it was seen: of each agent the minutes of its busiest hour in which it was there, because sessions grow; of all agents
         * what only a tenth exceed. How many calls are in flight is not seen here: 0.
         *
         * @param rows of {@link Admin#usage} by hour and agent
         * @param cachedCounts whether the provider's input limits count what is read from its cache
         * @return empty where no agent was seen
         */
        public static Optional<Use> observed(List<Used> rows, boolean cachedCounts) {
            return ObservedUse.late(rows, cachedCounts);
        }

        /** What of it a limit counts, in the limit's units; {@code null} where nothing here says. */
        @Nullable
        Double of(String limit) {
            return switch (limit) {
                case "rpm" -> requests;
                case "itpm" -> input;
                case "otpm" -> output;
                case "tpm" -> input + output;
                case "concurrency" -> inFlight;
                case "rpd" -> requests * 60 * 24;
                case "tpd" -> (input + output) * 60 * 24;
                case "agents" -> 1.0;
                default -> null;
            };
        }
    }
}
