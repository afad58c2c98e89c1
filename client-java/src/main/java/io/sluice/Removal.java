package io.sluice;

import io.sluice.Records.Standing;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * How a project goes. Draining it is a version of its policy in which nothing may run: every call is refused as closed from then on, on
 * every host, and whoever waits is too. Once the last permit has ended the keys go, if that version is still the one in force.
 */
final class Removal {
    private static final Logger log = LoggerFactory.getLogger(Removal.class);
    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final long LOOK_AGAIN_MS = 250;
    /** Each expires 32 permits at most. */
    private static final int SWEEPS = 64;

    private static final String DRAINING = "draining";

    private final ProjectClient project;
    private final ScheduledExecutorService timer;

    /** Stamps of last versions whose end this process waits for: one watch each, however many ask for it. */
    private final Set<String> watched = ConcurrentHashMap.newKeySet();

    Removal(ProjectClient project, ScheduledExecutorService timer) {
        this.project = project;
        this.timer = timer;
    }

    /** Whether it is gone. */
    CompletionStage<Boolean> remove(boolean drain, @Nullable Long expected, String who) {
        return project.policy().thenCompose(view -> {
            long seen = Store.version(view.stamp);
            if (expected != null && expected != seen) {
                // The last version would be made of another one than the caller knows.
                throw AdminException.mismatch(seen, expected.toString());
            }
            return attempt(expected, null).thenCompose(live -> {
                if (live.isEmpty()) {
                    return CompletableFuture.completedStage(true);
                }
                if (!drain) {
                    throw new AdminException(
                            AdminException.Kind.PERMITS_LIVE,
                            live.getAsLong(),
                            "project " + project.id() + " has " + live.getAsLong() + " live permits: drain it");
                }
                return project.install(closed(view.policy), expected, who, true).thenApply(closed -> {
                    watch(closed.stamp());
                    return false;
                });
            });
        });
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
    private CompletionStage<OptionalLong> attempt(@Nullable Long expected, @Nullable String epoch) {
        return sweep(SWEEPS)
                .thenCompose(swept -> records().remove(project.id(), expected, epoch))
                .thenApply(live -> {
                    if (live.isEmpty()) {
                        project.isRemoved();
                    }
                    return live;
                });
    }

    /** Expires as any host's sign of life does, so often at most. */
    private CompletionStage<Void> sweep(int most) {
        return project.client
                .store
                .beat(new Store.BeatAsk(project.id(), project.client.host, List.of(), List.of(), List.of(), List.of()))
                .thenCompose(beat -> most > 1 && beat instanceof Store.Beat.Alive alive && alive.more()
                        ? sweep(most - 1)
                        : CompletableFuture.completedStage(null));
    }

    /** Removes that version once nothing of it runs, and no other: somebody may set the project up anew meanwhile. */
    private void watch(String stamp) {
        if (watched.add(stamp)) {
            lookLater(stamp);
        }
    }

    private void lookLater(String stamp) {
        if (!timer.isShutdown()) {
            timer.schedule(() -> look(stamp), LOOK_AGAIN_MS, TimeUnit.MILLISECONDS);
        }
    }

    private void look(String stamp) {
        attempt(Store.version(stamp), Store.epoch(stamp)).whenComplete((live, e) -> {
            if (e == null ? live.isPresent() : !isOver(Blocking.cause(e))) {
                log.debug("{} is not drained yet: {}", project.id(), e == null ? live : e.getMessage());
                lookLater(stamp);
                return;
            }
            watched.remove(stamp);
            log.info("project {} {}", project.id(), e == null ? "is drained and removed" : "drains no more");
        });
    }

    /** Whether it is another one by now, or none. */
    private static boolean isOver(Throwable e) {
        return e instanceof AdminException
                || (e instanceof OutageException outage && outage.reason().equals("no_project"));
    }

    /** How a project is called that stands so. One that drains and has nothing left to run goes, should its remover have died. */
    CompletionStage<String> mode(Standing standing) {
        boolean closed =
                standing.scopes().stream().anyMatch(scope -> scope.name().equals("p") && scope.slots() == 0);
        if (!closed) {
            return CompletableFuture.completedStage(standing.mode());
        }
        return records().versions(project.id()).thenApply(versions -> {
            if (versions.isEmpty() || !Installer.drains(versions.get(0).note())) {
                return standing.mode();
            }
            if (versions.get(0).version() == Store.version(standing.stamp())) {
                watch(standing.stamp());
            }
            return DRAINING;
        });
    }

    private Records records() {
        return project.client.store.records();
    }
}
