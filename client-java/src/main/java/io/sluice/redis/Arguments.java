package io.sluice.redis;

import io.sluice.RefillLimit;
import io.sluice.ScopeLimits;
import io.sluice.Store.Ask;
import io.sluice.Store.Assertion;
import io.sluice.Store.BeatAsk;
import io.sluice.Store.Installation;
import io.sluice.Store.Observation;
import io.sluice.Store.Observations;
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
                ask.names(),
                Long.toString(ask.waitUs())));
        addCosts(arguments, ask.costs());
        return arguments;
    }

    static List<String> of(Settlement settlement) {
        String fifth = settlement.how().equals("refused") ? Long.toString(settlement.keepUs()) : settlement.memo();
        List<String> arguments = new ArrayList<>(
                List.of("", settlement.permit().id(), settlement.permit().nonce(), settlement.how(), fifth));
        if (settlement.how().equals("spent")) {
            arguments.add(settlement.stamp());
        }
        addCosts(arguments, settlement.used());
        return arguments;
    }

    static List<String> of(BeatAsk ask) {
        List<String> arguments = new ArrayList<>(List.of(
                "",
                ask.host(),
                Integer.toString(ask.renew().size()),
                Integer.toString(ask.claims().size()),
                Integer.toString(ask.looks().size()),
                Integer.toString(ask.asserts().size())));
        for (PermitName permit : ask.renew()) {
            arguments.add(permit.id());
            arguments.add(permit.nonce());
        }
        arguments.addAll(ask.claims());
        arguments.addAll(ask.looks());
        for (Assertion one : ask.asserts()) {
            List<String> values = new ArrayList<>();
            addCosts(values, one.costs());
            arguments.addAll(List.of(
                    one.permit().id(),
                    one.permit().nonce(),
                    one.digest(),
                    one.memo(),
                    one.stamp(),
                    Long.toString(one.leaseUs()),
                    one.flow(),
                    Integer.toString(one.weight()),
                    one.agent(),
                    Integer.toString(values.size())));
            arguments.addAll(values);
        }
        return arguments;
    }

    static List<String> of(Observations observations) {
        List<String> arguments = new ArrayList<>(List.of(
                "", observations.host(), Integer.toString(observations.all().size())));
        observations.all().forEach(observation -> add(arguments, observation));
        return arguments;
    }

    private static void add(List<String> arguments, Observation observation) {
        if (observation instanceof Observation.Hold it) {
            arguments.addAll(List.of("hold", it.scope()));
            addNumbers(arguments, it.waitUs(), it.mostUs());
            arguments.addAll(List.of(it.kind(), it.retryable() ? "1" : "0"));
            addNumbers(arguments, it.grantedUs());
            arguments.add(it.note());
        } else if (observation instanceof Observation.Release it) {
            arguments.addAll(List.of("release", it.scope()));
        } else if (observation instanceof Observation.Slow it) {
            arguments.addAll(List.of("slow", it.scope()));
            addNumbers(arguments, it.nowPpm(), it.nextPpm(), it.nextInUs(), it.grantedUs());
        } else if (observation instanceof Observation.Less it) {
            arguments.addAll(List.of("less", it.scope(), it.limit()));
            addNumbers(arguments, it.grantedUs());
        } else if (observation instanceof Observation.Left it) {
            arguments.addAll(List.of("left", it.scope(), it.limit()));
            addNumbers(arguments, it.left(), it.step(), it.statedAmount(), it.policyAmount());
            addNumbers(arguments, it.resetUs(), it.dateMs(), it.ageUs());
        } else if (observation instanceof Observation.Level it) {
            arguments.addAll(List.of("level", it.scope(), it.limit()));
            addNumbers(arguments, it.toPpm());
        } else if (observation instanceof Observation.Learn it) {
            arguments.addAll(List.of("learn", it.modelClass(), it.agent()));
            addNumbers(arguments, it.bytes(), it.bytesTokens(), it.cached(), it.input());
            addNumbers(arguments, it.outputs().size());
            it.outputs().forEach(outputs -> addNumbers(arguments, outputs.tokens(), outputs.answers()));
        }
    }

    private static void addNumbers(List<String> arguments, long... numbers) {
        for (long number : numbers) {
            arguments.add(Long.toString(number));
        }
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
            limit.finds().number()
        }) {
            arguments.add(Long.toString(number));
        }
    }
}
