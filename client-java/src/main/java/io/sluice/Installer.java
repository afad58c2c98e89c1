package io.sluice;

import io.sluice.Store.Installation;
import io.sluice.Store.Installed;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Puts policies into the store, and projects into its index. */
final class Installer {
    private static final JsonMapper JSON = JsonMapper.builder().build();

    private final Store store;
    private final String host;
    private @Nullable PolicyView mendingFrom;
    private @Nullable CompletableFuture<String> mending;

    Installer(Store store, String host) {
        this.store = store;
        this.host = host;
    }

    /**
     * What is then in force.
     *
     * @param known the version this process has seen last, if any: a project that has lost its state is mended first, for
     *     it is not new and must not start with full buckets
     * @param expected the version that must be in force; {@code null}: any
     * @throws AdminException {@code VERSION_MISMATCH}
     */
    CompletionStage<Installed.Done> install(
            Policy policy, @Nullable PolicyView known, @Nullable Long expected, String note) {
        String seen = expected == null ? "" : Long.toString(expected);
        return known == null
                ? put(policy, 0, seen, note)
                : mend(known).handle((stamp, e) -> stamp).thenCompose(ignored -> put(policy, 0, seen, note));
    }

    /** Gives a project that lost its state the version that this process knows. Calls that notice together share it. */
    synchronized CompletionStage<String> mend(PolicyView known) {
        if (mending != null && mendingFrom == known && !mending.isDone()) {
            return mending;
        }
        mendingFrom = known;
        mending = unlessRemoved(known.policy.project())
                .thenCompose(there -> put(known.policy, Store.version(known.stamp), "", note(host, false)))
                .thenApply(Installed.Done::stamp)
                .toCompletableFuture();
        return mending;
    }

    /** One that was removed has lost nothing: it is not brought back by whoever still knows its policy. */
    private CompletionStage<Void> unlessRemoved(String project) {
        return store.records().wasRemoved(project).thenAccept(removed -> {
            if (removed) {
                throw new OutageException("no_project", PolicyCache.noProject(project), null);
            }
        });
    }

    /** Who, as it is kept with a version. */
    static String note(String who, boolean drains) {
        return JSON.writeValueAsString(drains ? Map.of("by", who, "drains", true) : Map.of("by", who));
    }

    /** Who it was by a note; empty if it does not say. */
    static String who(String note) {
        return read(note).path("by").asString("");
    }

    /** Whether the version is a project's last. */
    static boolean drains(String note) {
        return read(note).path("drains").asBoolean(false);
    }

    private static JsonNode read(String note) {
        try {
            return JSON.readTree(note);
        } catch (RuntimeException e) {
            return JSON.createObjectNode();
        }
    }

    private CompletionStage<Installed.Done> put(Policy policy, long held, String expected, String note) {
        String document = policy.toJson();
        Installation installation = new Installation(
                policy.project(),
                held,
                expected,
                Digests.hex(document, 16),
                document,
                note,
                policy.shadow(),
                policy.maxWaiters(),
                policy.calendars(),
                policy.scopes());
        return store.install(installation)
                .thenApply(installed -> installed instanceof Installed.Done done ? done : refused(installed, expected))
                .thenCompose(done -> store.records()
                        .present(policy.project(), Store.version(done.stamp()))
                        .thenApply(indexed -> done));
    }

    private static Installed.Done refused(Installed installed, String expected) {
        if (installed instanceof Installed.Full full) {
            throw new OutageException(
                    "full",
                    "scope " + full.scope() + " has too many removed limits that are not paid back yet: try later",
                    null);
        }
        if (installed instanceof Installed.Mismatch mismatch && !expected.isEmpty()) {
            throw AdminException.mismatch(Store.version(mismatch.stamp()), expected);
        }
        throw new OutageException("lost_state", "a newer policy is stored: " + installed, null);
    }
}
