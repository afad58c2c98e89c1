package io.sluice.testbed.cli;

import io.sluice.testbed.bench.Bench;
import io.sluice.testbed.bench.BenchOptions;
import io.sluice.testbed.bench.QueueBench;
import io.sluice.testbed.bench.QueueOptions;
import io.sluice.testbed.bench.Report;
import io.sluice.testbed.bench.ServerBench;
import io.sluice.testbed.bench.ServerBenchOptions;
import io.sluice.testbed.chaos.Chaos;
import io.sluice.testbed.chaos.ChaosOptions;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code bench}: the numbers Sluice promises, measured beside a reference of the same run. */
@Command(
        name = "bench",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Measures what Sluice promises, beside a reference of the same run.",
            "",
            "pairs: one acquire and its settle, beside three Bucket4j buckets and beside scripts that do nothing.",
            "server: when it is ready, what HTTP adds to a permit, what thousands of waiting calls cost it.",
            "queue: what waiting costs Redis by how many wait, what waiters weigh, how quiet they are, how fair the line is.",
            "chaos: whether the laws hold while processes die, Redis fails over, networks fail, budgets change: as a seed draws it."
        },
        footer = {
            "",
            "On a Redis of its own: pairs a minute, queue two, server four, chaos ten. Exit 1 if a number is missed."
        })
final class BenchCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Parameters(
            index = "0",
            arity = "0..1",
            paramLabel = "WHAT",
            defaultValue = "pairs",
            description = "pairs, queue, server or chaos; default ${DEFAULT-VALUE}")
    private String what;

    @Option(
            names = "--seconds",
            paramLabel = "N",
            description = "pairs, server: for each contender in a round, default 2; chaos: in all, default 600")
    private @Nullable Duration length;

    @Option(names = "--rounds", paramLabel = "N", description = "default 3, of server 5, of queue 7")
    private @Nullable Integer rounds;

    @Option(
            names = "--threads",
            paramLabel = "N",
            defaultValue = "32",
            description = "pairs: on one hot project, besides one alone; default ${DEFAULT-VALUE}")
    private int threads;

    @Option(
            names = "--seed",
            paramLabel = "N",
            defaultValue = "1",
            description = "queue, chaos: of all that is drawn by lot; default ${DEFAULT-VALUE}")
    private long seed;

    @Option(
            names = "--processes",
            paramLabel = "N",
            defaultValue = "4",
            description = "chaos: of the fleet; default ${DEFAULT-VALUE}")
    private int processes;

    @Option(
            names = "--agents",
            paramLabel = "N",
            defaultValue = "10",
            description = "chaos: agents in each; default ${DEFAULT-VALUE}")
    private int agents;

    @Option(names = "--schedule", description = "chaos: only print what would happen when")
    private boolean scheduleOnly;

    @Option(names = "--json", description = "print the result as one JSON object")
    private boolean json;

    @Override
    public Integer call() throws IOException, InterruptedException {
        CommandLine line = spec.commandLine();
        PrintWriter err = line.getErr();
        Consumer<String> progress = text -> {
            err.println(text);
            err.flush();
        };
        if (what.equals("chaos") && scheduleOnly) {
            line.getOut().print(checked(line, this::chaos).schedule());
            line.getOut().flush();
            return ExitCode.GOOD;
        }
        Report report = switch (what) {
            case "pairs" -> Bench.run(checked(line, this::pairs), typed(line), progress);
            case "queue" -> QueueBench.run(checked(line, this::queue), typed(line), progress);
            case "server" -> ServerBench.run(checked(line, this::server), typed(line), progress);
            case "chaos" -> Chaos.run(checked(line, this::chaos), typed(line), progress);
            default ->
                throw new ParameterException(line, "WHAT must be pairs, queue, server or chaos, got '" + what + "'");
        };
        line.getOut().println(json ? report.toJson() : report.toTable());
        return report.met() ? ExitCode.GOOD : ExitCode.VERDICT_FAILED;
    }

    private BenchOptions pairs() {
        return new BenchOptions(
                Objects.requireNonNullElse(length, Duration.ofSeconds(2)),
                Objects.requireNonNullElse(rounds, 3),
                threads);
    }

    private QueueOptions queue() {
        return QueueOptions.full(Objects.requireNonNullElse(rounds, 7), seed);
    }

    private ServerBenchOptions server() {
        return ServerBenchOptions.full(
                Home.directory(),
                Objects.requireNonNullElse(length, Duration.ofSeconds(2)),
                Objects.requireNonNullElse(rounds, 5));
    }

    private ChaosOptions chaos() {
        return new ChaosOptions(Objects.requireNonNullElse(length, Duration.ofMinutes(10)), seed, processes, agents);
    }

    private static <T> T checked(CommandLine line, Supplier<T> options) {
        try {
            return options.get();
        } catch (IllegalArgumentException e) {
            throw new ParameterException(line, e.getMessage(), e);
        }
    }

    private String typed(CommandLine line) {
        return "./sluice " + String.join(" ", line.getParent().getParseResult().originalArgs());
    }
}
