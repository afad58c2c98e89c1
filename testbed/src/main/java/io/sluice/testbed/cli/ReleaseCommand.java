package io.sluice.testbed.cli;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import tools.jackson.databind.json.JsonMapper;

/** {@code release}: ends holds. */
@Command(
        name = "release",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Ends the hold of a class, a team, an agent or a run; where none is named all holds of the project.",
            "An operator's hold is over at once. One that the provider asked for lets calls in again a few at first."
        })
final class ReleaseCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Mixin
    private final HeldScope where = new HeldScope();

    @Option(names = "--json", description = "print one JSON object: {project, scope, released}; scope null is all")
    private boolean json;

    @Override
    public Integer call() throws IOException, InterruptedException {
        String project = where.project(spec.commandLine());
        try (Teller teller = where.teller(spec.commandLine())) {
            boolean released = teller.release(project, where.scope());
            spec.commandLine()
                    .getOut()
                    .println(
                            json
                                    ? json(project, released)
                                    : where.told(project)
                                            + (released ? " is released" : " was not on hold, nothing to release"));
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), e.getMessage(), e);
        }
        return ExitCode.GOOD;
    }

    private String json(String project, boolean released) {
        Map<String, @Nullable Object> result = new LinkedHashMap<>();
        result.put("project", project);
        result.put("scope", where.scope());
        result.put("released", released);
        return JsonMapper.shared().writeValueAsString(result);
    }
}
