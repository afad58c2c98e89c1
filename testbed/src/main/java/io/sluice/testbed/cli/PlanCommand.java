package io.sluice.testbed.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;

/** {@code plan}: how large a fleet the budget carries. */
@Command(
        name = "plan",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Tells how many agents a project's budget carries at 70 and 80 %% of the limit that binds first.",
            "What one agent uses late in its session: as observed in the last 24 hours, or as given here."
        })
final class PlanCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Mixin
    private final NamedProject where = new NamedProject();

    @Mixin
    private final TellerOptions whom = new TellerOptions();

    @Option(names = "--class", paramLabel = "C", description = "one model class; default: the limits of all of them")
    private @Nullable String modelClass;

    @Option(names = "--input-per-minute", paramLabel = "N", description = "input tokens of one agent")
    private @Nullable Double input;

    @Option(names = "--output-per-minute", paramLabel = "N", description = "output tokens of one agent")
    private @Nullable Double output;

    @Option(names = "--requests-per-minute", paramLabel = "N", description = "requests of one agent")
    private @Nullable Double requests;

    @Option(names = "--in-flight", paramLabel = "N", description = "calls of one agent at a time, on average")
    private @Nullable Double inFlight;

    @Option(names = "--json", description = "print one JSON object, as the server's API has it")
    private boolean json;

    @Override
    public Integer call() throws IOException, InterruptedException {
        String project = where.required(spec.commandLine());
        Map<String, String> parameters = parameters();
        try (Teller teller = whom.teller(spec.commandLine())) {
            JsonNode plan = teller.plan(project, parameters);
            PrintWriter out = spec.commandLine().getOut();
            if (json) {
                out.println(plan);
            } else {
                page(plan).forEach(out::println);
            }
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
        }
        return ExitCode.GOOD;
    }

    private Map<String, String> parameters() {
        Map<String, String> parameters = new LinkedHashMap<>();
        if (modelClass != null) {
            parameters.put("class", modelClass);
        }
        put(parameters, "input_per_minute", input);
        put(parameters, "output_per_minute", output);
        put(parameters, "requests_per_minute", requests);
        put(parameters, "in_flight", inFlight);
        return parameters;
    }

    private void put(Map<String, String> parameters, String name, @Nullable Double value) {
        if (value == null) {
            return;
        }
        if (!(value >= 0 && value <= 1e12)) {
            throw new ParameterException(spec.commandLine(), "--" + name.replace('_', '-') + ": must be 0 to 1e12");
        }
        parameters.put(name, value.toString());
    }

    private static List<String> page(JsonNode plan) {
        List<String> lines = new ArrayList<>();
        lines.add(Shown.count(plan.path("agents_at_70").asLong()) + " agents at 70 %, "
                + Shown.count(plan.path("agents_at_80").asLong()) + " at 80 % of what binds first: "
                + plan.path("binding").asString() + " of "
                + Shown.scope(plan.path("binding_scope").asString()));
        List<String> uses = new ArrayList<>();
        plan.path("per_agent").forEachEntry((name, value) -> {
            if (value.asDouble() > 0) {
                uses.add(String.format(Locale.ROOT, "%,.1f %s", value.asDouble(), name.replace('_', ' ')));
            }
        });
        lines.add("an agent, " + plan.path("source").asString() + ": " + String.join(", ", uses));
        lines.add("");
        lines.addAll(TextTable.of(
                List.of("SCOPE", "LIMIT", ">AMOUNT", ">AGENTS AT 80 %"),
                plan.path("limits").values().stream()
                        .map(limit -> List.of(
                                Shown.scope(limit.path("scope").asString()),
                                Shown.text(limit.path("limit").asString()),
                                Shown.count(limit.path("amount").asDouble()),
                                Shown.count(limit.path("agents_at_80").asLong())))
                        .toList()));
        return lines;
    }
}
