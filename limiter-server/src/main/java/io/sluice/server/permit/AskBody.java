package io.sluice.server.permit;

import io.sluice.Call;
import io.sluice.Desk.Asking;
import io.sluice.Priority;
import io.sluice.server.problem.Problem;
import io.sluice.server.security.Caller;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What an agent asks a permit with.
 *
 * @param id the caller's idempotency key
 * @param model as the provider spells it
 * @param inputTokens expected fresh input; or {@code inputBytes}, the size of all of it
 * @param maxWaitMs how long it may wait; 0, the default, not at all
 * @param leaseMs how long the permit lives without renewal: 1,000 to 900,000; default the policy's
 */
record AskBody(
        @Nullable String id,
        @Nullable String model,
        @Nullable Long inputTokens,
        @Nullable Long inputBytes,
        @Nullable Long cacheReadTokens,
        @Nullable Long cacheWriteTokens,
        @Nullable Long maxOutputTokens,
        @Nullable String agent,
        @Nullable String team,
        @Nullable String workspace,
        @Nullable String run,
        @Nullable String priority,
        @Nullable String serviceTier,
        @Nullable String speed,
        @Nullable String endpoint,
        @Nullable Long maxWaitMs,
        @Nullable Long leaseMs) {
    private static final long SHORTEST_LEASE_MS = 1_000;
    private static final long LONGEST_LEASE_MS = 900_000;

    /** Longer than any policy lets a call wait. */
    private static final long LONGEST_WAIT_MS = Duration.ofDays(366).toMillis();

    /**
     * The question, in the name of its caller.
     *
     * @throws Problem 400 naming the member that is wrong; 403 where the caller may not ask that
     */
    Asking asking(Caller caller) {
        String agentAllowed = caller.agent(agent);
        return new Asking(
                call(caller, agentAllowed),
                Callers.of(caller, agentAllowed),
                Duration.ofMillis(longestWaitMs()),
                leaseMs == null
                        ? null
                        : Duration.ofMillis(within("/lease_ms", leaseMs, SHORTEST_LEASE_MS, LONGEST_LEASE_MS)));
    }

    private long longestWaitMs() {
        return maxWaitMs == null ? 0 : Math.min(within("/max_wait_ms", maxWaitMs, 0, Long.MAX_VALUE), LONGEST_WAIT_MS);
    }

    private Call call(Caller caller, @Nullable String agentAllowed) {
        if (model == null) {
            throw Problem.invalid("/model", "is needed");
        }
        if ((inputTokens == null) == (inputBytes == null)) {
            throw Problem.invalid("/input_tokens", "either input_tokens or input_bytes is needed");
        }
        Building call = new Building(Building.checked("/model", model, Call::of));
        call.with("/id", id, Call::id);
        call.with("/input_tokens", inputTokens, Call::inputTokens);
        call.with("/input_bytes", inputBytes, Call::inputBytes);
        call.with("/cache_read_tokens", cacheReadTokens, Call::cacheReadTokens);
        call.with("/cache_write_tokens", cacheWriteTokens, Call::cacheWriteTokens);
        call.with("/max_output_tokens", maxOutputTokens, Call::maxOutputTokens);
        call.with("/agent", agentAllowed, Call::agent);
        call.with("/team", caller.team(team), Call::team);
        call.with("/workspace", caller.workspace(workspace), Call::workspace);
        call.with("/run", run, Call::run);
        call.with("/service_tier", serviceTier, Call::serviceTier);
        call.with("/speed", speed, Call::speed);
        call.with("/endpoint", endpoint, Call::endpoint);
        Priority asked = priority == null ? null : Building.checked("/priority", priority, Priority::of);
        return call.done().priority(caller.priority(asked));
    }

    private static long within(String path, long value, long least, long most) {
        if (value < least || value > most) {
            throw Problem.invalid(
                    path, most == Long.MAX_VALUE ? "must be at least " + least : "must be " + least + " to " + most);
        }
        return value;
    }
}
