package io.sluice.server.project;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * How many agents a budget carries: the limit divided by what one agent uses late in its session, when its context is longest,
 * at 70 and 80 % of the limit, for the limit that carries fewest. Rounded down; against the stated amount, not the one less
 * headroom: the 20 or 30 % are the headroom here. Pure.
 *
 * <p>Example: 2,000,000 input tokens a minute, agents that use 20,000 a minute late in their session: 70 at 70 %, 80 at 80 %.
 */
final class Plan {
    private static final BigDecimal AT_70 = new BigDecimal("0.7");
    private static final BigDecimal AT_80 = new BigDecimal("0.8");

    private Plan() {}

    /**
     * What one agent uses.
     *
     * @param requests a minute
     * @param input tokens a minute that input limits count
     * @param output tokens a minute
     * @param inFlight calls at a time, on average
     */
    record Use(double requests, double input, double output, double inFlight) {

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

    /** One limit: its scope, name and stated amount. */
    record Limit(String scope, String name, long amount) {}

    /**
     * The advice.
     *
     * @param agentsAt70 agents that use 70 % of the binding limit
     * @param agentsAt80 the same of 80 %
     * @param binding the limit that carries fewest
     * @param all what each limit carries at 80 %, the fewest first
     */
    record Advice(long agentsAt70, long agentsAt80, Limit binding, List<Map.Entry<Limit, Long>> all) {}

    /** Empty: no limit counts anything that an agent uses. */
    static Optional<Advice> of(List<Limit> limits, Use use) {
        List<Map.Entry<Limit, Long>> all = limits.stream()
                .filter(limit -> used(limit, use) > 0)
                .map(limit -> Map.entry(limit, agents(limit, use, AT_80)))
                .sorted(Comparator.comparing((Map.Entry<Limit, Long> entry) -> ratio(entry.getKey(), use)))
                .toList();
        if (all.isEmpty()) {
            return Optional.empty();
        }
        Limit binding = all.get(0).getKey();
        return Optional.of(new Advice(agents(binding, use, AT_70), agents(binding, use, AT_80), binding, all));
    }

    private static double used(Limit limit, Use use) {
        Double used = use.of(limit.name);
        return used == null ? 0 : used;
    }

    private static BigDecimal ratio(Limit limit, Use use) {
        return BigDecimal.valueOf(limit.amount).divide(BigDecimal.valueOf(used(limit, use)), MathContext.DECIMAL64);
    }

    private static long agents(Limit limit, Use use, BigDecimal share) {
        return BigDecimal.valueOf(limit.amount)
                .multiply(share)
                .divide(BigDecimal.valueOf(used(limit, use)), 0, RoundingMode.DOWN)
                .longValue();
    }
}
