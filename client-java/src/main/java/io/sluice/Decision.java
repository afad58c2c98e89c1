package io.sluice;

/** The answer to {@link Project#tryAcquire}: a permit, or why not. */
public sealed interface Decision {

    /** The call may start; the permit must be ended. */
    record Granted(Permit permit) implements Decision {}

    /** The call may not start now; nothing was taken. */
    record Refused(Refusal refusal) implements Decision {}
}
