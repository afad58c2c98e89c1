package io.sluice.testbed.bench;

import java.util.List;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/** One contender at one number of threads, round by round. */
record Series(String contender, int threads, List<Sample> rounds) {
    Series {
        rounds = List.copyOf(rounds);
    }

    Spread of(ToDoubleFunction<Sample> number) {
        return Spread.of(rounds.stream().mapToDouble(number).toArray());
    }

    /** Round by round, so that what slowed the machine in one round slows both sides of its ratio. */
    Spread ratio(Series reference, ToDoubleFunction<Sample> number) {
        return Spread.of(IntStream.range(0, rounds.size())
                .mapToDouble(i -> number.applyAsDouble(rounds.get(i)) / number.applyAsDouble(reference.rounds.get(i)))
                .toArray());
    }
}
