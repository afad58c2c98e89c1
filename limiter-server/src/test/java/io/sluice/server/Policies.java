package io.sluice.server;

import java.util.UUID;

/** Policies for tests, each of a project of its own. */
final class Policies {
    private Policies() {}

    static String id() {
        return "s-" + UUID.randomUUID().toString().substring(0, 12);
    }

    /** One class with these limits. */
    static String of(String project, String limits) {
        return """
                project: %s
                provider: anthropic
                classes:
                  - name: sonnet
                    models: ["claude-sonnet-*"]
                    max_output: 100
                    limits: %s
                teams:
                  - {name: research, weight: 2}
                """.formatted(project, limits);
    }

    /** A project of its own with these limits of its one class. */
    static String installed(Http http, String limits) {
        String project = id();
        Http.Reply reply = http.put("/v1/projects/" + project, of(project, limits), "Content-Type", "application/yaml");
        if (reply.status() != 200) {
            throw new AssertionError(reply.toString());
        }
        return project;
    }
}
