package io.sluice;

import java.util.Locale;

/** How urgent a call is. With the team it names the flow that shares are computed for; weights stand in the policy. */
public enum Priority {
    /** Somebody waits for the answer. Default weight 16. */
    INTERACTIVE,
    /** The default. Default weight 4. */
    NORMAL,
    /** Nobody waits. Default weight 1. */
    BATCH;

    /** The name used in policies, HTTP and metrics: {@code interactive}, {@code normal} or {@code batch}. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The name used in flows. */
    char letter() {
        return switch (this) {
            case INTERACTIVE -> 'i';
            case NORMAL -> 'n';
            case BATCH -> 'b';
        };
    }

    /**
     * Reads a {@link #label()}.
     *
     * @throws IllegalArgumentException if the text is none of the three, naming it
     */
    public static Priority of(String label) {
        for (Priority priority : values()) {
            if (priority.label().equals(label)) {
                return priority;
            }
        }
        throw new IllegalArgumentException("priority must be interactive, normal or batch, got '" + label + "'");
    }
}
