package io.sluice;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Removing a project while others change it. */
class RemovalTest {
    private final FakeStore store = new FakeStore();

    /** A drain closed what it had read before somebody set the version that its caller had seen. */
    @Test
    void aDrainIsMadeOfTheVersionThatItsCallerSaw() {
        store.records = new NoRecords() {
            @Override
            public CompletionStage<OptionalLong> remove(
                    String project, @Nullable Long expected, @Nullable String epoch) {
                return CompletableFuture.completedStage(OptionalLong.of(1)); // 2 is in force by now, as expected
            }
        };
        try (SluiceClient client = new SluiceClient(store, Sluice.Options.DEFAULT)) {
            CompletionStage<Boolean> removed = client.admin().remove("acme", true, 2L, "ann");
            store.beats.forEach(beat -> beat.answer()
                    .complete(new Store.Beat.Alive(
                            "2:e", 1, 1, false, -1, List.of(), List.of(), List.of(), List.of(), List.of(), List.of())));

            assertThatThrownBy(() -> Blocking.get(removed.toCompletableFuture().orTimeout(10, TimeUnit.SECONDS)))
                    .isInstanceOfSatisfying(
                            AdminException.class,
                            e -> assertThat(e.kind()).isEqualTo(AdminException.Kind.VERSION_MISMATCH));
            assertThat(store.installed).isZero();
        }
    }
}
