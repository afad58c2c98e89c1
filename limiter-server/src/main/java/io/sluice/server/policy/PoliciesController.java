package io.sluice.server.policy;

import io.sluice.Admin;
import io.sluice.Policy;
import io.sluice.Sluice.Installed;
import io.sluice.server.config.Link;
import io.sluice.server.config.Settings;
import io.sluice.server.problem.Accepts;
import io.sluice.server.problem.Bodies;
import io.sluice.server.problem.Causes;
import io.sluice.server.problem.Problem;
import io.sluice.server.security.Caller;
import io.swagger.v3.oas.annotations.Operation;
import io.swagger.v3.oas.annotations.tags.Tag;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.security.core.annotation.AuthenticationPrincipal;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** Budgets, set once. */
@RestController
@RequestMapping("/v1/projects")
@Tag(name = "policies")
class PoliciesController {
    /** Of who, when and what was changed. */
    private static final Logger audit = LoggerFactory.getLogger("io.sluice.audit");

    private static final MediaType[] YAML = {
        MediaType.APPLICATION_YAML,
        new MediaType("application", "x-yaml"),
        new MediaType("text", "yaml"),
        new MediaType("text", "x-yaml")
    };

    private final Link link;
    private final PolicyFiles files;
    private final Bodies bodies;
    private final Set<String> upstreams;

    PoliciesController(Link link, PolicyFiles files, Bodies bodies, Settings settings) {
        this.link = link;
        this.files = files;
        this.bodies = bodies;
        this.upstreams = Set.copyOf(settings.upstreams());
    }

    @Operation(summary = "The projects this caller may see, and the policy files where it may see all")
    @GetMapping
    Mono<Projects> list(@AuthenticationPrincipal Caller caller) {
        return ask(Admin::projects)
                .map(all -> new Projects(
                        all.stream()
                                .filter(listed -> caller.covers(listed.project()))
                                .map(listed ->
                                        new Listed(listed.project(), listed.version(), files.owner(listed.project())))
                                .toList(),
                        caller.isRoot() ? files.states() : List.of()));
    }

    @Operation(summary = "The policy in force: JSON, or YAML with Accept: application/yaml")
    @GetMapping("/{project}")
    Mono<ResponseEntity<String>> get(
            @PathVariable String project,
            @RequestHeader(name = "Accept", defaultValue = MediaType.ALL_VALUE) String accept) {
        return ask(admin -> admin.installed(Projects.checked(project)))
                .map(installed -> document(installed.policy(), installed.version(), accept));
    }

    @Operation(
            summary = "Sets the policy (JSON or YAML), or with dry_run tells what would change for whom",
            description =
                    "200 {version, changes, warnings}; 400 with every problem; 412 where another version is in force than "
                            + "If-Match says; 409 managed_by_file")
    @PutMapping("/{project}")
    Mono<ResponseEntity<ChangeView>> put(
            @PathVariable String project,
            @RequestParam(name = "dry_run", defaultValue = "false") boolean dryRun,
            @RequestHeader(name = "If-Match", required = false) @Nullable String ifMatch,
            @AuthenticationPrincipal Caller caller,
            @RequestBody(required = false) byte @Nullable [] body) {
        Long expected = IfMatch.version(ifMatch);
        String id = Projects.checked(project);
        if (!dryRun) {
            notAFiles(id);
        }
        String text = body == null ? "" : new String(body, StandardCharsets.UTF_8);
        // Large policies take a few ms to read: not on a thread that serves others.
        return Mono.fromCallable(() -> Documents.read(text, id, upstreams))
                .subscribeOn(Schedulers.boundedElastic())
                .flatMap(policy -> allowed(caller, policy)
                        .then(IfMatch.isAny(ifMatch) ? there(id) : Mono.empty())
                        .then(ask(admin -> admin.install(policy, expected, caller.name(), dryRun))))
                .map(change -> {
                    audit.info(
                            "{} {} project {}: version {}, {} changes",
                            caller.name(),
                            dryRun ? "tried" : "set",
                            id,
                            change.version(),
                            change.changes().size());
                    return changed(change);
                });
    }

    @Operation(summary = "The last 50 versions, the newest first, with who and when")
    @GetMapping("/{project}/versions")
    Mono<Versions> versions(@PathVariable String project) {
        return ask(admin -> admin.versions(Projects.checked(project))).map(Versions::new);
    }

    @Operation(summary = "An earlier version")
    @GetMapping("/{project}/versions/{version}")
    Mono<ResponseEntity<String>> version(
            @PathVariable String project,
            @PathVariable long version,
            @RequestHeader(name = "Accept", defaultValue = MediaType.ALL_VALUE) String accept) {
        return ask(admin -> admin.version(Projects.checked(project), version))
                .map(policy -> document(
                        policy.orElseThrow(
                                () -> new Problem(404, "unknown_version", "it is none of the last 50 versions")),
                        version,
                        accept));
    }

    @Operation(summary = "Installs the content of an earlier version as a new one: body {to}")
    @PostMapping("/{project}/rollback")
    Mono<ResponseEntity<ChangeView>> rollback(
            @PathVariable String project,
            @RequestHeader(name = "If-Match", required = false) @Nullable String ifMatch,
            @AuthenticationPrincipal Caller caller,
            @RequestBody byte[] body) {
        Long expected = IfMatch.version(ifMatch);
        notAFiles(Projects.checked(project));
        Long to = bodies.read(body, Rollback.class).to();
        if (to == null || to < 1) {
            throw Problem.invalid("/to", "must be a version, from 1");
        }
        // What may not be set may not be gone back to either. A version that is not kept is told by the rollback
        // itself.
        return ask(admin -> admin.version(project, to))
                .flatMap(earlier -> earlier.map(policy -> allowed(caller, Documents.listed(policy, upstreams)))
                        .orElseGet(Mono::empty))
                .then(ask(admin -> admin.rollback(project, to, expected, caller.name())))
                .map(change -> {
                    audit.info(
                            "{} rolled project {} back to {}: version {}",
                            caller.name(),
                            project,
                            to,
                            change.version());
                    return changed(change);
                });
    }

    @Operation(
            summary =
                    "Removes a project: 409 while permits live, unless drain=true; then it takes no more calls and goes with the last of them")
    @DeleteMapping("/{project}")
    Mono<ResponseEntity<Void>> remove(
            @PathVariable String project,
            @RequestParam(defaultValue = "false") boolean drain,
            @RequestParam(required = false) @Nullable String reason,
            @RequestHeader(name = "If-Match", required = false) @Nullable String ifMatch,
            @AuthenticationPrincipal Caller caller) {
        Long expected = IfMatch.version(ifMatch);
        notAFiles(Projects.checked(project));
        String why = reason == null ? "" : ": " + Problem.oneLine("reason", reason);
        return ask(admin -> admin.remove(project, drain, expected, caller.name()))
                .map(gone -> {
                    audit.info("{} {} project {}{}", caller.name(), gone ? "removed" : "drains", project, why);
                    return ResponseEntity.status(HttpStatus.NO_CONTENT).build();
                });
    }

    private <T> Mono<T> ask(java.util.function.Function<Admin, CompletionStage<T>> question) {
        return Mono.fromFuture(
                (Supplier<java.util.concurrent.CompletableFuture<T>>)
                        () -> question.apply(link.sluice().admin()).toCompletableFuture(),
                true);
    }

    /** {@code If-Match: *}: whichever version, but one there must be. */
    private Mono<Void> there(String project) {
        return ask(admin -> admin.installed(project))
                .onErrorMap(
                        e -> Causes.of(e).kind().equals("no_project"),
                        e -> new Problem(412, "version_mismatch", "no version is in force").with("version", 0))
                .then();
    }

    private void notAFiles(String project) {
        String file = files.owner(project);
        if (file != null) {
            throw new Problem(409, "managed_by_file", "this project is set by the file " + file + ": change that");
        }
    }

    /** Only who may do everything makes projects and says where their calls go, keys of the server with them. */
    private Mono<Void> allowed(Caller caller, Policy policy) {
        if (caller.isRoot()) {
            return Mono.empty();
        }
        return ask(admin -> admin.installed(policy.project()))
                .onErrorMap(
                        e -> Causes.of(e).kind().equals("no_project"),
                        e -> Problem.forbidden("only an admin of all projects makes a new one"))
                .flatMap(installed -> sameUpstream(installed, policy)
                        ? Mono.empty()
                        : Mono.error(Problem.forbidden(
                                "only an admin of all projects changes upstream, also by another provider")));
    }

    /** In effect: another provider is another address, though neither policy writes one. */
    private static boolean sameUpstream(Installed installed, Policy policy) {
        return Objects.equals(installed.policy().upstream(), policy.upstream());
    }

    private static ResponseEntity<String> document(Policy policy, long version, String accept) {
        boolean yaml = Accepts.rather(accept, YAML);
        return ResponseEntity.ok()
                .eTag(IfMatch.tag(version))
                .contentType(yaml ? MediaType.APPLICATION_YAML : MediaType.APPLICATION_JSON)
                .body(yaml ? Documents.yaml(policy) : policy.toJson());
    }

    private static ResponseEntity<ChangeView> changed(Admin.Change change) {
        return ResponseEntity.ok().eTag(IfMatch.tag(change.version())).body(ChangeView.of(change));
    }

    /** What a rollback goes back to. */
    record Rollback(@Nullable Long to) {}

    /** The versions of a project. */
    record Versions(List<Admin.Version> versions) {}
}
