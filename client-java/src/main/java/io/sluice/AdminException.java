package io.sluice;

/** A "no" to what an operator wanted: nothing was changed. */
public final class AdminException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final Kind kind;
    private final long number;

    AdminException(Kind kind, long number, String message) {
        super(message);
        this.kind = kind;
        this.number = number;
    }

    /** Redis's package says this too. */
    public static AdminException mismatch(long inForce, String expected) {
        return new AdminException(
                Kind.VERSION_MISMATCH,
                inForce,
                (inForce == 0 ? "no version" : "version " + inForce) + " is in force, not " + expected);
    }

    public Kind kind() {
        return kind;
    }

    /** Of {@code VERSION_MISMATCH} the version in force (0: none is), of {@code PERMITS_LIVE} how many are; else 0. */
    public long number() {
        return number;
    }

    /** Why not. */
    public enum Kind {
        /** Another version is in force than the one expected. */
        VERSION_MISMATCH,
        /** Permits are live. */
        PERMITS_LIVE,
        /** None of the versions that are kept. */
        UNKNOWN_VERSION,
        /** The policy has no such limit, or no number of it can be set. */
        UNKNOWN_LIMIT,
        /** More rows than are given at a time. */
        TOO_MUCH
    }
}
