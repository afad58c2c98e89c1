package io.sluice;

import org.jspecify.annotations.Nullable;

/**
 * Redis could not answer, or its answer made no sense. Never permission.
 *
 * <p>{@link #reason()} is one of a few stable words ({@code timeout}, {@code disconnected}, {@code breaker},
 * {@code lost_state}, {@code no_project}, {@code bad_reply}, or Redis's own error code in lower case, such as
 * {@code oom} or {@code readonly}).
 */
public final class OutageException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final String reason;

    public OutageException(String reason, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.reason = reason;
    }

    public String reason() {
        return reason;
    }
}
