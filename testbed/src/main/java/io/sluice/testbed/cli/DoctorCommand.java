package io.sluice.testbed.cli;

import io.lettuce.core.RedisURI;
import io.sluice.testbed.cli.Doctor.Check;
import io.sluice.testbed.cli.Doctor.State;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import tools.jackson.databind.json.JsonMapper;

/** {@code doctor}: what is there and what is missing. */
@Command(
        name = "doctor",
        mixinStandardHelpOptions = true,
        description = "Tells what Sluice finds on this machine; exit 3 if something it needs is missing.")
final class DoctorCommand implements Callable<Integer> {
    private static final int SERVER_PORT = 8080;

    @Spec
    private CommandSpec spec;

    @Option(
            names = "--redis",
            paramLabel = "URI",
            defaultValue = "${env:SLUICE_REDIS}",
            description = "looks at this Redis too; default $$SLUICE_REDIS")
    private @Nullable String redis;

    @Option(
            names = "--server",
            paramLabel = "URL",
            defaultValue = "${env:SLUICE_SERVER}",
            description = "asks this Sluice server whether it is ready; default $$SLUICE_SERVER")
    private @Nullable String server;

    @Option(names = "--json", description = "print one JSON object")
    private boolean json;

    @Override
    public Integer call() {
        RedisURI uri = redis == null ? null : uri(redis);
        List<Check> checks = new ArrayList<>(List.of(
                Doctor.jdk(),
                Doctor.newerJdk(),
                Doctor.maven(),
                Doctor.ownRedis(),
                Doctor.docker(),
                Doctor.port(SERVER_PORT)));
        if (uri != null) {
            checks.addAll(Doctor.redis(uri));
        }
        if (server != null) {
            checks.add(Doctor.server(TellerOptions.address(spec.commandLine(), server)));
        }
        boolean good = checks.stream().noneMatch(check -> check.state() == State.BAD);
        print(checks, good);
        return good ? ExitCode.GOOD : ExitCode.ENVIRONMENT;
    }

    private RedisURI uri(String text) {
        try {
            return RedisURI.create(text);
        } catch (RuntimeException e) {
            // Without what Lettuce says of it: that has the password in it.
            throw new ParameterException(
                    spec.commandLine(), "--redis: not the address of a Redis: use redis://user:password@host:port");
        }
    }

    private void print(List<Check> checks, boolean good) {
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            Map<String, Object> object = new LinkedHashMap<>();
            object.put("good", good);
            object.put(
                    "checks",
                    checks.stream()
                            .map(c ->
                                    Map.of("name", c.name(), "state", c.state().label(), "detail", c.detail()))
                            .toList());
            out.println(new JsonMapper().writeValueAsString(object));
        } else {
            checks.forEach(c -> out.printf("%-5s %-16s %s%n", c.state().label(), c.name(), c.detail()));
        }
        out.flush();
    }
}
