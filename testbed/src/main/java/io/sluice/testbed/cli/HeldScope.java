package io.sluice.testbed.cli;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** What an operator holds or releases: a project, or one class, team, agent or run of it. */
final class HeldScope {
    @Mixin
    private final TellerOptions whom = new TellerOptions();

    @Mixin
    private final NamedProject where = new NamedProject();

    @ArgGroup
    private @Nullable Part part;

    private static final class Part {
        @Option(
                names = "--class",
                paramLabel = "C",
                description = "one model class of the policy; default: the project")
        private @Nullable String modelClass;

        @Option(names = "--team", paramLabel = "T", description = "or all calls of one team")
        private @Nullable String team;

        @Option(names = "--agent", paramLabel = "A", description = "or of one agent")
        private @Nullable String agent;

        @Option(names = "--run", paramLabel = "R", description = "or of one run")
        private @Nullable String run;

        String kind() {
            return modelClass != null ? "class" : team != null ? "team" : agent != null ? "agent" : "run";
        }

        String name() {
            return String.valueOf(modelClass != null ? modelClass : team != null ? team : agent != null ? agent : run);
        }
    }

    String project(CommandLine line) {
        return where.required(line);
    }

    /** Its name in the budget; {@code null} where no part of the project is named. */
    @Nullable
    String scope() {
        return part == null ? null : part.kind().charAt(0) + ":" + part.name();
    }

    Teller teller(CommandLine line) throws IOException {
        return whom.teller(line);
    }

    /** As it is told to people. */
    String told(String which) {
        return part == null ? which : which + ", " + part.kind() + " " + part.name();
    }
}
