package io.sluice.testbed.fleet;

import io.sluice.Priority;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The calls of one agent, step by step: always the same for the same seed, process and agent. */
final class Workload {
    private final Profile profile;
    private final Group group;
    private final List<Profile.Size> sizes;
    private final int thinkMs;
    private final @Nullable Bursts bursts;
    private final String agent;
    private final SplittableRandom random;
    private final @Nullable String team;
    private long steps;

    Workload(Profile profile, long seed, int process, int agent) {
        this(profile, Group.EVERYBODY, seed, process, agent);
    }

    Workload(Profile profile, Group group, long seed, int process, int agent) {
        this.profile = profile;
        this.group = group;
        this.sizes = group.sizes().isEmpty() ? profile.sizes() : group.sizes();
        this.thinkMs = group.thinkMs() == null ? profile.thinkMs() : group.thinkMs();
        this.bursts = group.bursts() == null ? profile.bursts() : group.bursts();
        this.agent = name(process, agent);
        this.random = new SplittableRandom(seed * 1_000_003 + process * 1_009L + agent);
        this.team = group.team() != null || profile.teams().isEmpty() ? group.team() : pick(profile.teams());
    }

    /** What makes its steps tasks; {@code null} if they are not. */
    @Nullable
    Tools tools() {
        return profile.tools();
    }

    /** The calls of the agent's next step: of a task one after the other, else all made at once; one, unless it is a burst. */
    List<Work> step() {
        steps++;
        Tools tools = profile.tools();
        if (tools != null) {
            Work first = next();
            return Stream.concat(
                            Stream.of(first),
                            Stream.generate(() -> next().with(tools.result())).limit(tools.runs()))
                    .toList();
        }
        int calls = bursts == null ? 1 : bursts.callsOf(steps);
        return Stream.generate(this::next).limit(calls).toList();
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
        Priority priority = priority();
        // One factor for the whole call: a longer prompt brings a longer answer.
        double factor = 1 + profile.spread() * (2 * random.nextDouble() - 1);
        long output = Math.min(size.maxOutput(), Math.round(size.output() * factor));
        return new Work(
                agent,
                team,
                group.workspace(),
                priority,
                profile.model(),
                size.name(),
                pauseMs(),
                Math.round(size.input() * factor),
                Math.round(size.cacheRead() * factor),
                output,
                size.maxOutput(),
                Math.round(size.durationMs() * factor),
                profile.mostTries());
    }

    /** How long the agent thinks, this time. */
    long pauseMs() {
        return random.nextInt(thinkMs + 1);
    }

    private Priority priority() {
        if (group.priority() != null) {
            return Priority.of(group.priority());
        }
        return profile.priorities().isEmpty() ? Priority.NORMAL : Priority.of(pick(profile.priorities()));
    }

    private Profile.Size size() {
        int left = random.nextInt(sizes.stream().mapToInt(Profile.Size::share).sum());
        for (Profile.Size size : sizes) {
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
