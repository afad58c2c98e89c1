package io.sluice.testbed.fleet;

import io.sluice.Priority;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The calls of one agent, one after the other: always the same for the same seed, process and agent. */
final class Workload {
    private final Profile profile;
    private final String agent;
    private final SplittableRandom random;
    private final @Nullable String team;

    Workload(Profile profile, long seed, int process, int agent) {
        this.profile = profile;
        this.agent = name(process, agent);
        this.random = new SplittableRandom(seed * 1_000_003 + process * 1_009L + agent);
        this.team = profile.teams().isEmpty() ? null : pick(profile.teams());
    }

    /** An agent's name: {@code p2/a17}. */
    static String name(int process, int agent) {
        return "p" + process + "/a" + agent;
    }

    /** The process an agent's name begins with: {@code p2}. */
    static String processOf(String agent) {
        int slash = agent.indexOf('/');
        return slash < 0 ? agent : agent.substring(0, slash);
    }

    String agent() {
        return agent;
    }

    Work next() {
        Profile.Size size = size();
        Priority priority = profile.priorities().isEmpty() ? Priority.NORMAL : Priority.of(pick(profile.priorities()));
        // One factor for the whole call: a longer prompt brings a longer answer.
        double factor = 1 + profile.spread() * (2 * random.nextDouble() - 1);
        long output = Math.min(size.maxOutput(), Math.round(size.output() * factor));
        return new Work(
                agent,
                team,
                priority,
                profile.model(),
                size.name(),
                random.nextInt(profile.thinkMs() + 1),
                Math.round(size.input() * factor),
                Math.round(size.cacheRead() * factor),
                output,
                size.maxOutput(),
                Math.round(size.durationMs() * factor));
    }

    private Profile.Size size() {
        int left = random.nextInt(
                profile.sizes().stream().mapToInt(Profile.Size::share).sum());
        for (Profile.Size size : profile.sizes()) {
            left -= size.share();
            if (left < 0) {
                return size;
            }
        }
        throw new AssertionError("shares changed");
    }

    private String pick(Map<String, Integer> shares) {
        int left = random.nextInt(
                shares.values().stream().mapToInt(Integer::intValue).sum());
        // Sorted: a map's own order differs from one JVM to the next.
        for (Map.Entry<String, Integer> entry : new TreeMap<>(shares).entrySet()) {
            left -= entry.getValue();
            if (left < 0) {
                return entry.getKey();
            }
        }
        throw new AssertionError("shares changed");
    }
}
