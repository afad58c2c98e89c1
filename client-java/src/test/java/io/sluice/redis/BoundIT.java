package io.sluice.redis;

import static io.sluice.redis.Scripted.MIN;
import static io.sluice.redis.Scripted.S;
import static io.sluice.redis.Scripted.T0;
import static io.sluice.redis.Scripted.costs;
import static io.sluice.redis.Scripted.modelClass;
import static io.sluice.redis.Scripted.perMinute;
import static io.sluice.redis.Scripted.whole;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.RefillLimit;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Law 2 from outside, without a model: only what was granted, given back, and when. */
@WithRedis
class BoundIT {
    private static final int STEPS = Integer.getInteger("model.steps", 400) * 2;

    private final RedisServer server;
    private Scripted scripts;

    BoundIT(RedisServer server) {
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

    private List<Object> ask(long at, String id, long input) {
        return scripts.acquire(at, id, "d", "h", 15 * MIN, costs(Map.of("itpm", input)));
    }

    private void end(long at, String id, long input) {
        scripts.settle(at, id, "settled", costs(Map.of("itpm", input)));
    }

    /** A grant (cost above zero) or what came back (below). */
    private record Charge(long at, long units) {}

    /**
     * For all pairs of instants s, t of a run: what was granted from s to t, less what came back from s to t, is at
     * most burst + rate x (t - s). With f(t) = charged up to t - rate x t that is f(t) - f(before s) at most the burst,
     * so it is enough to compare with the lowest f seen.
     */
    private static void withinTheBound(RefillLimit limit, List<Charge> charges) {
        BigInteger charged = BigInteger.ZERO;
        BigInteger lowest = null;
        for (Charge charge : charges) {
            BigInteger refilled = BigInteger.valueOf(charge.at() - T0).multiply(BigInteger.valueOf(limit.rate()));
            BigInteger before = charged.subtract(refilled);
            lowest = lowest == null ? before : lowest.min(before);
            charged = charged.add(BigInteger.valueOf(charge.units()).multiply(BigInteger.valueOf(limit.factor())));
            assertThat(charged.subtract(refilled).subtract(lowest))
                    .as("granted in some interval that ends at %s, above rate x its length", charge)
                    .isLessThanOrEqualTo(BigInteger.valueOf(limit.capacity()));
            lowest = lowest.min(charged.subtract(refilled));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "1, 10000000, 5", // the largest
        "2, 60, 5", // each call is larger than the burst unless it costs 1 to 4
        "3, 1000, 60", // burst of a minute
        "4, 12345, 1",
    })
    void noIntervalGetsMoreThanBurstAndRefill(long seed, long perMinute, long burstSeconds) {
        Random random = new Random(seed);
        RefillLimit limit = perMinute("itpm", perMinute, 9, burstSeconds);
        scripts.install(T0, modelClass(-1, limit));
        long largest = limit.capacity() / limit.factor();
        List<Charge> charges = new ArrayList<>();
        Map<String, Long> open = new java.util.LinkedHashMap<>();
        long now = T0;
        for (int i = 0; i < STEPS; i++) {
            long cost = random.nextBoolean() ? random.nextLong(largest + 1) : random.nextLong(largest / 20 + 1);
            List<Object> reply = ask(now, "i" + i, cost);
            if (reply.get(0).equals("granted")) {
                charges.add(new Charge(now, cost));
                open.put("i" + i, cost);
            } else {
                now += random.nextInt(3) == 0 ? (Long) reply.get(1) : random.nextLong((Long) reply.get(1));
            }
            if (!open.isEmpty() && random.nextInt(3) == 0) {
                String id = open.keySet().iterator().next();
                long estimate = open.remove(id);
                long used = random.nextLong(2 * estimate + 1);
                long before = scripts.level(now, "c:m", "itpm").level();
                end(now, id, used);
                long back = scripts.level(now, "c:m", "itpm").level() - before;
                // What came back in full; what the brim cut off came back to nobody.
                assertThat(back).isLessThanOrEqualTo((estimate - used) * limit.factor());
                charges.add(new Charge(now, Math.min(used - estimate, 0)));
            }
            now += random.nextInt(4) == 0 ? random.nextLong(10 * S) : random.nextLong(S / 10);
        }
        assertThat(charges).hasSizeGreaterThan(STEPS / 4);
        withinTheBound(limit, charges);
    }

    /** With the default headroom and burst, calls of any admissible size, whatever is larger than the burst too. */
    @ParameterizedTest
    @CsvSource({"5, 60000", "6, 400", "7, 2000000"})
    void theProvidersMinuteHoldsAlsoForCallsLargerThanTheBurst(long seed, long perMinute) {
        Random random = new Random(seed);
        RefillLimit limit = perMinute("itpm", perMinute);
        scripts.install(T0, modelClass(-1, limit));
        List<Charge> grants = new ArrayList<>();
        long now = T0;
        for (int i = 0; i < STEPS; i++) {
            long cost = 1 + random.nextLong(random.nextInt(3) == 0 ? limit.ceiling() : limit.ceiling() / 15);
            List<Object> reply = ask(now, "i" + i, cost);
            if (reply.get(0).equals("granted")) {
                grants.add(new Charge(now, cost));
                end(now, "i" + i, cost);
                long from = now - MIN;
                assertThat(grants.stream()
                                .filter(grant -> grant.at() > from)
                                .mapToLong(Charge::units)
                                .sum())
                        .as("seed %d, step %d", seed, i)
                        .isLessThanOrEqualTo(perMinute);
            } else {
                now += random.nextInt(2) == 0 ? (Long) reply.get(1) : random.nextLong((Long) reply.get(1));
            }
            now += random.nextInt(30) == 0 ? random.nextLong(2 * MIN) : random.nextLong(S / 10);
        }
    }

    /** A smaller burst makes the calls before it count in the minute: until then no gate was kept. */
    @Test
    void aSmallerBurstGivesNoSecondMinute() {
        scripts.install(T0, modelClass(-1, whole("itpm", 1000)));
        assertThat(ask(T0, "a", 1000)).startsWith("granted");
        scripts.install(T0, modelClass(-1, perMinute("itpm", 1000, 10, 5)));
        assertThat(ask(T0 + 6 * S, "b", 900)).as("the bucket is full again").startsWith("wait");
        assertThat(ask(T0 + 66 * S, "b", 900)).startsWith("granted");
    }
}
