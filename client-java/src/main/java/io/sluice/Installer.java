package io.sluice;

import io.sluice.Store.Installation;
import io.sluice.Store.Installed;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Puts policies into the store. */
final class Installer {
    private final Store store;
    private final String host;

    Installer(Store store, String host) {
        this.store = store;
        this.host = host;
    }

    /** The stamp then in force. */
    CompletionStage<String> install(Policy policy) {
        return put(policy, 0);
    }

    /** Gives a project that lost its state the version that this process knows. */
    CompletionStage<String> mend(PolicyView known) {
        return put(known.policy, Store.version(known.stamp));
    }

    private CompletionStage<String> put(Policy policy, long held) {
        String document = policy.toJson();
        String note = "{\"by\":\"" + host + "\"}";
        Installation installation = new Installation(
                policy.project(), held, "", Digests.hex(document, 16), document, note, policy.scopes());
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
