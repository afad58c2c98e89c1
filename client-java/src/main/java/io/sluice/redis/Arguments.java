package io.sluice.redis;

import io.sluice.RefillLimit;
import io.sluice.ScopeLimits;
import io.sluice.Store.Ask;
import io.sluice.Store.BeatAsk;
import io.sluice.Store.Installation;
import io.sluice.Store.PermitName;
import io.sluice.Store.ScopeCost;
import io.sluice.Store.Settlement;
import java.util.ArrayList;
import java.util.List;

/** What each script is given, in the order of its head. The first is the time, which Redis itself knows best. */
final class Arguments {
    private Arguments() {}

    static List<String> of(Ask ask) {
        List<String> arguments = new ArrayList<>(List.of(
                "",
                ask.stamp(),
                ask.permit().id(),
                ask.permit().nonce(),
                ask.digest(),
                ask.host(),
                Long.toString(ask.leaseUs()),
                ask.memo(),
                ask.flow(),
                Integer.toString(ask.weight()),
                ask.agent(),
                Long.toString(ask.waitUs())));
        addCosts(arguments, ask.costs());
        return arguments;
    }

    static List<String> of(Settlement settlement) {
        String fifth = settlement.how().equals("refused") ? Long.toString(settlement.keepUs()) : settlement.memo();
        List<String> arguments = new ArrayList<>(
                List.of("", settlement.permit().id(), settlement.permit().nonce(), settlement.how(), fifth));
        addCosts(arguments, settlement.used());
        return arguments;
    }

    static List<String> of(BeatAsk ask) {
        List<String> arguments = new ArrayList<>(List.of(
                "",
                ask.host(),
                Integer.toString(ask.renew().size()),
                Integer.toString(ask.claims().size()),
                Integer.toString(ask.looks().size())));
        for (PermitName permit : ask.renew()) {
            arguments.add(permit.id());
            arguments.add(permit.nonce());
        }
        arguments.addAll(ask.claims());
        arguments.addAll(ask.looks());
        return arguments;
    }

    static List<String> of(Installation it, String epoch) {
        List<String> arguments = new ArrayList<>(List.of(
                "",
                epoch,
                Long.toString(it.held()),
                it.expected(),
                it.digest(),
                it.document(),
                it.note(),
                it.shadow() ? "shadow" : "enforce",
                Integer.toString(it.maxWaiters()),
                Integer.toString(it.scopes().size()),
                Integer.toString(it.calendars().size())));
        arguments.addAll(it.calendars());
        for (ScopeLimits scope : it.scopes()) {
            addScope(arguments, scope, scope.max());
        }
        return arguments;
    }

    /** {@code max}: how many scopes may be made of it. */
    static void addScope(List<String> arguments, ScopeLimits scope, long max) {
        arguments.add(scope.scope());
        for (long number : new long[] {
            scope.slots(),
            max,
            scope.rampPpm(),
            scope.everyUs(),
            scope.refills().size()
        }) {
            arguments.add(Long.toString(number));
        }
        scope.refills().forEach(limit -> addLimit(arguments, limit));
    }

    private static void addCosts(List<String> arguments, List<ScopeCost> costs) {
        for (ScopeCost cost : costs) {
            arguments.add(cost.scope());
            arguments.add(Integer.toString(cost.units().size()));
            for (long units : cost.units()) {
                arguments.add(Long.toString(units));
            }
        }
    }

    private static void addLimit(List<String> arguments, RefillLimit limit) {
        arguments.add(limit.name());
        for (long number : new long[] {
            limit.rate(),
            limit.factor(),
            limit.tickUs(),
            limit.capacity(),
            limit.ceiling(),
            limit.widthUs(),
            limit.spanAmount(),
            limit.minute(),
            limit.weights().unit(),
            limit.calendar(),
            limit.startPpm(),
            limit.finds().ordinal()
        }) {
            arguments.add(Long.toString(number));
        }
    }
}
