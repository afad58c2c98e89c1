package io.sluice.testbed.cli;

import io.sluice.testbed.bench.Bench;
import io.sluice.testbed.bench.BenchOptions;
import io.sluice.testbed.bench.BenchReport;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
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
        description = "Measures Sluice beside three Bucket4j buckets and beside scripts that do nothing.",
        footer = {"", "On a Redis of its own, about a minute. Exit 1 if a number is missed."})
final class BenchCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Parameters(
            index = "0",
            arity = "0..1",
            paramLabel = "WHAT",
            defaultValue = "pairs",
            description = "pairs: one acquire and its settle; default ${DEFAULT-VALUE}")
    private String what;

    @Option(
            names = "--seconds",
            paramLabel = "N",
            defaultValue = "2",
            description = "for each contender in a round; default ${DEFAULT-VALUE}")
    private Duration length;

    @Option(names = "--rounds", paramLabel = "N", defaultValue = "3", description = "default ${DEFAULT-VALUE}")
    private int rounds;

    @Option(
            names = "--threads",
            paramLabel = "N",
            defaultValue = "32",
            description = "on one hot project, besides one alone; default ${DEFAULT-VALUE}")
    private int threads;

    @Option(names = "--json", description = "print the result as one JSON object")
    private boolean json;

    @Override
    public Integer call() throws InterruptedException {
        CommandLine line = spec.commandLine();
        PrintWriter err = line.getErr();
        Consumer<String> progress = text -> {
            err.println(text);
            err.flush();
        };
        BenchReport report = switch (what) {
            case "pairs" -> Bench.run(options(line), typed(line), progress);
            default -> throw new ParameterException(line, "WHAT must be pairs, got '" + what + "'");
        };
        line.getOut().println(json ? report.toJson() : report.toTable());
        return report.met() ? ExitCode.GOOD : ExitCode.VERDICT_FAILED;
    }

    private BenchOptions options(CommandLine line) {
        try {
            return new BenchOptions(length, rounds, threads);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(line, e.getMessage(), e);
        }
    }

    private String typed(CommandLine line) {
        return "./sluice " + String.join(" ", line.getParent().getParseResult().originalArgs());
    }
}
