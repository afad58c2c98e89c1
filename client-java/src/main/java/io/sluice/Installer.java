package io.sluice;

import io.sluice.Store.Installation;
import io.sluice.Store.Installed;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Puts policies into the store. */
final class Installer {
    private final Store store;
    private final String host;
    private @Nullable PolicyView mendingFrom;
    private @Nullable CompletableFuture<String> mending;

    Installer(Store store, String host) {
        this.store = store;
        this.host = host;
    }

    /**
     * The stamp then in force.
     *
     * @param known the version this process has seen last, if any: a project that has lost its state is mended first, for
     *     it is not new and must not start with full buckets
     */
    CompletionStage<String> install(Policy policy, @Nullable PolicyView known) {
        return known == null
                ? put(policy, 0)
                : mend(known).handle((stamp, e) -> stamp).thenCompose(ignored -> put(policy, 0));
    }

    /** Gives a project that lost its state the version that this process knows. Calls that notice together share it. */
    synchronized CompletionStage<String> mend(PolicyView known) {
        if (mending != null && mendingFrom == known && !mending.isDone()) {
            return mending;
        }
        mendingFrom = known;
        mending = put(known.policy, Store.version(known.stamp)).toCompletableFuture();
        return mending;
    }

    private CompletionStage<String> put(Policy policy, long held) {
        String document = policy.toJson();
        String note = "{\"by\":\"" + host + "\"}";
        Installation installation = new Installation(
                policy.project(),
                held,
                "",
                Digests.hex(document, 16),
                document,
                note,
                policy.shadow(),
                policy.maxWaiters(),
                policy.calendars(),
                policy.scopes());
        return store.install(installation).thenCompose(installed -> {
            if (installed instanceof Installed.Done done) {
                return CompletableFuture.completedStage(done.stamp());
            }
            if (installed instanceof Installed.Full full) {
                return CompletableFuture.failedStage(new OutageException(
                        "full",
                        "scope " + full.scope() + " has too many removed limits that are not paid back yet: try later",
                        null));
            }
            return CompletableFuture.failedStage(
                    new OutageException("lost_state", "a newer policy is stored: " + installed, null));
        });
    }
}
