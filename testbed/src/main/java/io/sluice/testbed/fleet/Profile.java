package io.sluice.testbed.fleet;

import io.sluice.Priority;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;

/**
 * What the agents of a fleet do: the mix of calls they make. Shares are relative: {@code {small: 3, large: 1}} is three
 * small calls in four.
 *
 * @param model the model every call names
 * @param thinkMs the longest pause of an agent between calls, in ms; each pause is 0 to this
 * @param spread how far a number of a size strays either way, 0 (not at all) to 0.9
 * @param sizes the sizes of calls, at least one
 * @param priorities share of each priority among the calls; empty is all {@code normal}
 * @param teams share of each team among the agents; empty is no team
 */
public record Profile(
        String model,
        int thinkMs,
        double spread,
        List<Size> sizes,
        Map<String, Integer> priorities,
        Map<String, Integer> teams) {

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
            check(share > 0, "share of size " + name + " must be above 0");
            check(
                    input >= 0 && cacheRead >= 0 && output >= 0 && maxOutput >= 1 && durationMs >= 0,
                    "size " + name + " has a number below 0, or max_output below 1");
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
        check(!sizes.isEmpty(), "a profile needs at least one size");
        check(thinkMs >= 0, "think_ms must not be below 0, got " + thinkMs);
        check(spread >= 0 && spread <= 0.9, "spread must be 0 to 0.9, got " + spread);
        priorities.keySet().forEach(Priority::of);
        for (Map<String, Integer> shares : List.of(priorities, teams)) {
            shares.forEach((name, share) -> check(share > 0, "share of " + name + " must be above 0"));
        }
    }

    /**
     * Reads a profile from a YAML or JSON file.
     *
     * @throws IllegalArgumentException if it is no valid profile, in one line
     */
    public static Profile load(@Nullable Path file) {
        if (file == null) {
            return DEFAULT;
        }
        try {
            return Json.YAML.readValue(Files.readString(file), Profile.class);
        } catch (JacksonException e) {
            Throwable cause = e.getCause() instanceof IllegalArgumentException ? e.getCause() : e;
            String what = cause instanceof JacksonException j ? j.getOriginalMessage() : cause.getMessage();
            throw new IllegalArgumentException("profile " + file + ": " + what, e);
        } catch (IOException e) {
            throw new IllegalArgumentException("cannot read profile " + file, e);
        }
    }

    private static void check(boolean good, String message) {
        if (!good) {
            throw new IllegalArgumentException(message);
        }
    }
}
