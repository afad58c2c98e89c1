package io.sluice.testbed.fleet;

import io.sluice.Call;
import io.sluice.Priority;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the agents of a fleet do: the mix of calls they make. Shares are relative: {@code {small: 3, large: 1}} is three
 * small calls in four.
 *
 * @param model the model every call names
 * @param thinkMs the longest pause of an agent before a step, in ms; each pause is 0 to this
 * @param spread how far a number of a size strays either way, 0 (not at all) to 0.9
 * @param sizes the sizes of calls; at least one, unless every group has its own
 * @param priorities share of each priority among the calls; empty is all {@code normal}
 * @param teams share of each team among the agents; empty is no team
 * @param groups agents that are alike; empty: all do what the rest of the profile says
 * @param bursts when a step of an agent makes many calls; {@code null}: each makes one
 * @param tools makes each step a task with tool runs between its calls; {@code null}: it is not
 * @param stagger time between starts; default none
 * @param tries how often a call is sent where the strategy repeats it itself, 1 to 1000; default 10, and SDKs left alone make 3
 * @param starvedAfterMs a call that waited longer is told as starved, in ms from 1; default 30,000
 */
public record Profile(
        String model,
        int thinkMs,
        double spread,
        List<Size> sizes,
        Map<String, Integer> priorities,
        Map<String, Integer> teams,
        List<Group> groups,
        @Nullable Bursts bursts,
        @Nullable Tools tools,
        Stagger stagger,
        @Nullable Integer tries,
        @Nullable Integer starvedAfterMs) {

    private static final int STARVED_AFTER_MS = 30_000;
    private static final int TRIES = 10;

    /**
     * One size of call, in tokens, before {@code spread}.
     *
     * @param share its share among the calls, above 0
     * @param input fresh input
     * @param cacheRead input read from the provider's cache, on top
     * @param output what the model will produce
     * @param maxOutput the output cap the request names, never below {@code output} with its spread
     * @param durationMs how long the answer takes
     */
    public record Size(
            String name, int share, long input, long cacheRead, long output, long maxOutput, long durationMs) {
        public Size {
            check(share > 0, "share of size " + name + " must be above 0, got " + share);
            check(
                    input >= 0 && cacheRead >= 0 && output >= 0 && maxOutput >= 1 && durationMs >= 0,
                    "size " + name + " has a number below 0, or max_output below 1: input " + input + ", cache_read "
                            + cacheRead + ", output " + output + ", max_output " + maxOutput + ", duration_ms "
                            + durationMs);
        }
    }

    /** Mostly small calls, a few large ones, input mostly cached: what coding agents send. */
    public static final Profile DEFAULT = new Profile(
            "claude-sonnet-5-5",
            150,
            0.3,
            List.of(
                    new Size("small", 60, 1_500, 6_000, 150, 512, 400),
                    new Size("medium", 30, 6_000, 20_000, 500, 1_024, 900),
                    new Size("large", 10, 16_000, 40_000, 1_200, 2_048, 2_000)),
            Map.of("interactive", 1, "normal", 2, "batch", 1),
            Map.of());

    /** @throws IllegalArgumentException if a value is missing or out of range, naming it */
    public Profile {
        model = model == null ? "claude-sonnet-5-5" : model;
        sizes = sizes == null ? List.of() : List.copyOf(sizes);
        priorities = priorities == null ? Map.of() : Map.copyOf(priorities);
        teams = teams == null ? Map.of() : Map.copyOf(teams);
        groups = groups == null ? List.of() : named(groups);
        stagger = stagger == null ? Stagger.NONE : stagger;
        tries = tries == null ? Integer.valueOf(TRIES) : tries;
        check(tries >= 1 && tries <= 1_000, "tries must be 1 to 1000, got " + tries);
        starvedAfterMs = starvedAfterMs == null ? Integer.valueOf(STARVED_AFTER_MS) : starvedAfterMs;
        check(tools == null || bursts == null, "a profile has bursts or tools, not both");
        for (Group group : groups) {
            check(
                    tools == null || group.bursts() == null,
                    "group " + group.name() + " has bursts, the profile has tools");
            check(
                    !sizes.isEmpty() || !group.sizes().isEmpty(),
                    "group " + group.name() + " needs at least one size, and so does the profile");
        }
        check(!sizes.isEmpty() || !groups.isEmpty(), "a profile needs at least one size");
        check(thinkMs >= 0, "think_ms must not be below 0, got " + thinkMs);
        check(spread >= 0 && spread <= 0.9, "spread must be 0 to 0.9, got " + spread);
        check(starvedAfterMs >= 1, "starved_after_ms must be 1 or more, got " + starvedAfterMs);
        priorities.keySet().forEach(Priority::of);
        teams.keySet().forEach(Call.of("-")::team);
        for (Map<String, Integer> shares : List.of(priorities, teams)) {
            shares.forEach((name, share) -> check(share > 0, "share of " + name + " must be above 0, got " + share));
        }
    }

    /** All agents alike, one call a step, all starting at once. */
    Profile(
            String model,
            int thinkMs,
            double spread,
            List<Size> sizes,
            Map<String, Integer> priorities,
            Map<String, Integer> teams) {
        this(model, thinkMs, spread, sizes, priorities, teams, List.of(), null, null, Stagger.NONE, null, null);
    }

    /**
     * A profile by its name or its file.
     *
     * @param nameOrFile one of {@link ProfileFile#NAMES}, or a YAML or JSON file; {@code null} is {@link #DEFAULT}
     * @throws IllegalArgumentException if there is none, or it is not valid, in one line
     */
    public static Profile load(@Nullable String nameOrFile) {
        return nameOrFile == null ? DEFAULT : ProfileFile.load(nameOrFile);
    }

    /** How often a call is sent at most, by a strategy that repeats it itself. */
    int mostTries() {
        return tries == null ? TRIES : tries;
    }

    /** From when on a wait is told as starvation, in ms. */
    long starvedMs() {
        return starvedAfterMs == null ? STARVED_AFTER_MS : starvedAfterMs;
    }

    /** Messages name groups: those without a name are told by their place. */
    private static List<Group> named(List<Group> groups) {
        List<Group> named = new ArrayList<>();
        for (Group group : groups) {
            named.add(group.name() == null ? group.named("#" + (named.size() + 1)) : group);
        }
        return List.copyOf(named);
    }

    static void check(boolean good, String message) {
        if (!good) {
            throw new IllegalArgumentException(message);
        }
    }
}
