package io.sluice.redis;

import static io.sluice.redis.Scripted.MIN;
import static io.sluice.redis.Scripted.S;
import static io.sluice.redis.Scripted.T0;
import static io.sluice.redis.Scripted.costs;
import static io.sluice.redis.Scripted.modelClass;
import static io.sluice.redis.Scripted.whole;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.ScopeLimits;
import io.sluice.redis.Scripted.Ask;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What operators hold by name: an agent, a team or a run that the policy has no limits for. */
@WithRedis
class HeldByNameIT {
    private static final Map<String, Map<String, Long>> ONE = costs(Map.of("rpm", 1L));
    private static final long SLOTS = 2;

    private final RedisServer server;
    private Scripted scripts;

    HeldByNameIT(RedisServer server) {
        this.server = server;
    }

    @BeforeEach
    void connect() {
        scripts = new Scripted(server);
        scripts.install(T0, modelClass(SLOTS, whole("rpm", 60_000)));
    }

    @AfterEach
    void close() {
        scripts.close();
    }

    /** Of agent x, team green (which the policy does not list) and run 7. */
    private static Ask its(String id) {
        return Ask.of(id, ONE).agent("x").names("e:green r:7");
    }

    private static Ask anothers(String id) {
        return Ask.of(id, ONE).agent("y").names("e:blue r:8");
    }

    private Object hold(long at, String name, long wait) {
        return scripts.hold(at, name, wait, "operator", 0);
    }

    private void release(long at, String name) {
        assertThat(scripts.observe(at, List.of("release", name))).containsExactly(List.of(1L));
    }

    @ParameterizedTest
    @ValueSource(strings = {"a:x", "e:green", "r:7"})
    void aTryIsRefusedWithTheHold(String name) {
        assertThat(hold(T0, name, MIN)).isEqualTo(MIN);
        assertThat(scripts.acquire(T0 + S, its("a"))).containsExactly("hold", 59 * S, name, "operator", 1L, "429");
        assertThat(scripts.acquire(T0 + S, anothers("b"))).startsWith("granted");
    }

    @Test
    void theTeamOfAFlowIsKnownByIt() {
        hold(T0, "e:red", MIN);
        assertThat(scripts.acquire(T0, Ask.of("a", ONE).flow("red|n", 4))).startsWith("hold", MIN, "e:red");
        hold(T0, "e:other", MIN);
        assertThat(scripts.acquire(T0, Ask.of("b", ONE)))
                .as("teams that are not listed are no team")
                .startsWith("granted");
        assertThat(scripts.acquire(T0, Ask.of("c", ONE).names("e:other"))).startsWith("hold", MIN, "e:other");
    }

    @ParameterizedTest
    @ValueSource(strings = {"a:x", "e:green", "r:7"})
    void whoWaitsKeepsItsPlaceAndHoldsUpNobody(String name) {
        for (String id : List.of("1", "2")) {
            scripts.acquire(T0, anothers(id));
        }
        // One line: the held ones stand before the other.
        assertThat(scripts.acquire(T0, its("a").waiting(5 * MIN))).startsWith("waiting");
        assertThat(scripts.acquire(T0, its("b").waiting(5 * MIN))).startsWith("waiting");
        assertThat(scripts.acquire(T0, anothers("c").waiting(5 * MIN))).startsWith("waiting");
        hold(T0 + S, name, 60 * MIN);
        scripts.settle(T0 + 2 * S, "1", "settled", ONE);
        assertThat(scripts.beat(T0 + 2 * S, "h").told("g")).containsExactly("c");
        scripts.claim(T0 + 2 * S, "h", "c");
        assertThat(scripts.acquire(T0 + 3 * S, anothers("d").waiting(5 * MIN))).startsWith("waiting");
        scripts.settle(T0 + 4 * S, "2", "settled", ONE);
        assertThat(scripts.beat(T0 + 4 * S, "h").told("g")).containsExactly("d");
        scripts.claim(T0 + 4 * S, "h", "d");
        scripts.settle(T0 + 5 * S, "c", "settled", ONE);
        scripts.settle(T0 + 5 * S, "d", "settled", ONE);
        assertThat(scripts.beat(T0 + 5 * S, "h").told("g")).isEmpty();

        release(T0 + 6 * S, name);
        scripts.acquire(T0 + 6 * S, anothers("e").waiting(MIN));
        assertThat(scripts.beat(T0 + 6 * S, "h").told("g")).containsExactlyInAnyOrder("a", "b");
        scripts.claim(T0 + 6 * S, "h", "a", "b");
        assertThat(scripts.settle(T0 + 7 * S, "a", "settled", ONE)).startsWith("ended", "settled", 0L);
        assertThat(scripts.holds()).isEmpty();
    }

    /** One that was passed over for its patience has the next slot kept for it: not while it is held. */
    @Test
    void whatIsKeptForOneThatIsHeldIsOthers() {
        scripts.acquire(T0, anothers("1"));
        scripts.acquire(T0, anothers("2"));
        scripts.acquire(T0, its("a").waiting(5 * MIN));
        scripts.beat(T0 + S, "h");
        scripts.beat(T0 + 5 * S, "h");
        long at = T0 + 5 * S;
        scripts.acquire(at, anothers("b").waiting(5 * MIN));
        hold(at, "a:x", MIN);
        scripts.settle(at, "1", "settled", ONE);
        assertThat(scripts.beat(at, "h").told("g")).containsExactly("b");
    }

    @Test
    void opensWithOneCallThenTwiceAsMany() {
        scripts.install(T0, modelClass(64, whole("rpm", 60_000)));
        hold(T0, "a:x", 10 * S);
        for (int i = 0; i < 4; i++) {
            assertThat(scripts.acquire(T0 + S, its("w" + i).waiting(5 * MIN)))
                    .startsWith("waiting", 9 * S, 9 * S, "a:x", "hold");
        }
        assertThat(scripts.beat(T0 + 10 * S, "h").told("g")).containsExactly("w0");
        scripts.claim(T0 + 10 * S, "h", "w0");
        assertThat(scripts.acquire(T0 + 10 * S, its("t"))).startsWith("wait");
        scripts.settle(T0 + 11 * S, "w0", "settled", ONE);
        assertThat(scripts.beat(T0 + 11 * S, "h").told("g")).containsExactly("w1", "w2");
    }

    @Test
    void whoRunsGoesOnAndEnds() {
        scripts.acquire(T0, its("a"));
        hold(T0 + S, "a:x", MIN);
        assertThat(scripts.beat(T0 + 2 * S, "h", "a").renewed()).containsExactly(1L);
        assertThat(scripts.settle(T0 + 3 * S, "a", "settled", ONE)).startsWith("ended", "settled", 0L);
        assertThat(scripts.recount().getOrDefault("c:m", 0L)).isZero();
    }

    @Test
    void outlivesAPolicyWithAndWithoutLimitsForEach() {
        hold(T0, "a:x", 60 * MIN);
        scripts.install(T0 + S, modelClass(3, whole("rpm", 60_000)));
        assertThat(scripts.acquire(T0 + S, its("a"))).startsWith("hold", 60 * MIN - S, "a:x");
        ScopeLimits[] both = modelClass(3, whole("rpm", 60_000));
        scripts.install(T0 + 2 * S, both[0], both[1], new ScopeLimits("a:", 2, 100, List.of(whole("rpm", 600))));
        Map<String, Map<String, Long>> own = Map.of("p", Map.of(), "c:m", Map.of("rpm", 1L), "a:x", Map.of("rpm", 1L));
        assertThat(scripts.acquire(T0 + 2 * S, its("b").costs(own))).startsWith("hold", 60 * MIN - 2 * S, "a:x");
        scripts.install(T0 + 3 * S, modelClass(4, whole("rpm", 60_000)));
        assertThat(scripts.acquire(T0 + 3 * S, its("c").waiting(MIN))).startsWith("hold", 60 * MIN - 3 * S, "a:x");
        release(T0 + 4 * S, "a:x");
        assertThat(scripts.acquire(T0 + 4 * S, its("d"))).startsWith("granted");
        // With nobody held nothing of it stays beyond the next version.
        scripts.install(T0 + 11 * MIN, modelClass(5, whole("rpm", 60_000)));
        assertThat(scripts.rawLevels()).doesNotContainKeys("=a:", "a:", ">a:x");
    }

    @Test
    void aWaiterOfAnOlderPolicyStaysHeldUnderTheNext() {
        hold(T0, "r:7", 10 * S);
        assertThat(scripts.acquire(T0, its("a").waiting(MIN))).startsWith("waiting");
        scripts.install(T0 + S, modelClass(3, whole("rpm", 60_000)));
        assertThat(scripts.beat(T0 + 2 * S, "h").told("s")).containsExactly("a");
        assertThat(scripts.acquire(T0 + 2 * S, its("a").waiting(MIN)))
                .startsWith("waiting", 8 * S, 8 * S, "r:7", "hold");
        assertThat(scripts.beat(T0 + 10 * S, "h").told("g")).containsExactly("a");
    }

    @Test
    void onlyOperatorsHoldByNameAndOnlyNames() {
        assertThat(scripts.hold(T0, "a:x", MIN, "input", T0))
                .as("a provider knows no agents")
                .isEqualTo(0L);
        assertThat(hold(T0, "a:-", MIN)).as("nobody's name").isEqualTo(0L);
        assertThat(hold(T0, "a:x|c", MIN)).isEqualTo(0L);
        assertThat(hold(T0, "a:x y", MIN)).isEqualTo(0L);
        assertThat(hold(T0, "w:x", MIN)).isEqualTo(0L);
        assertThat(scripts.rawLevels()).doesNotContainKeys("=a:", "=w:");
    }
}
