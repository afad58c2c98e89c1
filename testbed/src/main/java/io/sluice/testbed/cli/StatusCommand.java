package io.sluice.testbed.cli;

import io.sluice.OutageException;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;

/** {@code status}: how projects stand. */
@Command(
        name = "status",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Tells how a project stands: its limits, who waits for what, what is on hold.",
            "Without PROJECT: of the only one, or a line of each."
        })
final class StatusCommand implements Callable<Integer> {
    private static final Duration EVERY = Duration.ofSeconds(1);

    /** To the top left, and nothing below it: so that a page overwrites the one before. */
    private static final String TO_THE_TOP = "\u001b[H\u001b[J";

    @Spec
    private CommandSpec spec;

    @Mixin
    private final NamedProject where = new NamedProject();

    @Mixin
    private final TellerOptions whom = new TellerOptions();

    @Option(names = "--watch", description = "looks again each second, until Ctrl-C")
    private boolean watch;

    @Option(names = "--times", paramLabel = "N", description = "with --watch: ends after so many looks")
    private long times = Long.MAX_VALUE;

    @Option(names = "--json", description = "print one JSON object a project, as the server's API has it")
    private boolean json;

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (times < 1 || (times < Long.MAX_VALUE && !watch)) {
            throw new ParameterException(spec.commandLine(), "--times: 1 or more, with --watch");
        }
        try (Teller teller = whom.teller(spec.commandLine())) {
            if (!watch) {
                page(teller).forEach(spec.commandLine().getOut()::println);
                return ExitCode.GOOD;
            }
            for (long looks = 1; ; looks++) {
                look(teller);
                if (looks >= times) {
                    return ExitCode.GOOD;
                }
                Thread.sleep(EVERY.toMillis());
            }
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
        }
    }

    /** One look of many: one that fails is told, and the next may succeed, unless it is the question that is wrong. */
    private void look(Teller teller) throws IOException, InterruptedException {
        List<String> page;
        try {
            page = page(teller);
        } catch (IOException | OutageException e) {
            if (OneLine.cannotBe(e)) {
                throw e;
            }
            page = List.of("no answer, trying again: " + Shown.text(String.valueOf(e.getMessage())));
        }
        PrintWriter out = spec.commandLine().getOut();
        out.print(json ? "" : TO_THE_TOP);
        page.forEach(out::println);
        out.flush();
    }

    private List<String> page(Teller teller) throws IOException, InterruptedException {
        String project = where.orNull(spec.commandLine());
        List<String> projects = project == null ? teller.projects() : List.of(project);
        if (json) {
            List<String> objects = new ArrayList<>();
            for (String each : projects) {
                objects.add(teller.status(each).toString());
            }
            return objects;
        }
        if (projects.isEmpty()) {
            return List.of("no project yet: ./sluice policy apply FILE makes one");
        }
        if (projects.size() == 1) {
            return StatusTable.page(projects.get(0), teller.status(projects.get(0)));
        }
        List<List<String>> rows = new ArrayList<>();
        for (String each : projects) {
            JsonNode status = teller.status(each);
            rows.add(StatusTable.line(each, status));
        }
        return TextTable.of(List.of("PROJECT", "VERSION", ">IN FLIGHT", ">WAITING", ">HOLDS", "TIGHTEST"), rows);
    }
}
