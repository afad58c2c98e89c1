package io.sluice.testbed.fleet;

import java.net.URI;
import org.jspecify.annotations.Nullable;

/**
 * What one process of the fleet is told, as one line of JSON on its stdin.
 *
 * @param process its number, from 0
 * @param processes how many there are
 * @param agents how many agents it has
 * @param run names this run, so that a run leaves nothing in Redis the next one could draw on
 * @param redis where the shared budget is; {@code null} if the strategy needs none
 * @param server whom it asks for permits; {@code null}: Redis
 * @param wire how the target is spoken to
 * @param drainMs how long calls in flight may take to end after the stop signal
 */
record AgentConfig(
        int process,
        int processes,
        int agents,
        String run,
        Strategy strategy,
        @Nullable String redis,
        @Nullable URI server,
        String project,
        PolicyNumbers numbers,
        URI target,
        Wire wire,
        Profile profile,
        long seed,
        long drainMs) {

    Caller caller() {
        return switch (strategy) {
            case SLUICE ->
                server == null ? new SluiceCaller(needed(redis), project, host()) : new HttpAdmission(server, project);
            case NONE -> new NoAdmission();
            case PER_PROCESS -> Bucket4jAdmission.perProcess(numbers, processes);
            case BUCKET4J -> Bucket4jAdmission.shared(numbers, needed(redis), "fleet:{" + project + "}:" + run + ":");
        };
    }

    /** Its name in the fleet. */
    String host() {
        return "fleet-" + run + "-p" + process;
    }

    private static String needed(@Nullable String redis) {
        if (redis == null) {
            throw new IllegalArgumentException("this strategy needs --redis");
        }
        return redis;
    }
}
