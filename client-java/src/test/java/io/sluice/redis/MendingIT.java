package io.sluice.redis;

import static io.sluice.redis.Scripted.LEASE;
import static io.sluice.redis.Scripted.S;
import static io.sluice.redis.Scripted.T0;
import static io.sluice.redis.Scripted.costs;
import static io.sluice.redis.Scripted.modelClass;
import static io.sluice.redis.Scripted.whole;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.RefillLimit;
import io.sluice.ScopeLimits;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What damage leaves behind. Half of what was stored is gone or garbage (Effect-TS/effect-smol#2352): no script may fail
 * for ever, let anybody in because of it, or write half of its work; installing the policy again mends it.
 */
@WithRedis
class MendingIT {
    private static final int LEVELS = 1;
    private static final int PERMITS = 2;
    private static final int TIMES = 5;
    private static final int LEARN = 7;

    private final RedisServer server;
    private Scripted scripts;

    MendingIT(RedisServer server) {
        this.server = server;
    }

    @BeforeEach
    void connect() {
        scripts = new Scripted(server);
    }

    @AfterEach
    void everySlotHasItsPermit() {
        try (Scripted closing = scripts) {
            Map<String, Long> running = closing.recount();
            closing.inspect(-1)
                    .forEach((name, scope) -> assertThat(scope.used())
                            .as("in flight in %s", name)
                            .isEqualTo(running.getOrDefault(name, 0L)));
        }
    }

    private String key(int index) {
        return scripts.keys.all()[index];
    }

    private List<Object> ask(long at, String id) {
        return scripts.acquire(at, id, costs(Map.of()));
    }

    private List<Object> end(long at, String id) {
        return scripts.settle(at, id, "settled", costs(Map.of()));
    }

    private long used() {
        return scripts.inspect(T0).get("c:m").used();
    }

    /** A class without its layout was no class at all: the project looked whole, and every call on it was told "lost". */
    @ParameterizedTest
    @ValueSource(strings = {"=c:m", "c:m", "=c:m c:m", "=p", "p", "!", "!due"})
    void aMissingFieldIsMendedWithItsSlotsCounted(String fields) {
        ScopeLimits[] policy = modelClass(1, whole("itpm", 1000));
        scripts.install(T0, policy);
        ask(T0, "a");
        scripts.redis.hdel(key(LEVELS), fields.split(" "));
        assertThat(ask(T0, "b")).startsWith("lost");
        assertThat(scripts.install(T0, 1, "", policy)).startsWith("installed");
        assertThat(used()).isEqualTo(1);
        assertThat(scripts.level(T0, "c:m", "itpm").level()).isZero();
        assertThat(ask(T0 + S, "b")).startsWith("wait");
        assertThat(end(T0 + S, "a")).startsWith("ended", "settled", 0L);
        assertThat(ask(T0 + S, "b")).startsWith("granted");
    }

    /** The keys each script looks at before it writes; nothing may be made anew where something was lost. */
    @ParameterizedTest
    @CsvSource({"1, levels", "2, permits", "5, times", "6, hosts"})
    void aMissingKeyIsToldByEveryScriptThatNeedsIt(int key, String what) {
        ScopeLimits[] policy = modelClass(3, whole("itpm", 1000));
        scripts.install(T0, policy);
        ask(T0, "a");
        ask(T0, "b");
        scripts.redis.del(key(key));
        long due = T0 + LEASE + S; // with something due no script takes its short way past times
        assertThat(scripts.beat(due, "h", "a").reply()).containsExactly("lost", what);
        if (!what.equals("hosts")) {
            assertThat(ask(due, "c")).containsExactly("lost", what);
            assertThat(end(due, "a")).containsExactly("lost", what);
        }
        assertThat(scripts.redis.exists(key(key))).as("made anew by nobody").isZero();
        assertThat(scripts.install(due, 1, "", policy)).startsWith("installed");
        assertThat(used()).isEqualTo(what.equals("permits") ? 0 : 2);
    }

    /** Whose slot it was stood in the record only: guessing would free somebody else's. */
    @Test
    void aLostRecordFreesNoSlotUntilTheProjectIsMended() {
        ScopeLimits[] policy = modelClass(2);
        scripts.install(T0, policy);
        ask(T0, "lost");
        ask(T0 + S, "a");
        scripts.redis.hdel(key(PERMITS), "lost");
        scripts.beat(T0 + LEASE, "h");
        Scripted.Scope project = scripts.inspect(T0 + LEASE).get("p");
        assertThat(List.of(project.used(), used())).containsExactly(2L, 2L);
        assertThat(scripts.redis.hget(key(LEVELS), "#orphans")).isEqualTo("1");
        scripts.redis.del(key(LEARN));
        scripts.install(T0 + LEASE, 1, "", policy);
        assertThat(used()).isEqualTo(1);
    }

    /** A layout cut short is damage like any other, also where only the first numbers are read. */
    @ParameterizedTest
    @ValueSource(strings = {"", "abc", "0123456789abcdef"})
    void aLayoutThatIsNoneIsLostState(String garbage) {
        ScopeLimits[] policy = modelClass(1, whole("itpm", 1000));
        scripts.install(T0, policy);
        ask(T0, "a");
        scripts.redis.hset(key(LEVELS), "=c:m", garbage);
        assertThat(ask(T0, "b")).startsWith("lost");
        scripts.install(T0, 1, "", policy);
        assertThat(end(T0, "a")).startsWith("ended", "settled", 0L);
    }

    /** Settled into a class that the mended project did not know, then was given again, the permit left it at -1. */
    @Test
    void aClassRemovedWhileMendingKeepsCountOfItsRunningPermits() {
        scripts.install(T0, modelClass(1));
        ask(T0, "a");
        scripts.redis.del(key(LEARN));
        scripts.install(T0, new ScopeLimits("p", -1, List.of()));
        scripts.install(T0, modelClass(1));
        assertThat(used()).isEqualTo(1);
        assertThat(ask(T0, "b")).startsWith("wait");
        end(T0, "a");
        assertThat(ask(T0, "b")).startsWith("granted");
        assertThat(ask(T0, "c")).startsWith("wait");
    }

    /** Limits take new places when a project is mended; an older permit's costs stand by the old ones. */
    @Test
    void aPermitFromBeforeTheDamageCorrectsNoLevel() {
        RefillLimit rpm = whole("rpm", 60);
        RefillLimit itpm = whole("itpm", 10_000);
        scripts.install(T0, modelClass(-1, rpm, itpm));
        ScopeLimits[] turned = modelClass(-1, itpm, rpm);
        scripts.install(T0, turned); // and each limit keeps its place
        for (String id : List.of("a", "b", "late")) {
            scripts.acquire(T0, id, costs(Map.of("itpm", 1000L, "rpm", 1L)));
        }
        scripts.redis.del(key(LEARN));
        scripts.install(T0, 2, "", turned);
        scripts.settle(T0, "a", "cancelled", Map.of());
        scripts.settle(T0, "b", "settled", costs(Map.of("itpm", 5000L, "rpm", 1L)));
        scripts.beat(T0 + LEASE, "h");
        scripts.settle(T0 + LEASE, "late", "settled", costs(Map.of("itpm", 5000L, "rpm", 1L)));
        assertThat(scripts.level(T0 + LEASE, "c:m", "rpm").level()).isEqualTo(rpm.rate() * LEASE);
        assertThat(scripts.level(T0 + LEASE, "c:m", "itpm").level()).isEqualTo(itpm.rate() * LEASE);
    }

    /** One record that is none stopped the expiry of all others, half done, at every call. */
    @ParameterizedTest
    @ValueSource(strings = {"abc", "", "\u0001"})
    void aRecordThatIsNoneStopsNobody(String garbage) {
        ScopeLimits[] policy = modelClass(2);
        scripts.install(T0, policy);
        ask(T0, "a");
        ask(T0, "b");
        scripts.redis.hset(key(PERMITS), "b", garbage);
        assertThat(scripts.recount()).containsEntry("c:m", 1L);
        assertThat(end(T0, "b")).startsWith("unknown");
        assertThat(scripts.beat(T0, "h", "a", "b").renewed()).containsExactly(1L, 2L);
        assertThat(ask(T0 + LEASE + S, "c")).as("a's slot").startsWith("granted");
        assertThat(scripts.redis.hget(key(LEVELS), "#orphans")).isEqualTo("1");
        // Whose slot b had cannot be told any more: until the project is mended it stays taken.
        assertThat(ask(T0 + LEASE + S, "d")).startsWith("wait");
        scripts.redis.del(key(LEARN));
        scripts.install(T0 + LEASE + S, 1, "", policy);
        assertThat(ask(T0 + LEASE + S, "d")).startsWith("granted");
    }

    /** A permit was written as ended before the key that had changed its type was touched: its slot was never freed. */
    @Test
    void aSettleThatFailsEndsNothing() {
        ScopeLimits[] policy = modelClass(2);
        scripts.install(T0, policy);
        ask(T0, "a");
        scripts.redis.del(key(TIMES));
        scripts.redis.set(key(TIMES), "from an older version");
        assertThatThrownBy(() -> end(T0, "a")).hasMessageContaining("WRONGTYPE");
        assertThat(scripts.recount()).containsEntry("c:m", 1L);
        scripts.install(T0, 1, "", policy);
        assertThat(end(T0, "a")).startsWith("ended", "settled", 0L);
    }

    @Test
    void anOlderVersionMendsNothing() {
        ScopeLimits[] first = modelClass(1);
        scripts.install(T0, first);
        scripts.install(T0, modelClass(2));
        scripts.redis.del(key(LEARN));
        assertThat(scripts.install(T0, 1, "", first)).containsExactly("mismatch", "2:lost");
        assertThat(scripts.install(T0, 2, "", modelClass(2))).startsWith("installed");
        assertThat(scripts.stamp).startsWith("2:");
    }

    @Test
    void theLastFiftyVersionsAreKept() {
        for (int slots = 1; slots <= 60; slots++) {
            scripts.install(T0, modelClass(slots));
        }
        assertThat(scripts.redis.hkeys(key(0)).stream()
                        .filter(field -> field.startsWith("v:"))
                        .map(field -> Integer.parseInt(field.substring(2))))
                .hasSize(50)
                .contains(11, 60)
                .doesNotContain(10);
    }
}
