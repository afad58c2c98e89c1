package io.sluice.testbed.cli;

import io.sluice.Admin;
import io.sluice.Admin.By;
import io.sluice.Admin.Step;
import io.sluice.Plan;
import io.sluice.Policy;
import io.sluice.Provider;
import io.sluice.Sluice;
import io.sluice.Status;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Redis itself, asked without a server. */
final class RedisTeller implements Teller {
    private static final Duration PATIENCE = Duration.ofSeconds(5);
    private static final Duration LOOKS_BACK = Duration.ofHours(24);

    private final Sluice sluice;
    private final Admin admin;

    RedisTeller(Sluice sluice) {
        this.sluice = sluice;
        this.admin = sluice.admin();
    }

    @Override
    public List<String> projects() throws IOException, InterruptedException {
        return answer(admin.projects()).stream().map(Admin.Listed::project).toList();
    }

    @Override
    public JsonNode status(String project) throws IOException, InterruptedException {
        return JsonMapper.shared().readTree(answer(admin.status(project)).toJson(project, Instant.now()));
    }

    @Override
    public JsonNode plan(String project, Map<String, String> parameters) throws IOException, InterruptedException {
        Status status = answer(admin.status(project));
        String modelClass = parameters.get("class");
        // A class without limits of its own has a count of its calls in flight.
        if (modelClass != null
                && !status.inFlight().containsKey("c:" + modelClass)
                && status.limits().stream().noneMatch(l -> l.scope().equals("c:" + modelClass))) {
            throw new WrongQuestion("the policy has no class " + modelClass);
        }
        Optional<Plan.Use> given = given(parameters);
        Plan.Use use = given.isPresent() ? given.get() : observed(project);
        Plan plan = Plan.of(status.limits(), modelClass, use)
                .orElseThrow(() -> new WrongQuestion("no limit of the project counts anything that these agents use"));
        return PlanDocument.of(plan, use, given.isPresent() ? "given" : "observed");
    }

    private Plan.Use observed(String project) throws IOException, InterruptedException {
        Instant now = Instant.now();
        boolean cachedCounts = answer(admin.installed(project)).policy().provider() != Provider.ANTHROPIC;
        return Plan.Use.observed(
                        answer(admin.usage(project, now.minus(LOOKS_BACK), now, Step.HOUR, By.AGENT)), cachedCounts)
                .orElseThrow(() -> new WrongQuestion("no agent was seen in the last 24 hours: give what one uses"));
    }

    private static Optional<Plan.Use> given(Map<String, String> parameters) {
        Plan.Use use = new Plan.Use(
                number(parameters.get("requests_per_minute")),
                number(parameters.get("input_per_minute")),
                number(parameters.get("output_per_minute")),
                number(parameters.get("in_flight")));
        return parameters.keySet().stream().allMatch("class"::equals) ? Optional.empty() : Optional.of(use);
    }

    private static double number(@Nullable String text) {
        return text == null ? 0 : Double.parseDouble(text);
    }

    @Override
    public JsonNode policy(String project) {
        Sluice.Installed installed = sluice.installed(project);
        return JsonMapper.shared()
                .createObjectNode()
                .put("project", project)
                .put("version", installed.version())
                .set("policy", JsonMapper.shared().readTree(installed.policy().toJson()));
    }

    @Override
    public long apply(Policy policy) {
        return sluice.install(policy);
    }

    @Override
    public Optional<Duration> hold(String project, String scope, @Nullable Duration length, String reason) {
        return sluice.project(project).hold(scope, length, reason);
    }

    @Override
    public boolean release(String project, @Nullable String scope) {
        return sluice.project(project).release(scope);
    }

    private static <T> T answer(CompletionStage<T> asked) throws IOException, InterruptedException {
        try {
            return asked.toCompletableFuture().get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            throw new IOException("Redis has not answered for " + PATIENCE.toSeconds() + " s", e);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw new IOException(e.getCause());
        }
    }

    @Override
    public void close() {
        sluice.close();
    }
}
