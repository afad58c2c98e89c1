package io.sluice.testbed.cli;

import io.sluice.Sluice;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;

/** What an operator holds or releases: a project in a Redis, or one class of it. */
final class HeldScope {
    @Option(
            names = "--redis",
            required = true,
            paramLabel = "URI",
            defaultValue = "${env:SLUICE_REDIS}",
            description = "where the budget is; default $$SLUICE_REDIS")
    private String redis;

    @Option(names = "--project", required = true, paramLabel = "P", description = "the project's id")
    private String project;

    @Option(names = "--class", paramLabel = "C", description = "one model class of the policy; default: the project")
    private @Nullable String modelClass;

    String project() {
        return project;
    }

    /** Its name in the budget; {@code null} where no class is named. */
    @Nullable
    String scope() {
        return modelClass == null ? null : "c:" + modelClass;
    }

    Sluice connect(CommandLine line) {
        return RedisUri.connect(line, redis);
    }

    @Override
    public String toString() {
        return modelClass == null ? project : project + ", class " + modelClass;
    }
}
