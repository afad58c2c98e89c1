package io.sluice.testbed.cli;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;

/** What an operator holds or releases: a project, or one class of it. */
final class HeldScope {
    @Mixin
    private final TellerOptions whom = new TellerOptions();

    @Parameters(arity = "0..1", paramLabel = "PROJECT", description = "the project's id")
    private @Nullable String named;

    @Option(names = "--project", paramLabel = "P", description = "the same")
    private @Nullable String project;

    @Option(names = "--class", paramLabel = "C", description = "one model class of the policy; default: the project")
    private @Nullable String modelClass;

    /** Once, in either way. */
    String project(CommandLine line) {
        if (named == null && project == null) {
            throw new ParameterException(line, "name the project");
        }
        if (named != null && project != null && !named.equals(project)) {
            throw new ParameterException(line, "two projects are named: " + named + " and " + project);
        }
        return String.valueOf(named == null ? project : named);
    }

    /** Its name in the budget; {@code null} where no class is named. */
    @Nullable
    String scope() {
        return modelClass == null ? null : "c:" + modelClass;
    }

    @Nullable
    String modelClass() {
        return modelClass;
    }

    Teller teller(CommandLine line) throws IOException {
        return whom.teller(line);
    }

    /** As it is told to people. */
    String told(String which) {
        return modelClass == null ? which : which + ", class " + modelClass;
    }
}
