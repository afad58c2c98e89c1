package io.sluice.testbed.cli;

import io.sluice.testbed.fleet.Durations;
import io.sluice.testbed.fleet.Strategy;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.function.Function;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** {@code ./sluice COMMAND}. Exit codes: 0 good, 1 verdict failed, 2 usage, 3 environment. */
@Command(
        name = "sluice",
        description = "One shared budget for a whole fleet of LLM agents.",
        synopsisSubcommandLabel = "COMMAND",
        mixinStandardHelpOptions = true,
        subcommands = {
            DemoCommand.class,
            ServerCommand.class,
            EmulatorCommand.class,
            FleetCommand.class,
            PolicyCommand.class,
            StatusCommand.class,
            PlanCommand.class,
            HoldCommand.class,
            ReleaseCommand.class,
            ClassifyCommand.class,
            DoctorCommand.class,
            BenchCommand.class
        },
        footer = {
            "",
            "COMMAND --help tells its options. Exit: 0 good; 1 verdict failed, or a policy is invalid; 2 usage, or what was asked for "
                    + "cannot be; 3 environment: something is missing, does not answer or does not let you in."
        })
public final class Main implements Runnable {
    @Spec
    private CommandSpec spec;

    /** Runs one command and ends the JVM with its exit code. */
    public static void main(String[] args) {
        int code = run(
                new PrintWriter(System.out, true, StandardCharsets.UTF_8),
                new PrintWriter(System.err, true, StandardCharsets.UTF_8),
                args);
        System.exit(code);
    }

    /** Runs one command and says its exit code. */
    static int run(PrintWriter out, PrintWriter err, String... args) {
        CommandLine line = new CommandLine(new Main())
                .setOut(out)
                .setErr(err)
                .registerConverter(Duration.class, converter(Durations::parse))
                .registerConverter(Strategy.class, converter(Strategy::of))
                .setParameterExceptionHandler(new OneLine()::parameters)
                .setExecutionExceptionHandler(new OneLine()::execution);
        setVersion(line);
        try {
            return line.execute(args);
        } catch (Error e) {
            return new OneLine().error(e, line);
        }
    }

    /** Without a command: what there is. */
    @Override
    public void run() {
        spec.commandLine().usage(spec.commandLine().getErr());
        throw new NoCommand();
    }

    private static void setVersion(CommandLine line) {
        String version = Main.class.getPackage().getImplementationVersion();
        line.getCommandSpec().version("sluice " + (version == null ? "(not from a jar)" : version));
        line.getSubcommands().values().forEach(Main::setVersion);
    }

    private static <T> ITypeConverter<T> converter(Function<String, T> parse) {
        return text -> {
            try {
                return parse.apply(text);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(e.getMessage());
            }
        };
    }

    /** The help was shown instead; nothing more is to be said. */
    static final class NoCommand extends RuntimeException {
        private static final long serialVersionUID = 1;
    }
}
