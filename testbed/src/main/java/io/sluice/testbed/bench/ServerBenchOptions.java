package io.sluice.testbed.bench;

import java.nio.file.Path;
import java.time.Duration;

/**
 * How much {@code bench server} does.
 *
 * @param home the directory of the whole project: where the server was built
 * @param length of one contender in one round: 50 ms to 5 min; its warm-up takes five times that
 * @param rounds measured, and starts of each kind: 1 to 50
 * @param waiters that wait at one server at once: 1 to 20,000
 */
public record ServerBenchOptions(Path home, Duration length, int rounds, int waiters) {

    /** @throws IllegalArgumentException if a value is out of its range, naming it */
    public ServerBenchOptions {
        if (length.compareTo(Duration.ofMillis(50)) < 0 || length.compareTo(Duration.ofMinutes(5)) > 0) {
            throw new IllegalArgumentException("seconds must be 0.05 to 300, got " + length.toMillis() / 1000.0);
        }
        if (rounds < 1 || rounds > 50) {
            throw new IllegalArgumentException("rounds must be 1 to 50, got " + rounds);
        }
        if (waiters < 1 || waiters > 20_000) {
            throw new IllegalArgumentException("waiters must be 1 to 20000, got " + waiters);
        }
    }

    /** What is promised, as it is promised: about three minutes. */
    public static ServerBenchOptions full(Path home, Duration length, int rounds) {
        return new ServerBenchOptions(home, length, rounds, 5_000);
    }
}
