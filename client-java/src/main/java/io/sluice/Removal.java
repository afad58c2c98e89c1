package io.sluice;

import io.sluice.Records.Standing;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * How a project goes. Draining it is a version of its policy in which nothing may run: every call is refused as closed from then on, on
 * every host, and whoever waits is too. Once the last permit has ended the keys go.
 */
final class Removal {
    private static final Logger log = LoggerFactory.getLogger(Removal.class);
    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final long LOOK_AGAIN_MS = 250;
    /** Each expires 32 permits at most. */
    private static final int SWEEPS = 64;

    private static final String DRAINING = "draining";

    private final SluiceClient client;
    private final ProjectClient project;

    Removal(SluiceClient client, ProjectClient project) {
        this.client = client;
        this.project = project;
    }

    /** Whether it is gone. */
    CompletionStage<Boolean> remove(boolean drain, @Nullable Long expected, String who) {
        return project.policy()
                .thenCompose(view -> attempt(expected).thenCompose(live -> {
                    if (live.isEmpty()) {
                        return CompletableFuture.completedStage(true);
                    }
                    if (!drain) {
                        return CompletableFuture.failedStage(new AdminException(
                                AdminException.Kind.PERMITS_LIVE,
                                live.getAsLong(),
                                "project " + project.id() + " has " + live.getAsLong() + " live permits: drain it"));
                    }
                    return project.install(closed(view.policy), expected, who, true)
                            .thenApply(closed -> {
                                watch();
                                return false;
                            });
                }));
    }

    /** Its policy with nothing allowed to run. */
    static Policy closed(Policy policy) {
        JsonNode read = JSON.readTree(policy.toJson());
        ObjectNode document = (ObjectNode) read;
        document.remove("mode");
        ObjectNode limits = document.path("limits").isObject()
                ? (ObjectNode) document.path("limits")
                : document.putObject("limits");
        limits.put("concurrency", 0);
        return Policy.parse(document.toString());
    }

    /** Expires what is due first: nobody else may be left to do so. */
    private CompletionStage<OptionalLong> attempt(@Nullable Long expected) {
        return project.sweep(SWEEPS).thenCompose(swept -> client.store.records().remove(project.id(), expected));
    }

    private void watch() {
        if (!client.timer.isShutdown()) {
            client.timer.schedule(
                    () -> attempt(null).whenComplete((live, e) -> {
                        if (e != null || live.isPresent()) {
                            log.debug("{} is not drained yet: {}", project.id(), e == null ? live : e.getMessage());
                            watchUnlessGone(e);
                        } else {
                            log.info("project {} is drained and removed", project.id());
                        }
                    }),
                    LOOK_AGAIN_MS,
                    TimeUnit.MILLISECONDS);
        }
    }

    /** Somebody may have opened it again, or removed it. */
    private void watchUnlessGone(@Nullable Throwable e) {
        if (e == null) {
            isDraining().whenComplete((draining, failed) -> {
                if (failed != null || draining) {
                    watch();
                }
            });
        } else if (!(Blocking.cause(e) instanceof OutageException outage
                && outage.reason().equals("no_project"))) {
            watch();
        }
    }

    private CompletionStage<Boolean> isDraining() {
        return client.store
                .records()
                .versions(project.id())
                .thenApply(versions ->
                        !versions.isEmpty() && Installer.drains(versions.get(0).note()));
    }

    /** How a project is called that stands so. One that drains and has nothing left to run goes, should its remover have died. */
    CompletionStage<String> mode(Standing standing) {
        boolean closed =
                standing.scopes().stream().anyMatch(scope -> scope.name().equals("p") && scope.slots() == 0);
        if (!closed) {
            return CompletableFuture.completedStage(standing.mode());
        }
        return isDraining().thenApply(draining -> {
            if (draining) {
                watch();
            }
            return draining ? DRAINING : standing.mode();
        });
    }
}
