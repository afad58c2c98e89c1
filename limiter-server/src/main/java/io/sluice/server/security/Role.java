package io.sluice.server.security;

import java.util.Locale;

/** What a caller is for. */
public enum Role {
    /** Sets budgets, holds, corrects levels; may do all the rest too. */
    ADMIN,
    /** Draws on budgets. */
    AGENT,
    /** Looks. */
    VIEWER;

    /** The name used in files and HTTP. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /**
     * Reads a {@link #label()}.
     *
     * @throws IllegalArgumentException if it is none, naming it
     */
    static Role of(String label) {
        for (Role role : values()) {
            if (role.label().equals(label)) {
                return role;
            }
        }
        throw new IllegalArgumentException("role must be admin, agent or viewer, got '" + label + "'");
    }
}
