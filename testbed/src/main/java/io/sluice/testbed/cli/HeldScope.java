package io.sluice.testbed.cli;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** What an operator holds or releases, and whom that is told: a project, or one class of it. */
final class HeldScope {
    @Option(names = "--project", required = true, paramLabel = "P", description = "the project's id")
    private String project;

    @Option(names = "--class", paramLabel = "C", description = "one model class of the policy; default: the project")
    private @Nullable String modelClass;

    @Mixin
    final TellerOptions whom = new TellerOptions();

    String project() {
        return project;
    }

    /** Its name in the budget; {@code null} where no class is named. */
    @Nullable
    String scope() {
        return modelClass == null ? null : "c:" + modelClass;
    }

    @Override
    public String toString() {
        return modelClass == null ? project : project + ", class " + modelClass;
    }
}
