package io.sluice.server.project;

import com.fasterxml.jackson.annotation.JsonProperty;
import io.sluice.Admin;
import io.sluice.Status;
import io.sluice.server.problem.Bodies;
import io.sluice.server.problem.Problem;
import io.sluice.server.security.Caller;
import io.swagger.v3.oas.annotations.Operation;
import io.swagger.v3.oas.annotations.tags.Tag;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.security.core.annotation.AuthenticationPrincipal;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** What an operator does to a running fleet: holds, releases, corrections. */
@RestController
@RequestMapping("/v1")
@Tag(name = "orders")
class OrdersController {
    private static final Logger audit = LoggerFactory.getLogger("io.sluice.audit");
    private static final long LONGEST_HOLD_MS = Duration.ofDays(366).toMillis();

    private final Questions questions;
    private final Bodies bodies;

    OrdersController(Questions questions, Bodies bodies) {
        this.questions = questions;
        this.bodies = bodies;
    }

    @Operation(
            summary =
                    "Puts a project, or one scope of it, on hold: body {for_ms?, class?, team?, agent?, run?, reason}")
    @PostMapping("/projects/{project}/hold")
    Mono<Held> hold(@PathVariable String project, @AuthenticationPrincipal Caller caller, @RequestBody byte[] body) {
        HoldBody order = bodies.read(body, HoldBody.class);
        return hold(Questions.project(project), order.scope(), order, caller);
    }

    @Operation(
            summary =
                    "Releases it: one scope, named in the address or as for the hold in a body, or all of the project's where neither is")
    @DeleteMapping("/projects/{project}/hold")
    Mono<Released> release(
            @PathVariable String project,
            @AuthenticationPrincipal Caller caller,
            @RequestParam(required = false) @Nullable String scope,
            @RequestParam(name = "class", required = false) @Nullable String modelClass,
            @RequestParam(required = false) @Nullable String team,
            @RequestParam(required = false) @Nullable String agent,
            @RequestParam(required = false) @Nullable String run,
            @RequestBody(required = false) byte @Nullable [] body) {
        boolean all = scope == null && modelClass == null && team == null && agent == null && run == null;
        String which = all ? null : Scopes.of(scope, modelClass, null, team, agent, run);
        if (hasContent(body)) {
            String named = bodies.read(body, ScopeBody.class).scope();
            if (!all) {
                throw Problem.invalid("name the scope in the address or in the body, not in both");
            }
            which = named;
        }
        return release(Questions.project(project), which, caller);
    }

    @Operation(summary = "Puts every project that this caller covers on hold: body {for_ms?, reason}")
    @PostMapping("/hold")
    Mono<List<Held>> holdAll(@AuthenticationPrincipal Caller caller, @RequestBody byte[] body) {
        HoldBody order = bodies.read(body, HoldBody.class);
        if (!order.scope().equals(Scopes.PROJECT)) {
            throw Problem.invalid("all projects are held whole: leave class, team, agent and run out");
        }
        return covered(caller)
                .concatMap(project -> hold(project, Scopes.PROJECT, order, caller))
                .collectList();
    }

    @Operation(summary = "Releases every project that this caller covers")
    @DeleteMapping("/hold")
    Mono<List<Released>> releaseAll(
            @AuthenticationPrincipal Caller caller, @RequestBody(required = false) byte @Nullable [] body) {
        if (hasContent(body)) {
            throw Problem.invalid("all projects are released whole: send no body");
        }
        return covered(caller)
                .concatMap(project -> release(project, null, caller))
                .collectList();
    }

    @Operation(
            summary =
                    "Sets what is left of a limit, the one way to forgive a debt: body {scope?, class?, team?, agent?, run?, "
                            + "workspace?, limit, to, reason}. Without a scope it is the one that has such a limit")
    @PostMapping("/projects/{project}/levels")
    Mono<Corrected> level(
            @PathVariable String project, @AuthenticationPrincipal Caller caller, @RequestBody byte[] body) {
        LevelBody order = bodies.read(body, LevelBody.class);
        return scopeOf(Questions.project(project), order)
                .flatMap(scope -> questions
                        .ask(admin ->
                                admin.level(project, scope, order.limit(), order.to(), caller.name(), order.reason()))
                        .map(before -> {
                            audit.info(
                                    "{} set {} of {} in {} from {} to {}: {}",
                                    caller.name(),
                                    order.limit(),
                                    scope,
                                    project,
                                    before,
                                    order.to(),
                                    order.reason());
                            return new Corrected(
                                    scope, order.limit(), Numbers.plain(before), Numbers.plain(order.to()));
                        }));
    }

    private static boolean hasContent(byte @Nullable [] body) {
        return body != null && body.length > 0;
    }

    private Flux<String> covered(Caller caller) {
        return questions
                .ask(Admin::projects)
                .flatMapIterable(all -> all)
                .map(Admin.Listed::project)
                .filter(caller::covers);
    }

    private Mono<Held> hold(String project, String scope, HoldBody order, Caller caller) {
        Duration length = order.forMs() == null ? null : Duration.ofMillis(order.forMs());
        return questions
                .ask(admin -> admin.hold(project, scope, length, caller.name(), order.reason()))
                .map(held -> {
                    audit.info("{} holds {} of {}: {}", caller.name(), scope, project, order.reason());
                    return new Held(project, scope, held.map(Duration::toMillis).orElse(null));
                });
    }

    private Mono<Released> release(String project, @Nullable String scope, Caller caller) {
        return questions
                .ask(admin -> admin.release(project, scope, caller.name()))
                .map(was -> {
                    audit.info("{} released {} of {}", caller.name(), scope == null ? "all" : scope, project);
                    return new Released(project, was);
                });
    }

    private Mono<String> scopeOf(String project, LevelBody order) {
        if (!order.namesNone()) {
            return Mono.just(order.named());
        }
        return questions.ask(admin -> admin.status(project)).map(status -> {
            List<String> having = status.limits().stream()
                    .filter(limit -> limit.limit().equals(order.limit()))
                    .map(Status.Limit::scope)
                    .distinct()
                    .toList();
            if (having.isEmpty()) {
                throw new Problem(422, "unknown_limit", "the project has no limit " + order.limit());
            }
            if (having.size() > 1 && !having.contains(Scopes.PROJECT)) {
                throw Problem.invalid(
                        "/scope",
                        "several have such a limit, name one: "
                                + String.join(", ", having.stream().limit(20).toList()));
            }
            return having.contains(Scopes.PROJECT) ? Scopes.PROJECT : having.get(0);
        });
    }

    /** How long {@code scope} is on hold now; {@code for_ms} null: until it is released. */
    record Held(String project, String scope, @Nullable Long forMs) {}

    /** Whether anything was on hold. */
    record Released(String project, boolean released) {}

    /** What a level was and is. */
    record Corrected(String scope, String limit, BigDecimal from, BigDecimal to) {}

    record HoldBody(
            @Nullable Long forMs,
            @JsonProperty("scope") @Nullable String scopeName,
            @JsonProperty("class") @Nullable String modelClass,
            @Nullable String workspace,
            @Nullable String team,
            @Nullable String agent,
            @Nullable String run,
            String reason) {
        HoldBody {
            if (forMs != null && (forMs < 1 || forMs > LONGEST_HOLD_MS)) {
                throw Problem.invalid("/for_ms", "must be 1 to " + LONGEST_HOLD_MS);
            }
            reason = Problem.oneLine("reason", reason);
        }

        String scope() {
            return Scopes.of(scopeName, modelClass, workspace, team, agent, run);
        }
    }

    /** What a release is of. One that names nothing may have meant something: all are released without a body only. */
    record ScopeBody(
            @JsonProperty("scope") @Nullable String scopeName,
            @JsonProperty("class") @Nullable String modelClass,
            @Nullable String workspace,
            @Nullable String team,
            @Nullable String agent,
            @Nullable String run) {
        ScopeBody {
            if (scopeName == null
                    && modelClass == null
                    && workspace == null
                    && team == null
                    && agent == null
                    && run == null) {
                throw Problem.invalid("name one scope: a class, workspace, team, agent or run; or send no body");
            }
        }

        String scope() {
            return Scopes.of(scopeName, modelClass, workspace, team, agent, run);
        }
    }

    record LevelBody(
            @Nullable String scope,
            @JsonProperty("class") @Nullable String modelClass,
            @Nullable String workspace,
            @Nullable String team,
            @Nullable String agent,
            @Nullable String run,
            String limit,
            Double to,
            String reason) {
        LevelBody {
            if (limit == null || limit.isBlank() || limit.length() > 128) {
                throw Problem.invalid("/limit", "is needed, such as itpm");
            }
            if (to == null) {
                throw Problem.invalid("/to", "is needed: what is left of the limit, in its units");
            }
            if (!Double.isFinite(to)) {
                throw Problem.invalid("/to", "must be a number");
            }
            reason = Problem.oneLine("reason", reason);
        }

        boolean namesNone() {
            return scope == null
                    && modelClass == null
                    && workspace == null
                    && team == null
                    && agent == null
                    && run == null;
        }

        String named() {
            return Scopes.of(scope, modelClass, workspace, team, agent, run);
        }
    }
}
