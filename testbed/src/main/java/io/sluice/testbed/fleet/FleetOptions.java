package io.sluice.testbed.fleet;

import io.sluice.Policy;
import java.net.URI;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A run of a fleet.
 *
 * @param redis where the shared budget is; {@code null} where the strategy needs none
 * @param policy the budget: installed for {@link Strategy#SLUICE}, the source of the numbers for the others
 * @param target the provider, one that tells its log
 * @param processes OS processes, 1 to 64
 * @param agents agents in each, 1 to 200
 * @param length from the start signal to the stop signal, at least 1 s
 * @param seed the same seed makes the same agents want the same calls
 * @param overHttp the part that asks a server for its permits; {@code null}: all go to Redis themselves
 */
public record FleetOptions(
        @Nullable String redis,
        Policy policy,
        URI target,
        int processes,
        int agents,
        Duration length,
        Strategy strategy,
        Profile profile,
        long seed,
        @Nullable OverHttp overHttp) {

    /**
     * Processes of {@link Strategy#SLUICE} that know no Redis: their agents take permits over HTTP, as those in other languages.
     *
     * @param server where it is
     * @param processes how many: the last ones
     */
    public record OverHttp(URI server, int processes) {}

    /** All go to Redis themselves. */
    public FleetOptions(
            @Nullable String redis,
            Policy policy,
            URI target,
            int processes,
            int agents,
            Duration length,
            Strategy strategy,
            Profile profile,
            long seed) {
        this(redis, policy, target, processes, agents, length, strategy, profile, seed, null);
    }

    /** @throws IllegalArgumentException if a value is out of range, naming it */
    public FleetOptions {
        check(processes >= 1 && processes <= 64, "processes must be 1 to 64, got " + processes);
        check(agents >= 1 && agents <= 200, "agents must be 1 to 200, got " + agents);
        check(
                length.compareTo(Duration.ofSeconds(1)) >= 0 && length.compareTo(Duration.ofHours(1)) <= 0,
                "seconds must be 1 to 3600, got " + length.toSeconds());
        check(
                "http".equals(target.getScheme()) || "https".equals(target.getScheme()),
                "target must be an http or https URL, got " + target);
        Roster.of(profile.groups(), processes * agents);
        long lastMs = profile.stagger().startMs(processes - 1, agents - 1);
        check(
                lastMs < length.toMillis(),
                "stagger: the last agent would start after " + lastMs + " ms, the run ends after " + length.toMillis());
        check(redis != null || !strategy.needsRedis(), "strategy " + strategy.label() + " needs --redis");
        check(
                overHttp == null || (overHttp.processes() >= 0 && overHttp.processes() <= processes),
                "over HTTP go at most all processes");
    }

    /** The same run with another strategy, Redis and target. */
    public FleetOptions with(Strategy other, String redisUri, URI provider) {
        return new FleetOptions(redisUri, policy, provider, processes, agents, length, other, profile, seed, overHttp);
    }

    /** The same run with its last processes over HTTP. */
    public FleetOptions over(URI server, int some) {
        return new FleetOptions(
                redis, policy, target, processes, agents, length, strategy, profile, seed, new OverHttp(server, some));
    }

    private static void check(boolean good, String message) {
        if (!good) {
            throw new IllegalArgumentException(message);
        }
    }
}
