package io.sluice.redis;

import static io.sluice.redis.Scripted.LEASE;
import static io.sluice.redis.Scripted.MIN;
import static io.sluice.redis.Scripted.S;
import static io.sluice.redis.Scripted.T0;
import static io.sluice.redis.Scripted.costs;
import static io.sluice.redis.Scripted.modelClass;
import static io.sluice.redis.Scripted.whole;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.redis.Scripted.Ask;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Permits that run and that Redis does not know: its last writes were lost, all of it was, or it was out when they began. */
@WithRedis
class AssertTablesIT {
    private static final Map<String, Map<String, Long>> TEN = costs(Map.of("rpm", 10L));

    private final RedisServer server;
    private Scripted scripts;

    AssertTablesIT(RedisServer server) {
        this.server = server;
    }

    @BeforeEach
    void connect() {
        scripts = new Scripted(server);
        scripts.install(T0, modelClass(2, whole("rpm", 60)));
    }

    @AfterEach
    void close() {
        scripts.close();
    }

    private long used() {
        return scripts.inspect(T0).get("c:m").used();
    }

    private long left(long at) {
        return scripts.level(at, "c:m", "rpm").units();
    }

    /** What a failover does that loses what was written last. */
    private void lose(Runnable writes) {
        Map<String, byte[]> before = new HashMap<>();
        for (String key : scripts.keys.all()) {
            before.put(key, scripts.redis.dump(key));
        }
        writes.run();
        before.forEach((key, content) -> {
            scripts.redis.del(key);
            scripts.redis.restore(key, 0, content);
        });
    }

    private Object renewed(long at, String id) {
        return scripts.beat(at, "h", id).renewed().get(0);
    }

    @Test
    void onlyWhatIsNotKnownCanBeAsserted() {
        scripts.acquire(T0, Ask.of("a", TEN));
        assertThat(renewed(T0 + S, "a")).isEqualTo(1L);
        assertThat(scripts.assertAgain(T0 + S, Ask.of("a", TEN), scripts.stamp)).isEqualTo(0L);
        assertThat(renewed(T0 + 2 * LEASE, "a")).isEqualTo(0L);
        assertThat(scripts.assertAgain(T0 + 2 * LEASE, Ask.of("a", TEN), scripts.stamp))
                .as("its lease ran out: the slot may be another's")
                .isEqualTo(0L);
        assertThat(used()).isZero();
    }

    @Test
    void afterLostWritesItHoldsItsSlotAndItsCharge() {
        lose(() -> scripts.acquire(T0, Ask.of("a", TEN)));
        assertThat(used()).isZero();
        assertThat(left(T0)).isEqualTo(60);
        assertThat(renewed(T0 + S, "a")).isEqualTo(2L);

        assertThat(scripts.assertAgain(T0 + S, Ask.of("a", TEN), scripts.stamp)).isEqualTo(1L);
        assertThat(used()).isEqualTo(1);
        assertThat(left(T0 + S)).isEqualTo(50);
        assertThat(renewed(T0 + 2 * S, "a")).isEqualTo(1L);
        scripts.settle(T0 + 3 * S, "a", "settled", costs(Map.of("rpm", 4L)));
        assertThat(used()).isZero();
        assertThat(left(T0 + 3 * S)).isEqualTo(58);
        assertThat(scripts.assertAgain(T0 + 4 * S, Ask.of("a", TEN), scripts.stamp))
                .isEqualTo(0L);
    }

    @Test
    void afterAnEmptyRestartItHoldsItsSlotOnly() {
        scripts.acquire(T0, Ask.of("a", TEN));
        String before = scripts.stamp;
        scripts.redis.del(scripts.keys.all());
        scripts.install(T0 + S, 1, "", modelClass(2, whole("rpm", 60)));
        assertThat(left(T0 + S)).isZero();
        assertThat(renewed(T0 + S, "a")).isEqualTo(2L);
        assertThat(scripts.assertAgain(T0 + S, Ask.of("a", TEN), before)).isEqualTo(1L);
        assertThat(used()).isEqualTo(1);
        assertThat(left(T0 + S)).isZero();
        scripts.settle(T0 + S, "a", "settled", costs(Map.of("rpm", 1L)));
        assertThat(used()).isZero();
        assertThat(left(T0 + S))
                .as("levels started empty: nothing to give back")
                .isZero();
    }

    @Test
    void slotsMayExceedTheLimitAndFillUpFirst() {
        scripts.acquire(T0, Ask.of("a", TEN));
        scripts.acquire(T0, Ask.of("b", TEN));
        scripts.assertAgain(T0, Ask.of("c", TEN), scripts.stamp);
        assertThat(used()).isEqualTo(3);
        scripts.settle(T0 + S, "a", "settled", TEN);
        assertThat(scripts.acquire(T0 + S, Ask.of("d", TEN))).startsWith("wait");
        scripts.settle(T0 + S, "b", "settled", TEN);
        assertThat(scripts.acquire(T0 + S, Ask.of("d", TEN))).startsWith("granted");
    }

    @Test
    void whatWasSpentMeanwhileIsChargedOnceAndIntoDebt() {
        scripts.acquire(T0, Ask.of("a", costs(Map.of("rpm", 55L))));
        Map<String, Map<String, Long>> twenty = costs(Map.of("rpm", 20L));
        assertThat(scripts.spent(T0, "x", scripts.stamp, twenty)).containsExactly("ended", "booked", 0L, "memo");
        assertThat(left(T0)).isEqualTo(-15);
        assertThat(scripts.spent(T0, "x", scripts.stamp, twenty)).containsExactly("ended", "booked", 1L, "memo");
        assertThat(left(T0)).isEqualTo(-15);
        assertThat(used()).isEqualTo(1);
        assertThat(scripts.acquire(T0, Ask.of("b", costs(Map.of("rpm", 1L))))).startsWith("wait", 16 * S);
        assertThat(scripts.spent(T0, "y", "1:another", twenty)).containsExactly("ended", "booked", 0L, "memo");
        assertThat(left(T0)).isEqualTo(-15);
    }

    @Test
    void anAssertedPermitExpiresLikeAnyOther() {
        scripts.assertAgain(T0, Ask.of("a", TEN), scripts.stamp);
        scripts.beat(T0 + LEASE, "other");
        assertThat(used()).isZero();
        assertThat(renewed(T0 + LEASE, "a")).isEqualTo(0L);
    }

    @Test
    void whoeverWaitsDoesNotWaitForEver() {
        scripts.acquire(T0, Ask.of("a", TEN));
        scripts.assertAgain(T0, Ask.of("b", TEN), scripts.stamp);
        scripts.acquire(T0, Ask.of("w", TEN).waiting(MIN));
        scripts.settle(T0 + S, "b", "settled", TEN);
        assertThat(scripts.beat(T0 + S, "h").told("g")).containsExactly("w");
    }

    @Test
    void hostsKnowTheirNumberAndRank() {
        scripts.beat(T0, "gone");
        long later = T0 + 2 * MIN;
        scripts.beat(later, "b");
        scripts.beat(later, "d");
        assertThat(scripts.run(Script.INSPECT, List.of(Long.toString(later + S), "hosts", "b")))
                .containsExactly("hosts", 2L, 0L);
        assertThat(scripts.run(Script.INSPECT, List.of(Long.toString(later + S), "hosts", "c")))
                .containsExactly("hosts", 3L, 1L);
        assertThat(scripts.run(Script.INSPECT, List.of(Long.toString(later + 2 * MIN), "hosts", "c")))
                .containsExactly("hosts", 1L, 0L);
    }

    @Test
    void whatIsNoPermitIsRefusedAsAWhole() {
        List<String> good = List.of(
                "a",
                "n",
                "d",
                "memo",
                scripts.stamp,
                "1",
                Long.toString(LEASE),
                "other|n",
                "4",
                "-",
                "5",
                "p",
                "0",
                "c:m",
                "1",
                "10");
        for (int k : List.of(5, 7, 9, 10, 11, 14)) {
            List<String> bad = new ArrayList<>(good);
            bad.set(k, "x y");
            List<String> arguments = new ArrayList<>(List.of(Long.toString(T0), "h", "0", "0", "0", "1"));
            arguments.addAll(bad);
            assertThatThrownBy(() -> scripts.run(Script.BEAT, arguments))
                    .as("%s", bad)
                    .hasMessageContaining("BADARG");
        }
        assertThat(used()).isZero();
    }
}
