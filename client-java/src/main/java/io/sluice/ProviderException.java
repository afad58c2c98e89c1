package io.sluice;

import org.jspecify.annotations.Nullable;

/**
 * The provider did not serve a call, and it was not, or no longer, worth sending it again. The message names the project, what
 * ran out, for how long, and why it was given up. Not a {@link RefusedException}, which is Sluice's own "no".
 */
public final class ProviderException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final transient Rejection rejection;
    private final transient @Nullable Response response;
    private final int attempts;

    ProviderException(
            String message, Rejection rejection, @Nullable Response response, int attempts, @Nullable Throwable cause) {
        super(message, cause);
        this.rejection = rejection;
        this.response = response;
        this.attempts = attempts;
    }

    /** What the last answer said; of a connection that failed: server, this request, retryable. */
    public Rejection rejection() {
        return rejection;
    }

    /** The last answer, or as much of it as came; {@code null} if nothing did. */
    public @Nullable Response response() {
        return response;
    }

    /** How many requests were sent. */
    public int attempts() {
        return attempts;
    }

    /** With the trace of the thread that called, not of the one that noticed. */
    ProviderException here() {
        fillInStackTrace();
        return this;
    }
}
