package io.sluice.testbed.cli;

import io.sluice.Policy;
import io.sluice.testbed.emulator.Counting;
import io.sluice.testbed.emulator.Emulator;
import io.sluice.testbed.emulator.EmulatorOptions;
import io.sluice.testbed.emulator.Limits;
import io.sluice.testbed.fleet.Fleet;
import io.sluice.testbed.fleet.FleetOptions;
import io.sluice.testbed.fleet.FleetReport;
import io.sluice.testbed.fleet.FleetTable;
import io.sluice.testbed.fleet.Profile;
import io.sluice.testbed.fleet.Strategy;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.RedisServers;
import io.sluice.testbed.server.ServerOptions;
import io.sluice.testbed.server.ServerProcess;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code demo}: the same fleet with Sluice and without, and a verdict. */
@Command(
        name = "demo",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = "Runs the same fleet with Sluice and without against an emulated provider.",
        footer = {
            "",
            "Needs nothing else running. Exit 1 if Sluice let the provider reject anything or left budget unused."
        })
final class DemoCommand implements Callable<Integer> {
    private static final String PROJECT = "demo";

    /**
     * What the emulated provider allows: 40 agents want about three times the input, twice the requests, and a few more
     * slots.
     */
    private static final Limits LIMITS = new Limits(1_500L, 4_000_000L, 600_000L, 32L);

    /**
     * The provider's buckets hold 6 s of its limits, the policy's 5 s of nine tenths: a fleet that keeps to the policy is
     * not refused even if calls arrive 1.6 s late. A provider that counts the whole last minute would show nothing in a run
     * of half a minute: without a limiter the minute is simply spent early.
     */
    private static final Duration PROVIDER_BURST = Duration.ofSeconds(6);

    private static final double LEAST_USED_PERCENT = 90;

    /** One process in so many is as an agent in another language: it knows the server only. */
    private static final int PART_OVER_HTTP = 4;

    private static final String NOTE = """

            Allowed is the policy's burst and nine tenths of the limit. More than 100 % was taken from the reserve, until the
            provider refused: work it rejected was sent in vain, work given up is lost.

            """;

    @Spec
    private CommandSpec spec;

    @Option(
            names = "--seconds",
            paramLabel = "N",
            defaultValue = "30",
            description = "length of each run: 30, 30s, 1m; default ${DEFAULT-VALUE}")
    private Duration length;

    @Option(names = "--processes", paramLabel = "N", defaultValue = "4", description = "default ${DEFAULT-VALUE}")
    private int processes;

    @Option(
            names = "--agents",
            paramLabel = "N",
            defaultValue = "10",
            description = "agents in each process; default ${DEFAULT-VALUE}")
    private int agents;

    @Option(
            names = "--compare",
            paramLabel = "S",
            defaultValue = "none",
            description = "second run: none, per-process, bucket4j; default ${DEFAULT-VALUE}")
    private Strategy compare;

    @Option(names = "--seed", paramLabel = "N", defaultValue = "1", description = "default ${DEFAULT-VALUE}")
    private long seed;

    @Option(names = "--json", description = "print the result as one JSON object")
    private boolean json;

    @Override
    public Integer call() throws IOException, InterruptedException {
        FleetOptions options = options();
        List<FleetReport> reports = new ArrayList<>();
        say("starting Redis, the server and an emulated provider (" + LIMITS + ")");
        try (RedisServer redis = RedisServers.start();
                ServerProcess server =
                        ServerProcess.start(ServerOptions.of(ServerOptions.builtIn(Home.directory()), redis.uri()))) {
            say("dashboard at " + server.uri() + "/ until the demo ends");
            for (Strategy strategy : strategies()) {
                say("--- " + strategy.label() + ": " + what(strategy));
                // One emulator a run: nothing of the first run is left in its buckets.
                try (Emulator emulator = Emulator.start(
                        EmulatorOptions.of("anthropic", LIMITS).counting(Counting.BUCKET, PROVIDER_BURST))) {
                    FleetOptions run = options.with(strategy, redis.uri(), emulator.uri());
                    if (strategy == Strategy.SLUICE) {
                        int overHttp = (processes + PART_OVER_HTTP - 1) / PART_OVER_HTTP;
                        say("    " + overHttp + " of " + processes
                                + " processes ask the server over HTTP, the others Redis");
                        run = run.over(server.uri(), overHttp);
                    }
                    reports.add(Fleet.run(run, this::say));
                }
            }
        }
        return verdict(reports);
    }

    private List<Strategy> strategies() {
        return compare == Strategy.SLUICE ? List.of(Strategy.SLUICE) : List.of(Strategy.SLUICE, compare);
    }

    /** Checks what was asked for before anything starts; where Redis and provider are is not known yet. */
    private FleetOptions options() {
        try {
            return new FleetOptions(
                    null,
                    policy(),
                    URI.create("http://127.0.0.1"),
                    processes,
                    agents,
                    length,
                    Strategy.NONE,
                    Profile.DEFAULT,
                    seed);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), e.getMessage(), e);
        }
    }

    private static Policy policy() {
        return Policy.parse("""
                project: %s
                provider: anthropic
                classes:
                  - name: sonnet
                    models: ["claude-sonnet-*"]
                    limits: {rpm: %d, itpm: %d, otpm: %d, concurrency: %d}
                """.formatted(PROJECT, LIMITS.rpm(), LIMITS.itpm(), LIMITS.otpm(), LIMITS.concurrency()));
    }

    private int verdict(List<FleetReport> reports) {
        FleetReport ours = reports.get(0);
        boolean good = ours.rejected() == 0 && ours.usedPercent() >= LEAST_USED_PERCENT;
        String verdict = String.format(
                Locale.ROOT,
                "%s: with Sluice the provider rejected %d of %d requests, and %.1f %% of the allowed budget was used (at"
                        + " least %.0f %% wanted)",
                good ? "PASSED" : "FAILED",
                ours.rejected(),
                ours.rejected() + ours.accepted(),
                ours.usedPercent(),
                LEAST_USED_PERCENT);
        PrintWriter out = spec.commandLine().getOut();
        out.println(
                json
                        ? "{\"passed\":" + good + ",\"runs\":["
                                + String.join(
                                        ",",
                                        reports.stream()
                                                .map(FleetReport::toJson)
                                                .toList()) + "]}"
                        : "\n" + FleetTable.of(reports) + NOTE + verdict);
        out.flush();
        return good ? ExitCode.GOOD : ExitCode.VERDICT_FAILED;
    }

    private static String what(Strategy strategy) {
        return switch (strategy) {
            case SLUICE -> "every call takes a permit from one shared budget";
            case NONE -> "every call is sent at once and retried with backoff";
            case PER_PROCESS -> "every process keeps to its share of each limit";
            case BUCKET4J -> "every call takes from three shared buckets";
        };
    }

    private void say(String text) {
        spec.commandLine().getErr().println(text);
        spec.commandLine().getErr().flush();
    }
}
