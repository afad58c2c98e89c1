package io.sluice;

import io.sluice.PolicyView.Resolved;
import org.jspecify.annotations.Nullable;

/**
 * Whose a call is, as it is counted.
 *
 * @param modelClass the class, {@code unknown} if none matches
 * @param label the team as meters know it: one of the policy's, or {@code other}
 * @param team as the call names it, {@code -} if it names none; so the next
 */
record Who(String modelClass, String label, String team, String agent, String model, String run) {
    private static final int LONGEST = 128;

    /** The class of calls that no class of the policy matches. */
    private static final String UNKNOWN = "unknown";

    static Who of(Resolved call) {
        return of(call.modelClass(), call.view().policy, call.call());
    }

    /** Of a call that may not even have been resolved. */
    static Who of(Call call, @Nullable Resolved resolved) {
        return resolved == null
                ? new Who(UNKNOWN, Policy.OTHER_TEAMS, or(call.team), or(call.agent), model(call.model), or(call.run))
                : of(resolved);
    }

    private static Who of(String modelClass, Policy policy, Call call) {
        return new Who(
                modelClass, policy.flowTeam(call.team), or(call.team), or(call.agent), model(call.model), or(call.run));
    }

    private static String or(@Nullable String name) {
        return name == null ? Policy.NO_NAME : name;
    }

    /** A model is the caller's text: what is no name of one is together. */
    static String model(String model) {
        boolean plain = model.length() <= LONGEST && model.chars().allMatch(c -> c > ' ' && c < 127);
        return plain ? model : Policy.OTHER_TEAMS;
    }
}
