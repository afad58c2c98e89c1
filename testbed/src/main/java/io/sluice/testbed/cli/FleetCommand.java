package io.sluice.testbed.cli;

import io.sluice.Policy;
import io.sluice.testbed.fleet.Fleet;
import io.sluice.testbed.fleet.FleetOptions;
import io.sluice.testbed.fleet.FleetReport;
import io.sluice.testbed.fleet.FleetTable;
import io.sluice.testbed.fleet.FlowTable;
import io.sluice.testbed.fleet.Profile;
import io.sluice.testbed.fleet.Strategy;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code fleet}: a fleet of agents in several processes against any target that tells its log. */
@Command(
        name = "fleet",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = "Runs a fleet of agents in several processes and judges it by the target's log.",
        footer = {"", "Exit 1 if the strategy is sluice and the target rejected anything."})
final class FleetCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Option(
            names = "--redis",
            paramLabel = "URI",
            defaultValue = "${env:SLUICE_REDIS}",
            description = "where the shared budget is (strategies sluice and bucket4j); default $$SLUICE_REDIS")
    private @Nullable String redis;

    @Option(names = "--project", paramLabel = "P", description = "the policy's project; default: what the policy says")
    private @Nullable String project;

    @Option(names = "--policy", required = true, paramLabel = "FILE", description = "the budget, for every strategy")
    private Path policyFile;

    @Option(
            names = "--target",
            required = true,
            paramLabel = "URL",
            description = "the provider, such as ./sluice emulator")
    private URI target;

    @Option(names = "--processes", paramLabel = "N", defaultValue = "4", description = "default ${DEFAULT-VALUE}")
    private int processes;

    @Option(
            names = "--agents",
            paramLabel = "N",
            defaultValue = "10",
            description = "agents in each process; default ${DEFAULT-VALUE}")
    private int agents;

    @Option(
            names = "--seconds",
            paramLabel = "N",
            defaultValue = "30",
            description = "how long: 30, 30s, 5m; default ${DEFAULT-VALUE}")
    private Duration length;

    @Option(
            names = "--strategy",
            paramLabel = "S",
            defaultValue = "sluice",
            description = "sluice, none, per-process or bucket4j; default ${DEFAULT-VALUE}")
    private Strategy strategy;

    @Option(
            names = "--profile",
            paramLabel = "FILE",
            description = "what agents send: mixed, bursts, or a file; default: mostly small calls")
    private @Nullable String profile;

    @Option(names = "--seed", paramLabel = "N", defaultValue = "1", description = "default ${DEFAULT-VALUE}")
    private long seed;

    @Option(names = "--json", description = "print the result as one JSON object")
    private boolean json;

    @Override
    public Integer call() throws IOException, InterruptedException {
        CommandLine line = spec.commandLine();
        PrintWriter err = line.getErr();
        FleetReport report;
        try {
            report = Fleet.run(options(line), text -> {
                err.println(text);
                err.flush();
            });
        } catch (IllegalArgumentException e) {
            throw new ParameterException(line, e.getMessage(), e);
        }
        line.getOut().println(json ? report.toJson() : FleetTable.of(List.of(report)) + "\n" + FlowTable.of(report));
        return strategy == Strategy.SLUICE && report.rejected() > 0 ? ExitCode.VERDICT_FAILED : ExitCode.GOOD;
    }

    private FleetOptions options(CommandLine line) {
        Policy policy = PolicyFile.load(line, policyFile);
        if (project != null && !project.equals(policy.project())) {
            throw new ParameterException(
                    line, "--project is " + project + ", but " + policyFile + " is for " + policy.project());
        }
        return new FleetOptions(
                redis, policy, target, processes, agents, length, strategy, Profile.load(profile), seed);
    }
}
