package io.sluice;

import io.sluice.Store.Installation;
import io.sluice.Store.Installed;
import io.sluice.Store.StoredPolicy;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Puts a project's policies into the store, back where the store has lost them, and the project into its index. */
final class Installer {
    private static final JsonMapper JSON = JsonMapper.builder().build();

    /** In the note of a version that was put back. */
    private static final String MENDED = "mended";

    private final Store store;
    private final String project;
    private final String host;

    /** Whether it was removed on purpose, as far as is known here: then nobody brings it back but who installs it anew. */
    private volatile boolean removed;

    private @Nullable PolicyView mendingFrom;
    private @Nullable CompletableFuture<String> mending;

    Installer(Store store, String project, String host) {
        this.store = store;
        this.project = project;
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
        CompletionStage<Installed.Done> done = known == null
                ? put(policy, 0, seen, note)
                : mend(known).handle(Installer::isNews).thenCompose(ignored -> put(policy, 0, seen, note));
        return done.thenCompose(this::listed);
    }

    /** Gives a project that lost its state the version that this process knows. Calls that notice together share it. */
    synchronized CompletionStage<String> mend(PolicyView known) {
        if (mending != null && mendingFrom == known && !mending.isDone()) {
            return mending;
        }
        mendingFrom = known;
        mending = unlessRemoved()
                .thenCompose(there -> put(
                        known.policy,
                        Store.version(known.stamp),
                        "",
                        JSON.writeValueAsString(Map.of("by", host, MENDED, true))))
                .thenCompose(done -> wasRemoved().thenCompose(gone -> gone ? takenBack(done) : listed(done)))
                .thenApply(Installed.Done::stamp)
                .toCompletableFuture();
        return mending;
    }

    /**
     * What is stored may be less than what is known here: nothing, or an older version than that, which is all that the process knew
     * that put it back. The newest is put back then.
     *
     * @return whether it must be read again
     */
    CompletionStage<Boolean> mended(PolicyView known, @Nullable StoredPolicy stored) {
        if (stored == null) {
            return mend(known).handle(Installer::isNews);
        }
        removed = false;
        long version = Store.version(stored.stamp());
        if (version >= Store.version(known.stamp)) {
            return CompletableFuture.completedStage(false);
        }
        // Another project of that name, or one that somebody has set since, is not ours to put back.
        return store.records()
                .versions(project)
                .thenCompose(kept -> !kept.isEmpty()
                                && kept.get(0).version() == version
                                && read(kept.get(0).note()).path(MENDED).asBoolean(false)
                        ? mend(known).handle(Installer::isNews)
                        : CompletableFuture.completedStage(false));
    }

    private static boolean isNews(@Nullable String stamp, @Nullable Throwable e) {
        if (e == null) {
            return true;
        }
        Throwable cause = Blocking.cause(e);
        String reason = cause instanceof OutageException outage ? outage.reason() : "";
        return switch (reason) {
            case "lost_state" -> true; // somebody who knew a newer one was faster
            case "no_project", "noperm" -> false;
            default -> throw new CompletionException(cause);
        };
    }

    /** It was removed, by this process. */
    void isRemoved() {
        removed = true;
    }

    /** Whether it was removed, as far as is known without asking. */
    boolean wasSeenRemoved() {
        return removed;
    }

    /** One that was removed has lost nothing: it is not brought back by whoever still knows its policy. */
    private CompletionStage<Void> unlessRemoved() {
        return wasRemoved().thenAccept(gone -> {
            if (gone) {
                throw new OutageException("no_project", PolicyCache.noProject(project), null);
            }
        });
    }

    private CompletionStage<Boolean> wasRemoved() {
        return removed
                ? CompletableFuture.completedStage(true)
                : store.records().wasRemoved(project).thenApply(gone -> {
                    if (gone) {
                        removed = true;
                    }
                    return gone;
                });
    }

    /** Its keys go before the index says so. Who looked in between has just brought it back: it goes again. */
    private CompletionStage<Installed.Done> takenBack(Installed.Done done) {
        CompletionStage<?> gone = done.changed()
                ? store.records().remove(project, Store.version(done.stamp()), Store.epoch(done.stamp()))
                : CompletableFuture.completedStage(null);
        return gone.thenCompose(ignored -> unlessRemoved()).thenApply(there -> done);
    }

    private CompletionStage<Installed.Done> listed(Installed.Done done) {
        return store.records().present(project, Store.version(done.stamp())).thenApply(indexed -> done);
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
                .thenApply(installed -> installed instanceof Installed.Done done ? done : refused(installed, expected));
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
