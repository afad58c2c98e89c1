package io.sluice.server.project;

import com.fasterxml.jackson.annotation.JsonProperty;
import io.sluice.Admin.By;
import io.sluice.Admin.Step;
import io.sluice.Plan;
import io.sluice.Provider;
import io.sluice.Status;
import io.sluice.server.problem.Problem;
import io.swagger.v3.oas.annotations.Operation;
import io.swagger.v3.oas.annotations.tags.Tag;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

/** How large a fleet the budget carries. */
@RestController
@RequestMapping("/v1/projects/{project}/plan")
@Tag(name = "status")
class PlanController {
    private static final Duration LOOKS_BACK = Duration.ofHours(24);
    private static final double MOST = 1e12;

    private final Questions questions;

    PlanController(Questions questions) {
        this.questions = questions;
    }

    @Operation(
            summary = "How many agents the budget carries at 70 and 80 % of the limit that binds",
            description =
                    "From what one agent uses a minute late in its session, given here; or, where nothing is given, from what "
                            + "agents were seen to use in the last day: that of the busiest hour of each, the larger of all but the "
                            + "largest tenth. 422 not_observed where nothing was.")
    @GetMapping
    Mono<PlanView> plan(
            @PathVariable String project,
            @RequestParam(name = "class", required = false) @Nullable String className,
            @RequestParam(name = "input_per_minute", required = false) @Nullable Double input,
            @RequestParam(name = "output_per_minute", required = false) @Nullable Double output,
            @RequestParam(name = "requests_per_minute", required = false) @Nullable Double requests,
            @RequestParam(name = "in_flight", required = false) @Nullable Double inFlight) {
        Questions.project(project);
        String modelClass = Questions.given(className);
        Plan.Use given = new Plan.Use(
                checked("requests_per_minute", requests),
                checked("input_per_minute", input),
                checked("output_per_minute", output),
                checked("in_flight", inFlight));
        boolean isGiven = input != null || output != null || requests != null || inFlight != null;
        return questions.ask(admin -> admin.status(project)).flatMap(status -> {
            checked(status, modelClass);
            return (isGiven ? Mono.just(given) : observed(project))
                    .map(use -> view(status, modelClass, use, isGiven ? "given" : "observed"));
        });
    }

    private Mono<Plan.Use> observed(String project) {
        Instant to = Instant.now();
        return questions
                .ask(admin -> admin.installed(project))
                .map(installed -> installed.policy().provider() != Provider.ANTHROPIC)
                .flatMap(cachedCounts -> questions
                        .ask(admin -> admin.usage(project, to.minus(LOOKS_BACK), to, Step.HOUR, By.AGENT))
                        .map(rows -> Plan.Use.observed(rows, cachedCounts)
                                .orElseThrow(() -> new Problem(
                                        422,
                                        "not_observed",
                                        "no agent was seen in the last 24 hours: give input_per_minute, output_per_minute, "
                                                + "requests_per_minute or in_flight"))));
    }

    private static PlanView view(Status status, @Nullable String modelClass, Plan.Use use, String source) {
        Plan plan = Plan.of(status.limits(), modelClass, use)
                .orElseThrow(() ->
                        new Problem(422, "unlimited", "no limit of the project counts anything that these agents use"));
        return new PlanView(
                plan.agentsAt70(),
                plan.agentsAt80(),
                plan.binding().limit(),
                plan.binding().scope(),
                new PerAgent(
                        Numbers.plain(use.requests()),
                        Numbers.plain(use.input()),
                        Numbers.plain(use.output()),
                        Numbers.plain(use.inFlight())),
                source,
                plan.limits().stream()
                        .map(limit -> new Carried(
                                limit.scope(), limit.limit(), Numbers.plain(limit.amount()), limit.agentsAt80()))
                        .toList());
    }

    private static void checked(Status status, @Nullable String modelClass) {
        if (modelClass != null
                && status.inFlight().keySet().stream().noneMatch(("c:" + modelClass)::equals)
                && status.limits().stream().noneMatch(limit -> limit.scope().equals("c:" + modelClass))) {
            throw new Problem(422, "unknown_class", "the policy has no class " + modelClass);
        }
    }

    private static double checked(String name, @Nullable Double value) {
        if (value != null && !(value >= 0 && value <= MOST)) {
            throw Problem.invalid("/" + name, "must be a number from 0");
        }
        return value == null ? 0 : value;
    }

    /**
     * The advice.
     *
     * @param binding the name of the limit that carries fewest
     * @param limits what each limit carries at 80 %, the fewest first
     */
    record PlanView(
            @JsonProperty("agents_at_70") long agentsAt70,
            @JsonProperty("agents_at_80") long agentsAt80,
            String binding,
            String bindingScope,
            PerAgent perAgent,
            String source,
            List<Carried> limits) {}

    /** What one agent uses. */
    record PerAgent(
            BigDecimal requestsPerMinute, BigDecimal inputPerMinute, BigDecimal outputPerMinute, BigDecimal inFlight) {}

    /** What one limit carries. */
    record Carried(
            String scope,
            String limit,
            BigDecimal amount,
            @JsonProperty("agents_at_80") long agentsAt80) {}
}
