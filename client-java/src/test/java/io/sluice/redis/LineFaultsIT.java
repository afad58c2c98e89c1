package io.sluice.redis;

import static io.sluice.redis.Fleet.BEAT;
import static io.sluice.redis.Fleet.MS;
import static io.sluice.redis.Scripted.LEASE;
import static io.sluice.redis.Scripted.MIN;
import static io.sluice.redis.Scripted.S;
import static io.sluice.redis.Scripted.T0;
import static io.sluice.redis.Scripted.costs;
import static io.sluice.redis.Scripted.modelClass;
import static io.sluice.redis.Scripted.perMinute;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.ScopeLimits;
import io.sluice.redis.Fleet.Job;
import io.sluice.redis.Scripted.Ask;
import io.sluice.redis.Scripted.Waiting;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Law 7, its end: who dies, goes deaf or gives up while it waits delays others by a second at most and leaves nothing behind. */
@WithRedis
class LineFaultsIT {
    private static final long NEAR = 300;

    private final RedisServer server;
    private Scripted scripts;

    LineFaultsIT(RedisServer server) {
        this.server = server;
    }

    @BeforeEach
    void connect() {
        scripts = new Scripted(server);
    }

    @AfterEach
    void close() {
        scripts.close();
    }

    private static Map<String, Map<String, Long>> of(String agent, long units) {
        return Map.of("p", Map.of(), "c:m", Map.of("itpm", units), "a:" + agent, Map.of());
    }

    private static Ask ask(String id, String agent) {
        return Ask.of(id, of(agent, 100)).agent(agent).waiting(10 * MIN);
    }

    private static ScopeLimits[] policy(long slots, long slotsOfAnAgent) {
        return new ScopeLimits[] {
            new ScopeLimits("p", -1, List.of()),
            new ScopeLimits("c:m", slots, List.of(perMinute("itpm", 60_000))),
            new ScopeLimits("a:", slotsOfAnAgent, List.of())
        };
    }

    /** It was the first in line, with a hundred behind it: in one line, or each of them in its own. */
    @ParameterizedTest
    @CsvSource({"1, 1, 0", "1, 100, 90", "4, 1, 180", "4, 100, 240"})
    void aKilledHostDelaysTheNextByASecondAtMost(int slots, int agents, long sinceItsBeat) {
        scripts.install(T0, policy(slots, 200));
        Fleet fleet = new Fleet(scripts, 21);
        Fleet.Host working = fleet.host("working", NEAR);
        Fleet.Host doomed = fleet.host("doomed", NEAR);
        Fleet.Host next = fleet.host("next", NEAR);
        long freed = T0 + 5 * S + sinceItsBeat * MS;
        for (int i = 0; i < slots; i++) {
            working.submit(Job.of(ask(fleet.nextId("working"), "w"), 5 * S + sinceItsBeat * MS - 2 * NEAR));
        }
        fleet.runFor(S);
        for (int i = 0; i < 100 + slots; i++) {
            doomed.submit(Job.of(ask(fleet.nextId("doomed"), "d" + i % agents), S));
        }
        fleet.runFor(S);
        for (int i = 0; i < slots; i++) {
            next.submit(Job.of(ask("next-" + i, "n"), S));
        }
        fleet.runUntil(freed - 5 * MS);
        doomed.kill();
        fleet.runUntil(freed);
        assertThat(scripts.permits().stream().filter(permit -> permit.state().equals("granted")))
                .as("granted to the dead")
                .hasSize(slots)
                .allMatch(permit -> permit.host().equals("doomed"));
        fleet.runUntil(freed + 5 * S);
        for (int i = 0; i < slots; i++) {
            assertThat(fleet.started("next-" + i).at() - freed).isLessThanOrEqualTo(S);
        }

        // Its waiters keep their places for a lease, in case it was only paused; then they are gone, with their slots.
        assertThat(scripts.line().waiting()).isEqualTo(100 + slots);
        next.keep(1, () -> Job.of(ask(fleet.nextId("again"), "n"), S));
        fleet.runFor(LEASE + 5 * S);
        assertThat(scripts.waiters().stream().map(Waiting::host)).doesNotContain("doomed");
        assertThat(scripts.permits().stream().filter(Scripted.Remembered::inFlight))
                .noneMatch(permit -> permit.host().equals("doomed"));
    }

    /** A host that was only paused stands where it stood. */
    @Test
    void aPausedHostKeepsItsPlace() {
        scripts.install(T0, policy(1, 200));
        scripts.acquire(T0, ask("holder", "w"));
        scripts.acquire(T0, ask("first", "x").host("paused"));
        scripts.acquire(T0, ask("second", "y").host("awake"));
        scripts.settle(T0 + S, "holder", "settled", of("w", 100));
        assertThat(scripts.beat(T0 + S, "awake").told("g"))
                .as("the paused one is passed over")
                .containsExactly("second");
        scripts.claim(T0 + S, "awake", "second");
        scripts.acquire(T0 + 2 * S, ask("third", "y").host("awake"));
        assertThat(scripts.beat(T0 + 10 * S, "paused").told("g")).isEmpty();
        scripts.settle(T0 + 10 * S, "second", "settled", of("y", 100));
        assertThat(scripts.beat(T0 + 10 * S, "paused").told("g")).containsExactly("first");
    }

    /** Wherever between two beats the slot becomes free, and whoever heard of it. */
    @ParameterizedTest
    @ValueSource(longs = {0, 60, 120, 180, 240})
    void aLostMessageCostsABeatAtMost(long offset) {
        long heard = startsAfterTheSlotIsFree(offset, false);
        long unheard = startsAfterTheSlotIsFree(offset, true);
        assertThat(heard).as("with the message: at once").isLessThanOrEqualTo(2 * NEAR);
        assertThat(unheard).isLessThanOrEqualTo(heard + BEAT + 2 * NEAR);
    }

    private long startsAfterTheSlotIsFree(long offset, boolean lost) {
        try (Scripted alone = new Scripted(server)) {
            alone.install(T0, policy(1, 200));
            Fleet fleet = new Fleet(alone, 22);
            Fleet.Host near = fleet.host("near", NEAR);
            alone.acquire(T0, ask("holder", "w").host("elsewhere").lease(5 * MIN));
            if (lost) {
                near.deafen();
            }
            near.submit(Job.of(ask("waits", "x"), S));
            long freed = T0 + 2 * S + offset * MS;
            fleet.at(freed, () -> fleet.run(() -> alone.settle(freed, "holder", "settled", of("w", 100))));
            fleet.runUntil(freed + S);
            return fleet.started("waits").at() - freed;
        }
    }

    /** Whoever gave up must not weigh on those of its flow that come after. */
    @Test
    void afterAThousandOfAFlowGaveUpItsNextWaitAsIfTheyHadNeverCome() {
        assertThat(afterSoManyGaveUp(1_000)).isEqualTo(afterSoManyGaveUp(0));
    }

    /** What three calls of the flow are told, and when they start. */
    private List<Object> afterSoManyGaveUp(int many) {
        try (Scripted alone = new Scripted(server)) {
            alone.install(T0, modelClass(-1, perMinute("itpm", 60_000, 10, 1)));
            Fleet fleet = new Fleet(alone, 23);
            fleet.host("busy", NEAR)
                    .keep(
                            20,
                            () -> Job.of(
                                    Ask.of(fleet.nextId("busy"), costs(Map.of("itpm", 100L)))
                                            .flow("busy|n", 4)
                                            .waiting(MIN),
                                    S));
            fleet.runUntil(T0 + 10 * S);
            Ask fickle = Ask.of("", costs(Map.of("itpm", 100L)))
                    .flow("fickle|n", 4)
                    .host("fickle")
                    .waiting(MIN);
            for (int i = 0; i < many; i++) {
                assertThat(alone.acquire(fleet.now(), fickle.id("gone-" + i))).startsWith("waiting");
            }
            for (int i = 0; i < many; i++) {
                assertThat(alone.settle(fleet.now(), "gone-" + i, "cancelled", Map.of()))
                        .startsWith("ended");
            }
            Fleet.Host host = fleet.host("fickle", NEAR);
            List<String> ids = List.of("x", "y", "z");
            ids.forEach(id -> host.submit(Job.of(fickle.id(id), S)));
            fleet.runFor(NEAR);
            List<Object> told = new ArrayList<>(
                    alone.beat(fleet.now(), "fickle", List.of(), List.of(), ids).looks());
            fleet.runFor(5 * S);
            ids.forEach(id -> told.add(fleet.started(id).waited()));
            return told;
        }
    }

    /** Where a call can be when it is cancelled. */
    private enum Step {
        WAITING("r|", "cancelled"),
        PARKED("k|", "undone"),
        SET_ASIDE("s|", "cancelled"),
        GRANTED("i|its|g|", "undone"),
        TOLD_AGAIN("i|its|s|", "cancelled"),
        RUNNING("", "cancelled"),
        PLACE_KEPT("", "undone");

        /** Where the line has it then. */
        private final String index;

        private final String how;

        Step(String index, String how) {
            this.index = index;
            this.how = how;
        }
    }

    @ParameterizedTest
    @EnumSource(Step.class)
    void aCallCancelledAtAnyStepLeavesNothing(Step step) {
        try (Scripted never = new Scripted(server)) {
            long at = bringTo(step, scripts, true);
            bringTo(step, never, false);
            assertThat(scripts.settle(at, "x", step.how, Map.of())).startsWith("ended");
            assertThat(scripts.waiters()).isEmpty();
            assertThat(scripts.redis.zrange(key(scripts, 4), 0, -1)).as("lines").containsExactly("!");
            assertThat(scripts.redis.hkeys(key(scripts, 3))).as("waiters").containsExactly("!");
            assertThat(levels(scripts, at))
                    .as("as if it had never been granted")
                    .isEqualTo(levels(never, at));
            assertThat(scripts.recount()).isEqualTo(never.recount());

            for (Scripted each : List.of(scripts, never)) {
                each.settle(at, "holder", "settled", of("w", 100));
                each.settle(at, "own", "settled", of("x", 100));
                for (long later = at; later < at + 2 * 60 * MIN; later += 5 * MIN) {
                    each.beat(later, "other");
                }
                assertThat(each.redis.zrange(key(each, 5), 0, -1)).as("times").containsExactly("!");
                assertThat(each.redis.hkeys(key(each, 2))).as("permits").containsExactly("!");
                assertThat(each.redis.zrange(key(each, 6), 0, -1)).as("hosts").containsExactlyInAnyOrder("!", "other");
                assertThat(each.rawLevels()).doesNotContainKey("a:x");
            }
        }
    }

    /** A call behind it, of the same line, comes up in its place, whatever kept the first from starting. */
    @ParameterizedTest
    @EnumSource(Step.class)
    void whoStoodBehindACancelledCallComesUp(Step step) {
        long at = bringTo(step, scripts, true);
        Ask behind = ask("behind", "x").host("its");
        scripts.acquire(at, behind);
        scripts.settle(at, "x", "cancelled", Map.of());
        scripts.settle(at, "holder", "settled", of("w", 100));
        scripts.settle(at, "own", "settled", of("x", 100));
        scripts.beat(at, "its");
        assertThat(scripts.acquire(at, behind)).startsWith("granted");
        assertThat(scripts.line().waiting()).isZero();
        assertThat(scripts.inspect(at).get("c:m").used()).isEqualTo(1);
    }

    /**
     * Two lines of an agent are parked, its slot comes free and the first may be tried; it gives up before it is, because
     * somebody else keeps its class closed. The other line must not stay parked for ever.
     */
    @Test
    void aLineParkedBehindOneThatGaveUpComesUp() {
        ScopeLimits[] withAnotherClass = {
            policy(1, 1)[0], new ScopeLimits("c:k", -1, List.of()), policy(1, 1)[1], policy(1, 1)[2]
        };
        scripts.install(T0, withAnotherClass);
        scripts.acquire(T0, ask("own", "x").costs(Map.of("p", Map.of(), "c:k", Map.of(), "a:x", Map.of())));
        assertThat(scripts.acquire(T0, ask("first", "x").host("one"))).startsWith("waiting");
        assertThat(scripts.acquire(T0, ask("second", "x").host("two"))).startsWith("waiting");
        assertThat(scripts.acquire(T0, ask("holder", "w"))).startsWith("granted");
        assertThat(scripts.acquire(T0, ask("before", "v").flow("other|i", 16))).startsWith("waiting");
        scripts.settle(T0, "own", "settled", Map.of("p", Map.of(), "c:k", Map.of(), "a:x", Map.of()));
        scripts.settle(T0, "first", "cancelled", Map.of());
        scripts.settle(T0, "before", "cancelled", Map.of());
        scripts.settle(T0, "holder", "settled", of("w", 100));
        assertThat(scripts.beat(T0, "two").told("g")).containsExactly("second");
    }

    /** Others do the same whether there is a call {@code x} or not. Its host is {@code its}. */
    private static long bringTo(Step step, Scripted scripts, boolean withIt) {
        boolean parked = step == Step.PARKED;
        scripts.install(T0, policy(parked ? 2 : 1, 1));
        if (parked) {
            scripts.acquire(T0, ask("own", "x").host("its").lease(10 * MIN));
        } else {
            scripts.acquire(T0, ask("holder", "w").host("other").lease(10 * MIN));
        }
        if (withIt) {
            assertThat(scripts.acquire(T0, ask("x", "x").host("its"))).startsWith("waiting");
        }
        long at = T0 + 100 * MS;
        switch (step) {
            case SET_ASIDE -> {
                at = T0 + S;
                scripts.beat(at, "other");
            }
            case GRANTED, RUNNING -> {
                scripts.settle(at, "holder", "settled", of("w", 100));
                if (withIt && step == Step.RUNNING) {
                    assertThat(scripts.claim(at, "its", "x").claims().get(0)).startsWith("granted");
                }
            }
            case TOLD_AGAIN -> {
                scripts.install(at, new ScopeLimits[] {
                    policy(1, 1)[0], new ScopeLimits("c:m", 1, List.of(perMinute("itpm", 60_001))), policy(1, 1)[2]
                });
                scripts.beat(at, "other");
            }
            case PLACE_KEPT -> {
                if (withIt) {
                    assertThat(scripts.refused(at, "x", MIN)).startsWith("ended");
                }
            }
            case WAITING, PARKED -> scripts.beat(at, "other");
        }
        if (withIt && !step.index.isEmpty()) {
            assertThat(scripts.redis.zrange(key(scripts, 4), 0, -1))
                    .anyMatch(entry -> entry.startsWith(step.index) && entry.endsWith("|x"));
        }
        return at + MS;
    }

    private static String key(Scripted scripts, int index) {
        return scripts.keys.all()[index];
    }

    /** Of the scopes that both have, whatever may be made on demand. */
    private static Map<String, Scripted.Scope> levels(Scripted scripts, long at) {
        Map<String, Scripted.Scope> scopes = scripts.inspect(at);
        scopes.keySet().removeIf(name -> name.startsWith("a:"));
        return scopes;
    }
}
