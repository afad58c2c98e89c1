package io.sluice;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.LocalBudget.Obstacle;
import io.sluice.PolicyView.Resolved;
import io.sluice.Store.Layout;
import io.sluice.Store.OnHold;
import io.sluice.Store.ScopeCost;
import io.sluice.Store.StoredPolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What hosts admit of each limit without Redis, on a clock of the test's own. */
class LocalBudgetTest {
    private static final Call CALL =
            Call.of("m-1").inputTokens(100).maxOutputTokens(50).agent("a-1");

    private long now = -TimeUnit.HOURS.toNanos(1); // nanoTime may be negative

    private final Learning learning = new Learning(new FakeStore(), "acme", () -> {});

    private PolicyView view(String limits, String more) {
        Policy policy = Policy.parse("""
                project: acme
                provider: generic
                headroom: 1
                classes:
                  - {name: m, models: ["m-*"], limits: {%s}}
                  - {name: other, models: ["o-*"]}
                %s
                """.formatted(limits, more));
        List<Layout> layouts = new ArrayList<>();
        for (ScopeLimits scope : policy.scopes()) {
            List<String> names = scope.refills().stream().map(RefillLimit::name).toList();
            layouts.add(new Layout(
                    scope.scope(), names, names.stream().map(name -> true).toList()));
        }
        return new PolicyView("acme", new StoredPolicy("1:e", policy.toJson(), layouts));
    }

    private Resolved resolved(String limits, Call call) {
        return view(limits, "").resolve(call, learning);
    }

    private LocalBudget host(long hosts, long rank) {
        return new LocalBudget(() -> now, () -> new Share(hosts, rank));
    }

    private void pass(Duration time) {
        now += time.toNanos();
    }

    private static Obstacle obstacle(LocalBudget host, Resolved call) {
        return (Obstacle) host.tryTake(call, Set.of());
    }

    private static LocalGrant grant(LocalBudget host, Resolved call) {
        return (LocalGrant) host.tryTake(call, Set.of());
    }

    private static int takeAll(LocalBudget host, Resolved call) {
        int taken = 0;
        while (host.tryTake(call, Set.of()) instanceof LocalGrant) {
            taken++;
        }
        return taken;
    }

    /** The fleet got the limit times its number (hiero-ledger/hiero-json-rpc-relay#5684). */
    @Test
    void inAnyTimeAllHostsTogetherStayWithinFourFifths() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        int size = 1 + random.nextInt(7);
        Resolved call = resolved("rpm: 600, itpm: 40000", CALL); // 10 and 666 a second: 400 calls of 100 a minute
        List<LocalBudget> fleet = new ArrayList<>();
        for (int i = 0; i < size; i++) {
            fleet.add(host(size, i));
        }
        List<Long> starts = new ArrayList<>();
        long begin = now;
        while (now - begin < TimeUnit.MINUTES.toNanos(3)) {
            pass(Duration.ofMillis(random.nextInt(2_000)));
            for (LocalBudget host : fleet) {
                for (int i = takeAll(host, call); i > 0; i--) {
                    starts.add(now - begin);
                }
            }
        }
        double perSecond = 0.8 * 400 / 60;
        for (int from = 0; from < starts.size(); from++) {
            for (int to = from; to < starts.size(); to += 7) {
                double seconds = (starts.get(to) - starts.get(from)) / 1e9;
                assertThat((double) to - from + 1)
                        .as("seed %s, %s hosts, %s s", seed, size, seconds)
                        .isLessThanOrEqualTo(perSecond * (5 + seconds) + 1e-6);
            }
        }
        // And they use it: pauses of 2 s lose nothing of a burst of 5 s.
        assertThat((double) starts.size()).as("seed %s", seed).isGreaterThan(perSecond * 170);
    }

    @Test
    void aBucketNeverUsedStartsEmpty() {
        LocalBudget host = host(1, 0);
        Resolved call = resolved("rpm: 600", CALL);
        assertThat(obstacle(host, call).waitNs()).isEqualTo(TimeUnit.MILLISECONDS.toNanos(125));
        pass(Duration.ofMillis(125));
        grant(host, call);
    }

    /** A fallback that was kept apart was full when it was needed (SweetSophia/noosphere#276). */
    @Test
    void whatRedisLetsStartIsUsedUpHereAsWell() {
        LocalBudget host = host(1, 0);
        Resolved call = resolved("rpm: 600, concurrency: 10", CALL);
        obstacle(host, call);
        pass(Duration.ofMinutes(1));
        List<LocalGrant> byRedis = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            byRedis.add(host.take(call, true));
        }
        byRedis.subList(0, 93).forEach(one -> host.ended(one, call.costs()));
        // Empty, not in debt: the others' shares were used for most of that.
        assertThat(obstacle(host, call).waitNs()).isLessThanOrEqualTo(TimeUnit.SECONDS.toNanos(1));
        pass(Duration.ofSeconds(1));
        assertThat(takeAll(host, call)).as("eight slots, seven in use").isEqualTo(1);
    }

    @Test
    void allOrNothing() {
        LocalBudget host = host(1, 0);
        Resolved call = resolved("rpm: 600, itpm: 60000, concurrency: 2", CALL);
        obstacle(host, call);
        pass(Duration.ofMinutes(1));
        LocalGrant one = grant(host, call);
        Obstacle full = obstacle(host, call);
        assertThat(full.limit()).isEqualTo("concurrency");
        for (int i = 0; i < 100; i++) {
            obstacle(host, call);
        }
        host.ended(one, List.of(new ScopeCost("p", List.of()), new ScopeCost("c:m", List.of(0L, 0L))));
        // What was refused took nothing, and what was not used came back: 40 requests in 5 s at 0.8.
        assertThat(takeAll(host(1, 0), call)).isZero();
        int taken = 0;
        while (host.tryTake(call, Set.of()) instanceof LocalGrant granted) {
            host.ended(granted, call.costs());
            taken++;
        }
        assertThat(taken).isEqualTo(40);
    }

    @Test
    void aCallAboveTheBurstStartsFromAFullBucketIntoDebt() {
        LocalBudget host = host(2, 0);
        // 1,000 a second; this host 400 a second, 2,000 at once, 24,000 a minute.
        String limits = "itpm: 60000";
        Resolved large = resolved(limits, CALL.inputTokens(20_000));
        Resolved small = resolved(limits, CALL.inputTokens(400));
        obstacle(host, large);
        pass(Duration.ofSeconds(5));
        grant(host, large);
        assertThat(obstacle(host, small).waitNs()).isEqualTo(TimeUnit.SECONDS.toNanos(46)); // 18,400 at 400 a second
        pass(Duration.ofSeconds(50));
        // Full again; but 20,000 and 20,000 within a minute are more than 24,000.
        assertThat(obstacle(host, large).waitNs()).isBetween(1L, TimeUnit.SECONDS.toNanos(15));
        pass(Duration.ofSeconds(15));
        grant(host, large);
        assertThat(obstacle(host, resolved(limits, CALL.inputTokens(24_001))).waitNs())
                .isEqualTo(LocalLimit.NEVER);
    }

    @Test
    void anotherHostHasNoSlotLeftOfFive() {
        Resolved call = resolved("concurrency: 5", CALL);
        int all = 0;
        for (int rank = 0; rank < 10; rank++) {
            all += takeAll(host(10, rank), call);
        }
        assertThat(all).isEqualTo(4);
        assertThat(obstacle(host(10, 4), call).waitNs()).isEqualTo(LocalLimit.NEVER);
    }

    @Test
    void withoutAShareNothingStarts() {
        LocalBudget host = new LocalBudget(() -> now, () -> Share.NONE);
        pass(Duration.ofHours(1));
        assertThat(obstacle(host, resolved("rpm: 600", CALL)).waitNs()).isEqualTo(LocalLimit.NEVER);
        assertThat(obstacle(host, resolved("concurrency: 1000", CALL)).waitNs()).isEqualTo(LocalLimit.NEVER);
    }

    @Test
    void aDaysBudgetIsUsedEvenlyAndAnHourAhead() {
        LocalBudget host = host(1, 0);
        Resolved call = resolved("rpd: 2400", CALL); // 100 an hour, here 80
        obstacle(host, call);
        pass(Duration.ofHours(30));
        assertThat(takeAll(host, call)).isEqualTo(80);
        assertThat(obstacle(host, call).waitNs()).isEqualTo(TimeUnit.SECONDS.toNanos(45));
        pass(Duration.ofHours(1));
        assertThat(takeAll(host, call)).isEqualTo(80);
    }

    @Test
    void anAgentsLimitsAreItsHostsAlone() {
        String each = "each: [{by: agent, limits: {concurrency: 1}}]";
        LocalBudget host = host(10, 9);
        PolicyView view = view("rpm: 60000", each);
        Resolved one = view.resolve(CALL, learning);
        Resolved other = view.resolve(CALL.agent("a-2"), learning);
        obstacle(host, one);
        pass(Duration.ofMinutes(1));
        LocalGrant granted = grant(host, one);
        Obstacle full = obstacle(host, one);
        assertThat(full.scope()).isEqualTo("a:a-1");
        assertThat(full.waitNs()).isLessThan(LocalLimit.NEVER);
        grant(host, other);
        host.ended(granted, null);
        grant(host, one);
    }

    @Test
    void agentsThatCountAlreadyPass() {
        LocalBudget host = host(1, 0);
        PolicyView view = view("agents: 3", "");
        Resolved first = view.resolve(CALL, learning);
        grant(host, first);
        grant(host, first);
        grant(host, view.resolve(CALL.agent("a-2"), learning));
        Resolved third = view.resolve(CALL.agent("a-3"), learning);
        assertThat(obstacle(host, third).limit()).isEqualTo("agents");
        pass(Duration.ofMinutes(5).plusMillis(1));
        grant(host, third);
    }

    @Test
    void aHoldIsKeptWithoutRedisToo() {
        LocalBudget host = host(1, 0);
        Resolved call = resolved("concurrency: 10", CALL);
        host.onHold(List.of(new OnHold("c:m", 5_000_000, "input", true, "")));
        Obstacle held = obstacle(host, call);
        assertThat(held.limit()).isEqualTo("hold");
        assertThat(held.hold().kind()).isEqualTo("input");
        pass(Duration.ofSeconds(5));
        grant(host, call);
        host.holdsNow(new OnHold("p", Store.UNTIL_RELEASED, "credits", false, ""));
        pass(Duration.ofDays(1));
        assertThat(obstacle(host, call).hold().leftUs()).isEqualTo(Store.UNTIL_RELEASED);
        host.onHold(List.of());
        grant(host, call);
    }

    @Test
    void whoIsHeldByNameIsHeldWithoutRedisTooAndNobodyElse() {
        LocalBudget host = host(1, 0);
        Call named = CALL.agent("x").team("green").run("7");
        for (String name : List.of("a:x", "e:green", "r:7")) {
            host.onHold(List.of(new OnHold(name, 5_000_000, "operator", true, "")));
            assertThat(obstacle(host, resolved("concurrency: 10", named)).scope())
                    .isEqualTo(name);
            grant(host, resolved("concurrency: 10", CALL.agent("y").team("blue").run("8")));
            grant(host, resolved("concurrency: 10", CALL));
        }
        host.onHold(List.of(new OnHold("r:null", 5_000_000, "operator", true, "")));
        grant(host, resolved("concurrency: 10", CALL));
    }

    // ---- what Redis is told after

    private static long owed(LocalBudget host, LocalGrant grant, int limit) {
        return host.owed(grant).get(1).units().get(limit);
    }

    @Test
    void whatHasRefilledIsNotOwedButAWindowsPartIs() {
        LocalBudget host = host(1, 0);
        // Calls of 1,000: 800 a second here.
        Resolved call = resolved("itpm: 60000, rpd: 24000", CALL.inputTokens(1_000));
        obstacle(host, call);
        pass(Duration.ofMinutes(5));
        LocalGrant first = grant(host, call);
        LocalGrant second = grant(host, call);
        assertThat(owed(host, first, 0) + owed(host, second, 0)).isEqualTo(2_000);
        pass(Duration.ofMillis(1_250));
        // As the bucket would have it: the first is paid back, the second not yet.
        assertThat(owed(host, first, 0)).isZero();
        assertThat(owed(host, second, 0)).isEqualTo(1_000);
        pass(Duration.ofMillis(625));
        assertThat(owed(host, second, 0)).isEqualTo(500);
        pass(Duration.ofMinutes(1));
        assertThat(owed(host, second, 0)).isZero();
        assertThat(owed(host, first, 1) + owed(host, second, 1)).isEqualTo(2);
    }

    @Test
    void usageTakesTheEstimatesPlace() {
        LocalBudget host = host(1, 0);
        Resolved call = resolved("itpm: 60000", CALL.inputTokens(1_000));
        obstacle(host, call);
        pass(Duration.ofMinutes(1));
        LocalGrant less = grant(host, call);
        host.ended(less, call.costsOf(new Permit.Reserved(1, 400, 0, 0, 0)));
        assertThat(owed(host, less, 0)).isEqualTo(400);
        LocalGrant more = grant(host, call);
        host.ended(more, call.costsOf(new Permit.Reserved(1, 3_000, 0, 0, 0)));
        assertThat(owed(host, more, 0)).isEqualTo(3_000);
        // 4,000 in 5 s at 0.8; 3,400 are gone, and 1,000 more are needed.
        assertThat(obstacle(host, call).waitNs()).isEqualTo(TimeUnit.MILLISECONDS.toNanos(500));
    }

    @Test
    void whatComesBackLateIsNotGivenTwice() {
        LocalBudget host = host(1, 0);
        Resolved call = resolved("itpm: 60000", CALL.inputTokens(4_000));
        obstacle(host, call);
        pass(Duration.ofMinutes(1));
        LocalGrant hung = grant(host, call);
        pass(Duration.ofSeconds(5));
        LocalGrant next = grant(host, call);
        host.ended(hung, call.costsOf(new Permit.Reserved(0, 0, 0, 0, 0)));
        assertThat(obstacle(host, call).waitNs()).isEqualTo(TimeUnit.SECONDS.toNanos(5));
        host.ended(next, call.costsOf(new Permit.Reserved(0, 0, 0, 0, 0)));
        grant(host, call);
    }

    @Test
    void whatWasToldWhileItRanIsCorrectedByTheDifference() {
        LocalBudget host = host(1, 0);
        Resolved call = resolved("itpm: 60000", CALL.inputTokens(1_000));
        obstacle(host, call);
        pass(Duration.ofMinutes(1));
        LocalGrant grant = grant(host, call);
        pass(Duration.ofMillis(625));
        List<ScopeCost> told = host.owed(grant);
        assertThat(told.get(1).units()).containsExactly(500L);
        List<ScopeCost> used = call.costsOf(new Permit.Reserved(1, 1_200, 0, 0, 0));
        assertThat(grant.inPlaceOf(told, used).get(1).units()).containsExactly(700L);
        List<ScopeCost> little = call.costsOf(new Permit.Reserved(1, 100, 0, 0, 0));
        assertThat(grant.inPlaceOf(told, little).get(1).units()).containsExactly(0L);
    }
}
