package io.sluice;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** A store that keeps nothing besides what decides: for tests of that alone. */
class NoRecords implements Records {
    private static <T> CompletionStage<T> none() {
        return CompletableFuture.failedStage(new OutageException("timeout", "not in this test", null));
    }

    @Override
    public CompletionStage<Standing> scopes(String project, List<String> names) {
        return none();
    }

    @Override
    public CompletionStage<Page<Waits>> waiting(String project, String cursor) {
        return none();
    }

    @Override
    public CompletionStage<Page<Runs>> running(String project, String cursor) {
        return none();
    }

    @Override
    public CompletionStage<List<Held>> holds(String project) {
        return none();
    }

    @Override
    public CompletionStage<List<Said>> provider(String project) {
        return none();
    }

    @Override
    public CompletionStage<List<Kept>> versions(String project) {
        return none();
    }

    @Override
    public CompletionStage<Optional<String>> version(String project, long version) {
        return none();
    }

    @Override
    public CompletionStage<Map<String, Long>> projects() {
        return none();
    }

    @Override
    public CompletionStage<Void> writable() {
        return none();
    }

    @Override
    public CompletionStage<Void> present(String project, long version) {
        return CompletableFuture.completedStage(null);
    }

    @Override
    public CompletionStage<Boolean> wasRemoved(String project) {
        return CompletableFuture.completedStage(false);
    }

    @Override
    public CompletionStage<OptionalLong> remove(String project, @Nullable Long expected, @Nullable String epoch) {
        return none();
    }

    @Override
    public CompletionStage<Heard> tally(Tally tally) {
        return none();
    }

    @Override
    public CompletionStage<Totals> totals(String project, List<String> classes) {
        return none();
    }

    @Override
    public CompletionStage<List<UsedRow>> usage(String project, String step, long number, String kind) {
        return none();
    }

    @Override
    public CompletionStage<List<Event>> events(String project, @Nullable String after, int most) {
        return none();
    }
}
