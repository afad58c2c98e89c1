package io.sluice;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** What operators ask of this process's client. */
@SuppressWarnings("UnusedVariable")
final class AdminClient implements Admin {
    private final SluiceClient client;

    AdminClient(SluiceClient client) {
        this.client = client;
    }

    @Override
    public CompletionStage<List<Listed>> projects() {
        throw new UnsupportedOperationException("under way");
    }

    @Override
    public CompletionStage<Sluice.Installed> installed(String project) {
        throw new UnsupportedOperationException("under way");
    }

    @Override
    public CompletionStage<Change> install(Policy policy, @Nullable Long expected, String who, boolean dryRun) {
        throw new UnsupportedOperationException("under way");
    }

    @Override
    public CompletionStage<List<Version>> versions(String project) {
        throw new UnsupportedOperationException("under way");
    }

    @Override
    public CompletionStage<Optional<Policy>> version(String project, long version) {
        throw new UnsupportedOperationException("under way");
    }

    @Override
    public CompletionStage<Change> rollback(String project, long to, String who) {
        throw new UnsupportedOperationException("under way");
    }

    @Override
    public CompletionStage<Boolean> remove(String project, boolean drain, String who) {
        throw new UnsupportedOperationException("under way");
    }

    @Override
    public CompletionStage<Long> level(String project, String scope, String limit, long to, String who, String reason) {
        throw new UnsupportedOperationException("under way");
    }

    @Override
    public CompletionStage<Optional<Duration>> hold(
            String project, String scope, @Nullable Duration length, String who, String reason) {
        throw new UnsupportedOperationException("under way");
    }

    @Override
    public CompletionStage<Boolean> release(String project, @Nullable String scope, String who) {
        throw new UnsupportedOperationException("under way");
    }

    @Override
    public CompletionStage<Status> status(String project) {
        throw new UnsupportedOperationException("under way");
    }

    @Override
    public CompletionStage<List<Used>> usage(String project, Instant from, Instant to, Step step, By by) {
        throw new UnsupportedOperationException("under way");
    }

    @Override
    public CompletionStage<Counters> counters(String project) {
        throw new UnsupportedOperationException("under way");
    }

    @Override
    public CompletionStage<List<Event>> events(String project, @Nullable String afterId, int most) {
        throw new UnsupportedOperationException("under way");
    }

    @Override
    public CompletionStage<Void> flush() {
        throw new UnsupportedOperationException("under way");
    }
}
