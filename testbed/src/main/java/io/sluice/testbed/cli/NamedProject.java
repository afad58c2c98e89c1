package io.sluice.testbed.cli;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;

/** The project that a command is about, by its place or by its option. */
final class NamedProject {
    @Parameters(arity = "0..1", paramLabel = "PROJECT", description = "the project's id")
    private @Nullable String named;

    @Option(names = "--project", paramLabel = "P", description = "the same")
    private @Nullable String project;

    /** For commands that cannot do without one. */
    String required(CommandLine line) {
        String id = orNull(line);
        if (id == null) {
            throw new ParameterException(line, "name the project");
        }
        return id;
    }

    @Nullable
    String orNull(CommandLine line) {
        if (named != null && project != null && !named.equals(project)) {
            throw new ParameterException(line, "two projects are named: " + named + " and " + project);
        }
        return named == null ? project : named;
    }
}
