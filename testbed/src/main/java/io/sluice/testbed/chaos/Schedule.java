package io.sluice.testbed.chaos;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.SplittableRandom;

/**
 * What goes wrong when: drawn from the seed alone, so that a run can be had again. No two things at once: each has its time and
 * its rest, so what follows can be laid to its door, and the bounds that are documented are of one fault at a time.
 *
 * @param parts one a leg, in their order
 */
record Schedule(long seed, List<Part> parts) {
    /** A fleet finds its pace first, and uses up what the buckets hold. */
    static final int QUIET_MS = 5_000;

    /** The longest pause after a rest. */
    private static final int PAUSE_MS = 2_000;

    /** What happens in a leg, in order. */
    record Part(Leg leg, Duration length, List<Incident> incidents) {
        Part {
            incidents = List.copyOf(incidents);
        }
    }

    static Schedule draw(long seed, Duration length, int processes) {
        List<Part> parts = new ArrayList<>();
        for (Leg leg : Leg.values()) {
            Duration its = Duration.ofMillis(Math.round(length.toMillis() * leg.share));
            parts.add(new Part(leg, its, draw(new Dice(seed, leg, processes), leg, its)));
        }
        return new Schedule(seed, List.copyOf(parts));
    }

    private static List<Incident> draw(Dice dice, Leg leg, Duration length) {
        List<Incident> incidents = new ArrayList<>();
        List<Kind> bag = new ArrayList<>();
        int atMs = QUIET_MS;
        while (true) {
            if (bag.isEmpty()) {
                bag.addAll(dice.shuffled(leg.kinds()));
            }
            Incident next = dice.incident(bag.remove(0), atMs + dice.below(PAUSE_MS));
            if (next.restedMs() > length.toMillis()) {
                return incidents;
            }
            incidents.add(next);
            atMs = next.restedMs();
        }
    }

    /** Lines of text, ending in a newline. */
    String lines() {
        StringBuilder text = new StringBuilder();
        for (Part part : parts) {
            text.append(String.format(
                    Locale.ROOT, "%s, %.0f s: %s%n", part.leg.word(), part.length.toMillis() / 1000.0, part.leg.label));
            part.incidents.forEach(
                    incident -> text.append("  ").append(incident.line()).append('\n'));
        }
        return text.toString();
    }

    /** Everything that is left to chance; its own for each leg, so that a longer run begins as a shorter one. */
    private static final class Dice {
        private final SplittableRandom random;
        private final int processes;

        Dice(long seed, Leg leg, int processes) {
            this.random = new SplittableRandom(seed * 1_000_003 + leg.name().hashCode());
            this.processes = processes;
        }

        int below(int bound) {
            return random.nextInt(bound);
        }

        List<Kind> shuffled(List<Kind> kinds) {
            List<Kind> order = new ArrayList<>(kinds);
            Collections.shuffle(order, new Random(random.nextLong()));
            return order;
        }

        Incident incident(Kind kind, int atMs) {
            return new Incident(
                    kind,
                    atMs,
                    kind.leastMs + below(kind.mostMs - kind.leastMs + 1),
                    below(processes),
                    kind == Kind.LIMITS ? 60 + below(31) : 20 + below(81));
        }
    }
}
