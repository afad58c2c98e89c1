package io.sluice;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.Store.Layout;
import io.sluice.Store.StoredPolicy;
import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

class PolicyCacheTest {
    /** Questions to the store, each answered when the test says so. */
    private final Deque<CompletableFuture<StoredPolicy>> asked = new ArrayDeque<>();

    private final List<String> moved = new ArrayList<>();

    /** What was known of it each time it was gone, and whether it is put back then. */
    private final List<String> lost = new ArrayList<>();

    private boolean mendable;

    private long now;
    private final PolicyCache cache =
            new PolicyCache(store(), "acme", () -> now, this::mends, view -> moved.add(view.stamp));

    private Store store() {
        return (Store) Proxy.newProxyInstance(
                Store.class.getClassLoader(), new Class<?>[] {Store.class}, (proxy, method, arguments) -> {
                    assertThat(method.getName()).isEqualTo("policy");
                    CompletableFuture<StoredPolicy> answer = new CompletableFuture<>();
                    asked.add(answer);
                    return answer;
                });
    }

    private CompletionStage<Boolean> mends(PolicyView known, StoredPolicy stored) {
        boolean mends = stored == null && mendable;
        if (stored == null) {
            lost.add(known.stamp);
        }
        return CompletableFuture.completedStage(mends);
    }

    private void answer(int version) {
        List<Layout> layouts = List.of(new Layout("p", List.of(), List.of()), new Layout("c:m", List.of(), List.of()));
        String document = Budget.policy("acme", "concurrency: " + version).toJson();
        asked.remove().complete(new StoredPolicy(version + ":e", document, layouts));
    }

    private static String stamp(CompletionStage<PolicyView> view) {
        CompletableFuture<PolicyView> future = view.toCompletableFuture();
        assertThat(future).isCompleted();
        return future.join().stamp;
    }

    @Test
    void callsThatNoticeTogetherShareOneRead() {
        List<CompletionStage<PolicyView>> views = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            views.add(cache.current());
        }
        assertThat(asked).hasSize(1);
        answer(1);
        assertThat(views).allMatch(view -> stamp(view).equals("1:e"));
        assertThat(stamp(cache.current())).isEqualTo("1:e");
        assertThat(asked).isEmpty();
    }

    /** A policy read before another process had installed its own was told as the one in force after. */
    @Test
    void aReadUnderWayIsNoNewsForALaterQuestion() {
        CompletionStage<PolicyView> early = cache.current();
        now = 10;
        CompletionStage<PolicyView> late = cache.youngerThan(0);
        CompletionStage<PolicyView> later = cache.youngerThan(0);

        answer(1);
        assertThat(stamp(early)).isEqualTo("1:e");
        assertThat(late.toCompletableFuture()).isNotDone();
        assertThat(asked).as("one more for all of them").hasSize(1);
        answer(2);
        assertThat(stamp(late)).isEqualTo("2:e");
        assertThat(stamp(later)).isEqualTo("2:e");
        assertThat(stamp(cache.current())).isEqualTo("2:e");
    }

    @Test
    void aReadThatFailsIsTriedByTheNextOne() {
        CompletionStage<PolicyView> first = cache.current();
        now = 10;
        CompletionStage<PolicyView> second = cache.youngerThan(0);
        asked.remove().completeExceptionally(new OutageException("timeout", "no answer", null));

        assertThat(first.toCompletableFuture()).isCompletedExceptionally();
        answer(1);
        assertThat(stamp(second)).isEqualTo("1:e");
    }

    @Test
    void whatIsYoungEnoughIsNotReadAgain() {
        cache.current();
        answer(1);
        now = 100;
        assertThat(stamp(cache.youngerThan(100))).isEqualTo("1:e");
        assertThat(asked).isEmpty();
        cache.youngerThan(99);
        assertThat(asked).hasSize(1);
    }

    @Test
    void whatIsGoneIsPutBackByWhoKnowsItAndReadAgain() {
        cache.current();
        answer(4);
        mendable = true;
        CompletionStage<PolicyView> asked = cache.youngerThan(-1);
        this.asked.remove().complete(null);

        assertThat(lost).containsExactly("4:e");
        assertThat(asked.toCompletableFuture()).isNotDone();
        answer(4);
        assertThat(stamp(asked)).isEqualTo("4:e");
    }

    @Test
    void whatNobodyKnewOrWasRemovedIsNoProject() {
        CompletionStage<PolicyView> first = cache.current();
        asked.remove().complete(null);
        assertThat(lost).isEmpty();
        assertThatThrownBy(() -> Blocking.get(first)).hasMessageContaining("is not installed");

        cache.current();
        answer(4);
        CompletionStage<PolicyView> second = cache.youngerThan(-1);
        asked.remove().complete(null);
        assertThat(lost).hasSize(1);
        assertThatThrownBy(() -> Blocking.get(second)).hasMessageContaining("is not installed");
    }

    /** Calls that wait are looked at against it. */
    @Test
    void everyVersionButTheFirstIsNews() {
        cache.current();
        answer(1);
        cache.heard("1:e");
        assertThat(asked).as("nothing new").isEmpty();
        assertThat(moved).isEmpty();

        cache.heard("2:e");
        answer(2);
        now = 10;
        cache.youngerThan(0);
        answer(2);
        assertThat(moved).containsExactly("2:e");
    }
}
