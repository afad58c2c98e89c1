package io.sluice.testbed.cli;

import io.sluice.Policy;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Who tells how projects stand, and does what an operator wants: a server over HTTP, or Redis itself. Both in the shapes of the server's
 * API. What cannot be (no such class, a reason of two lines) is an {@link IllegalArgumentException}.
 */
interface Teller extends AutoCloseable {

    /** The ids of all projects it may tell of. */
    List<String> projects() throws IOException, InterruptedException;

    /** What {@code GET /v1/projects/PROJECT/status} answers. */
    JsonNode status(String project) throws IOException, InterruptedException;

    /** What {@code GET /v1/projects/PROJECT/plan} answers to these parameters. */
    JsonNode plan(String project, Map<String, String> parameters) throws IOException, InterruptedException;

    /** The policy in force. */
    InForce policy(String project) throws IOException, InterruptedException;

    /** A version and what it says. */
    record InForce(long version, JsonNode policy) {}

    /** Installs a policy; the version that is in force then. */
    long install(Policy policy) throws IOException, InterruptedException;

    /**
     * Puts a scope on hold.
     *
     * @param length {@code null} until it is released
     * @return how long it is on hold now; empty until it is released
     */
    Optional<Duration> hold(String project, String scope, @Nullable Duration length, String reason)
            throws IOException, InterruptedException;

    /**
     * Releases a scope, or all of the project.
     *
     * @param scope {@code null}: all
     * @return whether anything was on hold
     */
    boolean release(String project, @Nullable String scope) throws IOException, InterruptedException;

    @Override
    void close();
}
