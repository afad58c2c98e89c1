package io.sluice;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.sluice.Store.Installation;
import io.sluice.Store.Installed;
import io.sluice.Store.Layout;
import io.sluice.Store.StoredPolicy;
import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiFunction;
import org.junit.jupiter.api.Test;

/** What is put back after a loss, and what is not. */
class InstallerTest {
    /** What the index says of a removal, question by question; then that there was none. */
    private final Deque<Boolean> removed = new ArrayDeque<>();

    /** Who made the newest version that is kept. */
    private String note = "{\"by\":\"ann\"}";

    private final List<String> did = new ArrayList<>();
    private final Installer installer = new Installer(proxy(Store.class, this::stored), "acme", "host-1");

    private static <T> T proxy(Class<T> type, BiFunction<String, Object[], Object> answers) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(),
                new Class<?>[] {type},
                (proxy, method, arguments) -> answers.apply(method.getName(), arguments)));
    }

    private Object stored(String method, Object[] arguments) {
        if (method.equals("records")) {
            return proxy(Records.class, this::recorded);
        }
        assertThat(method).isEqualTo("install");
        Installation installation = (Installation) arguments[0];
        did.add("install " + installation.held());
        note = installation.note();
        return CompletableFuture.completedStage(new Installed.Done(installation.held() + ":new", true));
    }

    private Object recorded(String method, Object[] arguments) {
        return switch (method) {
            case "wasRemoved" -> CompletableFuture.completedStage(!removed.isEmpty() && removed.remove());
            case "versions" ->
                CompletableFuture.completedStage(
                        List.of(new Records.Kept(1, note, 0, ""), new Records.Kept(0, "{}", 0, "")));
            case "present" -> {
                did.add("listed " + arguments[1]);
                yield CompletableFuture.completedStage(null);
            }
            case "remove" -> {
                did.add("remove " + arguments[1]);
                yield CompletableFuture.completedStage(OptionalLong.empty());
            }
            default -> throw new AssertionError(method);
        };
    }

    private static StoredPolicy version(int version) {
        List<Layout> layouts = List.of(new Layout("p", List.of(), List.of()), new Layout("c:m", List.of(), List.of()));
        return new StoredPolicy(
                version + ":e", Budget.policy("acme", "concurrency: 1").toJson(), layouts);
    }

    private static PolicyView known(int version) {
        return new PolicyView("acme", version(version));
    }

    private static String reason(CompletionStage<?> failed) {
        Throwable thrown = catchThrowable(() -> Blocking.get(failed));
        assertThat(thrown).isInstanceOf(OutageException.class);
        return ((OutageException) thrown).reason();
    }

    @Test
    void whatIsGoneIsPutBackInTheVersionThatIsKnownAndListed() {
        assertThat(Blocking.get(installer.mended(known(3), null))).isTrue();
        assertThat(did).containsExactly("install 3", "listed 3");
    }

    @Test
    void whatTheIndexCallsRemovedIsNotPutBackThenOrLater() {
        removed.add(true);
        assertThat(Blocking.get(installer.mended(known(3), null))).isFalse();
        assertThat(installer.wasSeenRemoved()).isTrue();
        // The index has forgotten it: this process has not.
        assertThat(reason(installer.mend(known(3)))).isEqualTo("no_project");
        assertThat(did).isEmpty();
    }

    @Test
    void whatThisProcessRemovedItDoesNotPutBackUntilThereIsOneAgain() {
        installer.isRemoved();
        assertThat(Blocking.get(installer.mended(known(3), null))).isFalse();
        assertThat(did).isEmpty();

        assertThat(Blocking.get(installer.mended(known(3), version(3)))).isFalse();
        assertThat(Blocking.get(installer.mended(known(3), null))).isTrue();
    }

    /** A removal takes two steps. One that looks in between sees a project that is gone, and an index that still lists it. */
    @Test
    void whoPutsItBackWhileItIsBeingRemovedTakesItAwayAgain() {
        removed.add(false);
        removed.add(true);
        assertThat(reason(installer.mend(known(3)))).isEqualTo("no_project");
        assertThat(did).containsExactly("install 3", "remove 3");
    }

    /** One that had been asleep put back the version that it knew. */
    @Test
    void ofWhatWasPutBackTheHighestVersionWins() {
        assertThat(Blocking.get(installer.mended(known(1), null))).isTrue();
        did.clear();
        assertThat(Blocking.get(installer.mended(known(3), version(1)))).isTrue();
        assertThat(did).containsExactly("install 3", "listed 3");
    }

    /** It was removed, and somebody has made another one of that name. */
    @Test
    void whatSomebodySetStays() {
        assertThat(Blocking.get(installer.mended(known(3), version(1)))).isFalse();
        assertThat(did).isEmpty();
    }
}
