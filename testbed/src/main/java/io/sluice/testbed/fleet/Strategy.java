package io.sluice.testbed.fleet;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** How the agents of a fleet decide when to send. */
public enum Strategy {
    /** A permit from the shared budget first. */
    SLUICE,
    /** Send at once; back off when the provider says no, as SDKs and agent CLIs do. */
    NONE,
    /** Each process keeps to its static share of every limit. */
    PER_PROCESS,
    /** One Bucket4j bucket in Redis for each of requests, input and output. */
    BUCKET4J;

    /** The name used on the command line and in reports, such as {@code per-process}. */
    public String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** Whether it keeps something in Redis. */
    boolean needsRedis() {
        return this == SLUICE || this == BUCKET4J;
    }

    /**
     * Reads a {@link #label()}.
     *
     * @throws IllegalArgumentException if the text is none of them, naming it
     */
    public static Strategy of(String label) {
        return Arrays.stream(values())
                .filter(strategy -> strategy.label().equals(label))
                .findFirst()
                .orElseThrow(() ->
                        new IllegalArgumentException("strategy must be one of " + labels() + ", got '" + label + "'"));
    }

    private static String labels() {
        return Arrays.stream(values()).map(Strategy::label).collect(Collectors.joining(", "));
    }
}
