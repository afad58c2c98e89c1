package io.sluice.redis;

import static io.sluice.redis.Fleet.BEAT;
import static io.sluice.redis.Fleet.MS;
import static io.sluice.redis.Scripted.MIN;
import static io.sluice.redis.Scripted.S;
import static io.sluice.redis.Scripted.T0;
import static io.sluice.redis.Scripted.costs;
import static io.sluice.redis.Scripted.modelClass;
import static io.sluice.redis.Scripted.perMinute;
import static io.sluice.redis.Scripted.whole;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.RefillLimit;
import io.sluice.ScopeLimits;
import io.sluice.redis.Fleet.Job;
import io.sluice.redis.Fleet.Start;
import io.sluice.redis.Scripted.Ask;
import io.sluice.redis.Scripted.Rules;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Law 7, its second half: nobody waits for ever, whatever the others do. */
@WithRedis
class StarvationIT {
    private static final long NEAR = 300;
    private static final long FAR = 120 * MS;

    private final RedisServer server;
    private Scripted scripts;

    StarvationIT(RedisServer server) {
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

    private static Ask ask(String id, String flow, Map<String, Map<String, Long>> costs) {
        return Ask.of(id, costs).flow(flow, 4).waiting(10 * MIN);
    }

    /** Calls of one kind, one after the other. */
    private static Supplier<Job> calls(Fleet fleet, String flow, long runs, Map<String, Map<String, Long>> costs) {
        return () -> Job.of(ask(fleet.nextId(flow), flow, costs), runs);
    }

    /** Takes all there is of the class's tokens. */
    private void drain(Fleet fleet, long units) {
        assertThat(scripts.acquire(T0, Ask.of(fleet.nextId("drain"), costs(Map.of("itpm", units)))))
                .startsWith("granted");
    }

    /**
     * A limiter that took weights never let a large call in while small ones kept the bucket low
     * (pelikan-io/rustcommon#129): 60,000 a minute, an empty bucket, one call of 50,000, and twenty agents that ask for 500 all
     * the time. With the burst of a minute, and with one of 5 s, where the large call needs the full bucket and the minute.
     */
    @ParameterizedTest
    @CsvSource({"60, other|n, 3", "60, large|n, 3", "60, other|b, 60", "5, other|n, 3", "5, large|n, 60"})
    void aLargeCallComesInAmongAFloodOfSmallOnes(long burst, String itsFlow, long smallOnesASecond) {
        RefillLimit limit = burst == 60 ? whole("itpm", 60_000) : perMinute("itpm", 60_000);
        long perSecond = limit.rate() * S / limit.factor();
        long large = 50_000;
        scripts.install(T0, modelClass(-1, limit));
        Fleet fleet = new Fleet(scripts, 11);
        drain(fleet, limit.capacity() / limit.factor());
        Fleet.Host[] hosts = {fleet.host("near", NEAR), fleet.host("far", FAR)};
        Supplier<Job> small = calls(fleet, "other|n", S, costs(Map.of("itpm", 500L)));
        fleet.every(S / smallOnesASecond, () -> {
            Job job = small.get();
            int agent = fleet.random().nextInt(20);
            hosts[agent % 2].submit(new Job(job.ask().agent("agent-" + agent), job.used(), job.runs()));
        });
        fleet.runFor(10 * S);
        long asked = fleet.now();
        hosts[1].submit(Job.of(ask("large", itsFlow, costs(Map.of("itpm", large))), S));
        long bound = 2 * large * S / perSecond;
        fleet.runUntil(asked + bound + 30 * S);
        assertThat(fleet.started("large").waited()).isLessThanOrEqualTo(bound);
        assertThat(fleet.startsOf("other|n", fleet.now() - 10 * S, fleet.now()))
                .as("the small ones go on")
                .hasSizeGreaterThan(10);
        if (burst < 60) {
            return; // what refills while the minute before the call runs out is nobody's
        }
        long got = fleet.starts.stream()
                .mapToLong(start -> start.units("c:m", "itpm"))
                .sum();
        assertThat(got + scripts.level(fleet.now(), "c:m", "itpm").units())
                .as("and get all it leaves")
                .isGreaterThan(perSecond * ((fleet.now() - T0) / S) - 5_000);
    }

    /**
     * What a class has is taken by other teams, what a team has by its calls in another class: each time one of the two is
     * enough for a call that needs both, the other is not. Found when the line was planned: not granted in 175 s.
     */
    @Test
    void aCallThatNeedsTwoLimitsDrainedInTurnIsGranted() {
        RefillLimit tokens = perMinute("itpm", 60_000, 10, 30);
        scripts.install(
                T0,
                new ScopeLimits("p", -1, List.of()),
                new ScopeLimits("c:k", -1, List.of()),
                new ScopeLimits("c:m", -1, List.of(tokens)),
                new ScopeLimits("t:x", -1, List.of(tokens)));
        Fleet fleet = new Fleet(scripts, 12);
        Fleet.Host near = fleet.host("near", NEAR);
        Fleet.Host far = fleet.host("far", FAR);
        Map<String, Long> small = Map.of("itpm", 500L);
        near.keep(20, calls(fleet, "y|n", S, Map.of("p", Map.of(), "c:m", small)));
        near.keep(20, calls(fleet, "x|n", S, Map.of("p", Map.of(), "c:k", Map.of(), "t:x", small)));
        fleet.runFor(40 * S);

        Map<String, Long> large = Map.of("itpm", 10_000L);
        far.submit(Job.of(ask("both", "x|n", Map.of("p", Map.of(), "c:m", large, "t:x", large)), S));
        boolean firm = waitUntilGranted(fleet, "both", 60 * S);
        assertThat(firm).as("it had to become firm").isTrue();
        long refill = 10 * S;
        assertThat(fleet.started("both").waited())
                .as("patience, then its refill time")
                .isLessThanOrEqualTo(2 * refill + refill + 2 * BEAT);
    }

    /** The same where calls take no tokens: a slot of the class and one of the team are never free at once. */
    @ParameterizedTest
    @ValueSource(longs = {1, 3})
    void aCallThatNeedsTwoSlotsTakenInTurnIsGranted(long slots) {
        scripts.install(
                T0,
                new ScopeLimits("p", -1, List.of()),
                new ScopeLimits("c:k", -1, List.of()),
                new ScopeLimits("c:m", slots, List.of()),
                new ScopeLimits("t:x", slots, List.of()));
        Fleet fleet = new Fleet(scripts, 13);
        Fleet.Host near = fleet.host("near", NEAR);
        Fleet.Host far = fleet.host("far", FAR);
        long runs = 400 * MS; // below the patience of others, so that only one is firm
        near.keep((int) slots * 4, calls(fleet, "y|n", runs, Map.of("p", Map.of(), "c:m", Map.of())));
        fleet.runFor(runs / 2);
        near.keep((int) slots * 4, calls(fleet, "x|n", runs, Map.of("p", Map.of(), "c:k", Map.of(), "t:x", Map.of())));
        fleet.runFor(5 * S);

        far.submit(Job.of(ask("both", "x|n", Map.of("p", Map.of(), "c:m", Map.of(), "t:x", Map.of())), S));
        boolean firm = waitUntilGranted(fleet, "both", 20 * S);
        assertThat(firm).as("it had to become firm").isTrue();
        assertThat(fleet.started("both").waited())
                .as("patience, then as long as one call runs")
                .isLessThanOrEqualTo(S + runs + 2 * BEAT);
        fleet.runFor(3 * S);
        assertThat(fleet.startsOf("y|n", fleet.now() - 2 * S, fleet.now()))
                .as("nothing is kept any more")
                .hasSizeGreaterThanOrEqualTo((int) slots * 2);
    }

    /** Goes on until the call started; whether it was seen firm before that. */
    private boolean waitUntilGranted(Fleet fleet, String id, long most) {
        boolean firm = false;
        long end = fleet.now() + most;
        while (!fleet.hasStarted(id) && fleet.now() < end) {
            fleet.runFor(50 * MS);
            firm |= scripts.line().classes().values().stream()
                    .anyMatch(c -> c.firm().equals(id));
        }
        return firm;
    }

    /**
     * A call larger than the burst of its class, and its team's slots taken in turn by others: nobody else may keep the
     * bucket from getting full once it is firm. It takes the full bucket, into debt, and not before.
     */
    @Test
    void anOversizeCallBecomesFirmAndGetsTheFullBucket() {
        RefillLimit tokens = perMinute("itpm", 60_000);
        scripts.install(
                T0,
                new ScopeLimits("p", -1, List.of()),
                new ScopeLimits("c:k", -1, List.of()),
                new ScopeLimits("c:m", -1, List.of(tokens)),
                new ScopeLimits("t:x", 1, List.of()));
        Fleet fleet = new Fleet(scripts, 14);
        Fleet.Host near = fleet.host("near", NEAR);
        near.keep(20, calls(fleet, "y|n", S, Map.of("p", Map.of(), "c:m", Map.of("itpm", 500L))));
        near.keep(5, calls(fleet, "x|n", 2 * S, Map.of("p", Map.of(), "c:k", Map.of(), "t:x", Map.of())));
        fleet.runFor(10 * S);
        long oversize = 9_000;
        far(fleet)
                .submit(Job.of(
                        ask("oversize", "x|n", Map.of("p", Map.of(), "c:m", Map.of("itpm", oversize), "t:x", Map.of())),
                        S));
        assertThat(waitUntilGranted(fleet, "oversize", 3 * MIN))
                .as("it had to become firm")
                .isTrue();
        long refill = oversize * tokens.factor() / tokens.rate();
        Start start = fleet.started("oversize");
        assertThat(start.waited()).isLessThanOrEqualTo(2 * refill + 65 * S);
        assertThat(scripts.level(fleet.now(), "c:m", "itpm").level())
                .as("full when it was granted, refilled since")
                .isLessThanOrEqualTo(tokens.capacity() - oversize * tokens.factor() + tokens.rate() * S / 2);
    }

    private static Fleet.Host far(Fleet fleet) {
        return fleet.host("far", FAR);
    }

    /**
     * Taking requests first and tokens second held the one while waiting for the other (vutran1710/PyrateLimiter#189): one
     * slot, 200 tokens left, a call that needs 9,000, then one that needs 100.
     */
    @Test
    void aWaiterHoldsNothing() {
        RefillLimit tokens = whole("itpm", 10_000);
        RefillLimit requests = whole("rpm", 60);
        scripts.install(T0, modelClass(1, requests, tokens));
        Fleet fleet = new Fleet(scripts, 15);
        scripts.acquire(T0, Ask.of("earlier", costs(Map.of("itpm", 9_800L))));
        scripts.settle(T0, "earlier", "settled", costs(Map.of("itpm", 9_800L)));
        Fleet.Host host = fleet.host("near", NEAR);
        host.submit(Job.of(
                ask("a", "other|n", costs(Map.of("itpm", 9_000L, "rpm", 1L))).waiting(MIN), S));
        fleet.runFor(S);
        host.submit(Job.of(
                ask("b", "other|n", costs(Map.of("itpm", 100L, "rpm", 1L))).waiting(MIN), S));
        long refill = 8_800 * tokens.factor() / tokens.rate();
        while (fleet.now() < T0 + refill - BEAT) {
            fleet.runFor(S);
            if (fleet.now() < T0 + refill - BEAT) {
                assertThat(scripts.inspect(fleet.now()).get("c:m").used()).isZero();
                assertThat(scripts.level(fleet.now(), "c:m", "rpm").units()).isEqualTo(60);
            }
        }
        fleet.runUntil(T0 + MIN);
        assertThat(fleet.started("a").waited()).isBetween(refill, refill + BEAT);
        assertThat(fleet.started("b").at())
                .as("after a, when a's slot is free and its own tokens are there")
                .isBetween(fleet.started("a").at() + S, fleet.started("a").at() + 2 * S);
    }

    /** Queues that went through all who wait at each step slowed to a crawl behind one agent that was at its own cap. */
    @Test
    void oneCappedAgentsThousandsOfWaitersCostOthersNothing() {
        List<Start> without = startsBeside(4);
        List<Start> with = startsBeside(4 + 9_900);
        assertThat(without).hasSizeGreaterThan(500);
        assertThat(with.size()).isGreaterThanOrEqualTo(without.size() * 99 / 100);
        assertThat(with.stream().mapToLong(Start::waited).max().orElseThrow())
                .isLessThanOrEqualTo(
                        without.stream().mapToLong(Start::waited).max().orElseThrow() + BEAT);
    }

    /** What others start in 20 s beside so many calls of an agent that may run four. */
    private List<Start> startsBeside(int itsCalls) {
        try (Scripted alone = new Scripted(server)) {
            alone.install(
                    T0,
                    Rules.USUAL.waiters(20_000),
                    new ScopeLimits("p", -1, List.of()),
                    new ScopeLimits("c:m", -1, List.of(perMinute("rpm", 1_800, 10, 5))),
                    new ScopeLimits("a:", 4, List.of()));
            Fleet fleet = new Fleet(alone, 16);
            Fleet.Host its = fleet.host("its", FAR);
            for (int i = 0; i < itsCalls; i++) {
                String flow = i % 2 == 0 ? "other|n" : "other|i";
                its.submit(Job.of(of("capped", ask(fleet.nextId("capped"), flow, Map.of())), 10 * MIN));
            }
            fleet.runFor(S);
            assertThat(its.waiting()).isEqualTo(itsCalls - 4);
            Fleet.Host near = fleet.host("near", NEAR);
            for (int i = 0; i < 100; i++) {
                String agent = "agent-" + i;
                near.keep(1, () -> Job.of(of(agent, ask(fleet.nextId(agent), "other|n", Map.of())), S));
            }
            fleet.runFor(20 * S);
            assertThat(its.waiting()).isEqualTo(itsCalls - 4);
            return fleet.starts.stream()
                    .filter(start -> !start.job().ask().agent().equals("capped"))
                    .toList();
        }
    }

    private static Ask of(String agent, Ask ask) {
        return ask.agent(agent).costs(Map.of("p", Map.of(), "c:m", Map.of("rpm", 1L), "a:" + agent, Map.of()));
    }
}
