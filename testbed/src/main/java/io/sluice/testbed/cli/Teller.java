package io.sluice.testbed.cli;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/** Who tells how projects stand: a server over HTTP, or Redis itself. Both in the shapes of the server's API. */
interface Teller extends AutoCloseable {

    /** The ids of all projects it may tell of. */
    List<String> projects() throws IOException, InterruptedException;

    /** What {@code GET /v1/projects/PROJECT/status} answers. */
    JsonNode status(String project) throws IOException, InterruptedException;

    /** What {@code GET /v1/projects/PROJECT/plan} answers to these parameters. */
    JsonNode plan(String project, Map<String, String> parameters) throws IOException, InterruptedException;

    @Override
    void close();
}
