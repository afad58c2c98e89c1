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
 * Who tells how projects stand, and takes orders: a server over HTTP, or Redis itself. Both in the shapes of the server's API. What
 * is wrong with the question itself is an {@link IllegalArgumentException}; what it cannot be told or given is a {@link WrongQuestion},
 * an {@code AdminException}, or an {@code OutageException} of the reason {@code no_project}.
 */
interface Teller extends AutoCloseable {

    /** The ids of all projects it may tell of. */
    List<String> projects() throws IOException, InterruptedException;

    /** What {@code GET /v1/projects/PROJECT/status} answers. */
    JsonNode status(String project) throws IOException, InterruptedException;

    /** What {@code GET /v1/projects/PROJECT/plan} answers to these parameters. */
    JsonNode plan(String project, Map<String, String> parameters) throws IOException, InterruptedException;

    /** The policy in force: {@code {project, version, policy}}. */
    JsonNode policy(String project) throws IOException, InterruptedException;

    /** Installs a policy; its version. */
    long apply(Policy policy) throws IOException, InterruptedException;

    /** Puts a scope of a project on hold, {@code p} all of it; how long from now, empty until it is released. */
    Optional<Duration> hold(String project, String scope, @Nullable Duration length, String reason)
            throws IOException, InterruptedException;

    /** Ends the hold of a scope, or all of the project; whether there was one. */
    boolean release(String project, @Nullable String scope) throws IOException, InterruptedException;

    @Override
    void close();
}
