package io.sluice.testbed.cli;

import io.sluice.InvalidPolicyException;
import io.sluice.InvalidPolicyException.Problem;
import io.sluice.Policy;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code policy}: the documents that set budgets. */
@Command(
        name = "policy",
        mixinStandardHelpOptions = true,
        description = "Checks, installs and reads the policies that set budgets.",
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {PolicyCommand.Validate.class, PolicyCommand.Apply.class, PolicyCommand.Get.class})
final class PolicyCommand implements Runnable {
    private static final JsonMapper JSON = new JsonMapper();

    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        spec.commandLine().usage(spec.commandLine().getErr());
        throw new Main.NoCommand();
    }

    /** As JSON; both commands that check a policy say it so. */
    private static String verdict(List<Problem> problems, List<Problem> warnings) {
        return JSON.writeValueAsString(Map.of("valid", problems.isEmpty(), "problems", problems, "warnings", warnings));
    }

    /** {@code policy validate}. */
    @Command(
            name = "validate",
            mixinStandardHelpOptions = true,
            description = "Tells everything that is wrong with a policy file; exit 1 if anything is.")
    static final class Validate implements Callable<Integer> {
        @Spec
        private CommandSpec spec;

        @Parameters(paramLabel = "FILE", description = "YAML or JSON")
        private Path file;

        @Option(names = "--json", description = "print one JSON object")
        private boolean json;

        @Override
        public Integer call() {
            PolicyFile.check(spec.commandLine(), file);
            List<Problem> problems = List.of();
            List<Problem> warnings = List.of();
            try {
                warnings = Policy.load(file).warnings();
            } catch (InvalidPolicyException e) {
                problems = e.problems();
            }
            PrintWriter out = spec.commandLine().getOut();
            if (json) {
                out.println(verdict(problems, warnings));
            } else {
                problems.forEach(problem -> out.println(PolicyFile.show(file, problem)));
                warnings.forEach(warning -> out.println("warning: " + PolicyFile.show(file, warning)));
                if (problems.isEmpty()) {
                    out.println(file + ": valid");
                }
            }
            return problems.isEmpty() ? ExitCode.GOOD : ExitCode.VERDICT_FAILED;
        }
    }

    /** {@code policy apply}. */
    @Command(
            name = "apply",
            mixinStandardHelpOptions = true,
            sortOptions = false,
            description = {
                "Installs a policy: every client follows it from its next call on.",
                "Where anything is wrong with it all of that is told, nothing is changed, and it is exit 1."
            })
    static final class Apply implements Callable<Integer> {
        @Spec
        private CommandSpec spec;

        @Parameters(paramLabel = "FILE", description = "YAML or JSON")
        private Path file;

        @Mixin
        private final TellerOptions whom = new TellerOptions();

        @Option(names = "--json", description = "print one JSON object")
        private boolean json;

        @Override
        public Integer call() throws IOException, InterruptedException {
            PolicyFile.check(spec.commandLine(), file);
            try {
                return install(Policy.load(file));
            } catch (InvalidPolicyException e) {
                // Also what only a server knows, such as the upstreams it allows.
                if (json) {
                    spec.commandLine().getOut().println(verdict(e.problems(), List.of()));
                } else {
                    e.problems()
                            .forEach(problem -> spec.commandLine().getErr().println(PolicyFile.show(file, problem)));
                }
                return ExitCode.VERDICT_FAILED;
            }
        }

        private int install(Policy policy) throws IOException, InterruptedException {
            policy.warnings()
                    .forEach(warning ->
                            spec.commandLine().getErr().println("warning: " + PolicyFile.show(file, warning)));
            try (Teller teller = whom.teller(spec.commandLine())) {
                long version = teller.apply(policy);
                spec.commandLine()
                        .getOut()
                        .println(
                                json
                                        ? JSON.writeValueAsString(
                                                Map.of("project", policy.project(), "version", version))
                                        : policy.project() + ": version " + version + " is in force");
            } catch (IllegalArgumentException e) {
                throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
            }
            return ExitCode.GOOD;
        }
    }

    /** {@code policy get}. */
    @Command(
            name = "get",
            mixinStandardHelpOptions = true,
            sortOptions = false,
            description = "Prints the policy in force, as JSON (which policy files may be written in).")
    static final class Get implements Callable<Integer> {
        @Spec
        private CommandSpec spec;

        @Mixin
        private final NamedProject where = new NamedProject();

        @Mixin
        private final TellerOptions whom = new TellerOptions();

        @Option(names = "--json", description = "one line, with the version: {project, version, policy}")
        private boolean json;

        @Override
        public Integer call() throws IOException, InterruptedException {
            String project = where.required(spec.commandLine());
            try (Teller teller = whom.teller(spec.commandLine())) {
                JsonNode installed = teller.policy(project);
                spec.commandLine()
                        .getOut()
                        .println(
                                json
                                        ? installed.toString()
                                        : installed.path("policy").toPrettyString());
            } catch (IllegalArgumentException e) {
                throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
            }
            return ExitCode.GOOD;
        }
    }
}
