package io.sluice.testbed.cli;

import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import tools.jackson.databind.json.JsonMapper;

/** {@code hold}: nobody of the fleet starts a call, until it ends. */
@Command(
        name = "hold",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Puts a project, or one class, team, agent or run of it, on hold for the whole fleet: from the next call on nothing starts.",
            "Calls in flight go on, whoever waits keeps the place. A hold that is there already becomes longer, never "
                    + "shorter; 'release' ends it."
        })
final class HoldCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Mixin
    private final HeldScope where = new HeldScope();

    @Option(names = "--for", paramLabel = "TIME", description = "how long: 30s, 5m, 2h, 1d; default: until released")
    private @Nullable Duration length;

    @Option(
            names = "--reason",
            required = true,
            paramLabel = "TEXT",
            description = "told to whoever is refused for it; at most 256 bytes")
    private String reason;

    @Option(names = "--json", description = "print one JSON object: {project, scope, left_ms, reason}")
    private boolean json;

    @Override
    public Integer call() throws IOException, InterruptedException {
        String project = where.project(spec.commandLine());
        String scope = where.scope() == null ? "p" : where.scope();
        try (Teller teller = where.teller(spec.commandLine())) {
            Optional<Duration> left = teller.hold(project, scope, length, reason);
            spec.commandLine().getOut().println(json ? json(project, scope, left) : told(project, left));
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), e.getMessage(), e);
        }
        return ExitCode.GOOD;
    }

    private String told(String project, Optional<Duration> left) {
        return where.told(project) + " is on hold "
                + left.map(time -> "for " + (time.toMillis() + 999) / 1_000 + " s")
                        .orElse("until it is released") + ": "
                + reason;
    }

    private String json(String project, String scope, Optional<Duration> left) {
        Map<String, @Nullable Object> result = new LinkedHashMap<>();
        result.put("project", project);
        result.put("scope", scope);
        result.put("left_ms", left.map(Duration::toMillis).orElse(null));
        result.put("reason", reason);
        return JsonMapper.shared().writeValueAsString(result);
    }
}
