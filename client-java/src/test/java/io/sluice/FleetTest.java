package io.sluice;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/** A host has a share exactly while the others leave it one. */
class FleetTest {
    private final FakeTimer timer = new FakeTimer();
    private int asked;
    private int beats;
    private Store.Hosts hosts = new Store.Hosts(3, 1);
    private boolean out;

    private final FakeStore store = new FakeStore();
    private final PolicyCache policies = new PolicyCache(
            store, "acme", timer::nanoTime, (known, stored) -> CompletableFuture.completedStage(false), view -> {});
    private final Fleet fleet =
            new Fleet(store(), "h-1", "acme", timer.service(), policies, () -> beats++, timer::nanoTime);

    private Store store() {
        return (Store) Proxy.newProxyInstance(
                Store.class.getClassLoader(), new Class<?>[] {Store.class}, (proxy, method, arguments) -> {
                    assertThat(method.getName()).isEqualTo("hosts");
                    return hosts();
                });
    }

    private CompletionStage<Store.Hosts> hosts() {
        asked++;
        return out
                ? CompletableFuture.failedStage(new OutageException("timeout", "a test's", null))
                : CompletableFuture.completedStage(hosts);
    }

    @Test
    void asksOftenAtFirstAndEveryTenSecondsThen() {
        assertThat(fleet.share()).isEqualTo(Share.NONE);
        fleet.used();
        assertThat(fleet.share()).isEqualTo(new Share(3, 1));
        timer.pass(10_000);
        assertThat(asked).isBetween(5, 7);
        int before = asked;
        hosts = new Store.Hosts(4, 2);
        timer.pass(100_000);
        assertThat(asked - before).isBetween(9, 11);
        assertThat(beats).as("whoever counts is counted").isEqualTo(asked);
        assertThat(fleet.share()).isEqualTo(new Share(4, 2));
    }

    @Test
    void whatItSawLastHoldsForAsLongAsTheOutageLasts() {
        fleet.used();
        out = true;
        for (int i = 0; i < 60; i++) {
            timer.pass(60_000);
            fleet.used();
        }
        assertThat(fleet.share()).isEqualTo(new Share(3, 1));
    }

    /** Nobody counts a host that has been away: what it used would be on top. */
    @Test
    void whoHasNotBeenAtItForLongHasNoShare() {
        fleet.used();
        timer.pass(Duration.ofHours(1).toMillis());
        int before = asked;
        timer.pass(Duration.ofHours(1).toMillis());
        assertThat(asked).as("it asks no more").isEqualTo(before);
        assertThat(fleet.share()).isEqualTo(Share.NONE);
        out = true;
        fleet.used();
        timer.pass(1_000);
        assertThat(fleet.share()).isEqualTo(Share.NONE);
        out = false;
        timer.pass(20_000);
        assertThat(fleet.share()).isEqualTo(new Share(3, 1));
    }

    @Test
    void underAPolicyWithoutSharesNobodyIsCounted() {
        store.policy = Budget.policy("acme", Policy.Outage.FAIL_OPEN, "concurrency: 1");
        policies.current();
        fleet.used();
        timer.pass(60_000);
        assertThat(asked + beats).isZero();
    }

    @Test
    void asksNoMoreOnceClosed() {
        fleet.used();
        fleet.close();
        int before = asked;
        timer.pass(60_000);
        assertThat(asked).isEqualTo(before);
    }
}
