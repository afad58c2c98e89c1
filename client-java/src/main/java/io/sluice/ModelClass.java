package io.sluice;

import java.util.List;

/**
 * A model class: the models that share one set of limits.
 *
 * @param name its name, unique in the policy
 * @param models the models that belong to it
 * @param when which of their calls it is for
 * @param outputReserve how a call's output is reserved
 * @param maxOutput the output assumed where a call names no cap, in tokens
 */
record ModelClass(String name, List<Glob> models, When when, OutputReserve outputReserve, long maxOutput) {
    static final long DEFAULT_MAX_OUTPUT = 8192;

    ModelClass {
        models = List.copyOf(models);
    }

    boolean matches(Call call) {
        return when.matches(call) && models.stream().anyMatch(glob -> glob.matches(call.model));
    }

    /** Whether it takes every call of these models under these conditions. */
    boolean covers(Glob others, When othersWhen) {
        return when.covers(othersWhen) && models.stream().anyMatch(glob -> glob.covers(others));
    }
}
