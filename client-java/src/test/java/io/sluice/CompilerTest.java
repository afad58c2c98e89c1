package io.sluice;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.RefillLimit.Finds;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

@Tag("contract")
class CompilerTest {
    private static final Weights REQUESTS = new Weights(1, 1, 0, 0, 0, 0);
    private static final Weights TOKENS = new Weights(1, 0, 1, 1, 1, 1);

    /** The policy's own settings and one limit of the project; worked out by hand. Headroom 0.9, burst 5 s, quantum 60 s. */
    @ParameterizedTest
    @MethodSource
    void compiles(String settings, String limit, RefillLimit expected) {
        Policy policy = Policy.parse("project: p\nprovider: openai\n" + settings + "\nlimits: {" + limit + "}");

        assertThat(policy.scopes()).singleElement().isEqualTo(new ScopeLimits("p", -1, List.of(expected)));
    }

    static Stream<Arguments> compiles() {
        return Stream.of(
                // 60 × 0.9 = 54 a minute; the burst is 5,000,000 ticks of it.
                row(
                        "",
                        "rpm: 60",
                        new RefillLimit("rpm", 54, 60_000_000, 1, 270_000_000, 54, 60_000_000, 60, 60, REQUESTS)),
                // 55 × 0.9 = 49.5: ten times finer.
                row(
                        "",
                        "rpm: 55",
                        new RefillLimit("rpm", 495, 600_000_000, 1, 2_475_000_000L, 49, 60_000_000, 55, 55, REQUESTS)),
                // 55 × 0.95 = 52.25: a hundred times.
                row(
                        "headroom: 0.95",
                        "rpm: 55",
                        new RefillLimit(
                                "rpm", 5225, 6_000_000_000L, 1, 26_125_000_000L, 52, 60_000_000, 55, 55, REQUESTS)),
                row(
                        "",
                        "tpm: 2000000",
                        new RefillLimit(
                                "tpm",
                                1_800_000,
                                60_000_000,
                                1,
                                9_000_000_000_000L,
                                1_800_000,
                                60_000_000,
                                2_000_000,
                                2_000_000,
                                TOKENS)),
                row("", "rpm: 0", new RefillLimit("rpm", 0, 60_000_000, 1, 0, 0, 60_000_000, 0, 1, REQUESTS)),
                // A provider that enforces 6,000 a minute as 100 a second: 5,400 ÷ 60 = 90 at once.
                row(
                        "quantum: 1s",
                        "rpm: 6000",
                        new RefillLimit(
                                "rpm", 5400, 60_000_000, 1, 27_000_000_000L, 90, 1_000_000, 100, 6000, REQUESTS)),
                // The limit's own settings win.
                row(
                        "quantum: 1s",
                        "rpm: {amount: 6000, headroom: 1, burst: 1s, quantum: 2s}",
                        new RefillLimit(
                                "rpm", 6000, 60_000_000, 1, 6_000_000_000L, 200, 2_000_000, 200, 6000, REQUESTS)),
                // Short periods: the span is the period, a minute is six of them.
                row(
                        "burst: 1s",
                        "x: {amount: 100, per: 10s, of: requests}",
                        new RefillLimit("x", 90, 10_000_000, 1, 90_000_000, 90, 10_000_000, 100, 600, REQUESTS)),
                // A bucket holds at most its period.
                row(
                        "",
                        "x: {amount: 10, per: 1s, of: requests}",
                        new RefillLimit("x", 9, 1_000_000, 1, 9_000_000, 9, 1_000_000, 10, 600, REQUESTS)),
                // An hour still has headroom and ticks of 1 µs; the policy's quantum is for minutes only.
                row(
                        "quantum: 1s",
                        "x: {amount: 3600, per: hour, of: requests}",
                        new RefillLimit(
                                "x",
                                3240,
                                3_600_000_000L,
                                1,
                                16_200_000_000L,
                                3240,
                                3_600_000_000L,
                                3600,
                                60,
                                REQUESTS)),
                // Longer ones are used in full: 1,000,000 in 18,000,000 ticks of 1 ms; 3,333 a minute.
                row(
                        "",
                        "x: {amount: 1000000, per: 5h, window: refill, of: tokens}",
                        new RefillLimit(
                                "x",
                                1_000_000,
                                18_000_000,
                                1_000,
                                5_000_000_000L,
                                1_000_000,
                                18_000_000_000L,
                                1_000_000,
                                3333,
                                TOKENS)),
                row(
                        "",
                        "rpd: {amount: 200, window: refill}",
                        new RefillLimit(
                                "rpd", 200, 86_400_000, 1_000, 1_000_000, 200, 86_400_000_000L, 200, 1, REQUESTS)),
                // Above a day in seconds; a burst below one tick is one tick.
                row(
                        "burst: 500ms",
                        "x: {amount: 700, per: 7d, window: refill, of: requests}",
                        new RefillLimit("x", 700, 604_800, 1_000_000, 700, 700, 604_800_000_000L, 700, 1, REQUESTS)),
                // Weights with two decimals: everything in hundredths.
                row(
                        "",
                        "x: {amount: 60000, per: minute, weights: {input: 1, cache_read: 0.25, output: 4}}",
                        new RefillLimit(
                                "x",
                                5_400_000,
                                60_000_000,
                                1,
                                27_000_000_000_000L,
                                5_400_000,
                                60_000_000,
                                6_000_000,
                                6_000_000,
                                new Weights(100, 0, 100, 25, 0, 400))),
                // The decimals of weights_for count too.
                row(
                        "",
                        "tpm: {amount: 100, weights_for: {m: {output: 1.5}}}",
                        new RefillLimit(
                                "tpm",
                                900,
                                60_000_000,
                                1,
                                4_500_000_000L,
                                900,
                                60_000_000,
                                1000,
                                1000,
                                new Weights(10, 0, 10, 10, 10, 10))),
                // 150,119,982 × 60,000,000 is just below 2^53.
                row(
                        "",
                        "tpm: 166799980",
                        new RefillLimit(
                                "tpm",
                                150_119_982,
                                60_000_000,
                                1,
                                750_599_910_000_000L,
                                150_119_982,
                                60_000_000,
                                166_799_980,
                                166_799_980,
                                TOKENS)),
                // 150,119,991 × 60,000,000 is just above: both are divided by 3.
                row(
                        "",
                        "tpm: 166799990",
                        new RefillLimit(
                                "tpm",
                                50_039_997,
                                20_000_000,
                                1,
                                250_199_985_000_000L,
                                150_119_991,
                                60_000_000,
                                166_799_990,
                                166_799_990,
                                TOKENS)),
                // 900,000,000 in 60,000,000 ticks is 15 a tick.
                row(
                        "",
                        "tpm: 1000000000",
                        new RefillLimit(
                                "tpm",
                                15,
                                1,
                                1,
                                75_000_000,
                                900_000_000,
                                60_000_000,
                                1_000_000_000,
                                1_000_000_000,
                                TOKENS)));
    }

    /** What does not refill: a whole window, in units of cost; no headroom. A minute's part bounds what is booked late. */
    static Stream<Arguments> compilesWindows() {
        return Stream.of(
                row("", "rpd: {amount: 1440, window: calendar}", window("rpd", 1440, 1, 0, 0, 1, REQUESTS)),
                row("", "rpd: {amount: 0, window: calendar}", window("rpd", 0, 1, 0, 0, 1, REQUESTS)),
                // A month has 43,200 minutes or so; three hundredths are the smallest part of a token's weight.
                row(
                        "",
                        "x: {amount: 4320000, per: month, zone: UTC, weights: {input: 0.03}}",
                        window("x", 432_000_000, 10_000, 0, 0, 1, new Weights(100, 0, 3, 0, 0, 0))),
                // Sixty slots of ten seconds; 100 a minute.
                row(
                        "headroom: 0.5",
                        "x: {amount: 1000, per: 10m, window: rolling, of: requests}",
                        window("x", 1000, 100, 600_000_000, 10_000_000, 0, REQUESTS)),
                // No slot is shorter than a sixtieth, or sixty of them would not cover the period.
                row(
                        "",
                        "x: {amount: 5, per: 1s, window: rolling, of: requests}",
                        window("x", 5, 300, 1_000_000, 16_667, 0, REQUESTS)));
    }

    @ParameterizedTest
    @MethodSource
    void compilesWindows(String settings, String limit, RefillLimit expected) {
        compiles(settings, limit, expected);
    }

    private static RefillLimit window(
            String name, long amount, long minute, long spanUs, long widthUs, int calendar, Weights weights) {
        return new RefillLimit(
                name,
                0,
                1,
                1,
                amount,
                amount,
                spanUs,
                amount,
                minute,
                weights,
                widthUs,
                calendar,
                1_000_000,
                Finds.NONE);
    }

    /** Google counts its days in California. */
    @Test
    void aProvidersDaysAreItsOwn() {
        assertThat(Policy.parse("{project: p, provider: gemini, limits: {rpd: 100}}")
                        .calendars())
                .singleElement()
                .asString()
                .startsWith("day America/Los_Angeles -28800 954669600 -25200 ");
    }

    @Test
    void namesEachCalendarOnceByItsPlace() {
        Policy policy = Policy.parse("""
                project: p
                provider: gemini
                limits: {rpd: {amount: 5, zone: UTC}, tpd: {amount: 5, zone: Asia/Tokyo}}
                classes:
                  - {name: a, models: [a], limits: {tpd: {amount: 5, zone: UTC}, m: {amount: 5, per: month, zone: UTC, of: tokens}}}
                each: [{by: agent, limits: {tpd: {amount: 5, zone: Asia/Tokyo}}}]
                """);

        assertThat(policy.calendars()).containsExactly("day UTC 0", "day Asia/Tokyo 32400", "month UTC 0");
        assertThat(policy.scopes().stream()
                        .flatMap(scope -> scope.refills().stream().map(RefillLimit::calendar)))
                .containsExactly(1, 2, 3, 1, 2);
    }

    /** Only a part may be in force: ten thousand times finer if that is exact, and what was admitted is remembered. */
    @Test
    void countsFinerWhereTheAmountInForceChanges() {
        Policy policy = Policy.parse("""
                project: p
                ramp: {from: 0.1, double_every: 30s, agents_per_minute: 7}
                limits: {rpm: {amount: 60, adopt: true}, agents: 50}
                classes:
                  - {name: a, models: [a], limits: {rpm: {adaptive: {start: 6, max: 60}}, tpm: 2000000}}
                  - {name: b, models: [b], limits: {x: {amount: 60, per: 5h, window: refill, of: requests}}}
                """);

        assertThat(policy.scopes())
                .containsExactly(
                        new ScopeLimits(
                                "p", -1, List.of(inForce("rpm", 54, 60, 1_000, 1_000_000, Finds.ADOPT, REQUESTS))),
                        new ScopeLimits(
                                "c:a",
                                -1,
                                0,
                                100_000,
                                30_000_000,
                                List.of(
                                        inForce("rpm", 54, 60, 10_000, 100_000, Finds.ADAPTIVE, REQUESTS),
                                        inForce("tpm", 1_800_000, 2_000_000, 10, 1_000_000, Finds.NONE, TOKENS))),
                        new ScopeLimits("c:b", -1, 0, policy.scopes().get(2).refills()),
                        new ScopeLimits(
                                "n:p",
                                50,
                                List.of(new RefillLimit(
                                        "agents_per_minute",
                                        7,
                                        60_000_000,
                                        1,
                                        60_000_000,
                                        7,
                                        60_000_000,
                                        7,
                                        7,
                                        REQUESTS))));
        assertThat(policy.scopes().get(2).refills())
                .singleElement()
                .extracting(RefillLimit::rate)
                .isEqualTo(60L);
    }

    /** A provider may state far more than the policy guessed: digits for that are worth more than finer ones. */
    @Test
    void anAdoptedAmountMayBeAThousandTimesThePolicys() {
        Policy policy = Policy.parse("{project: p, limits: {itpm: {amount: 10000, adopt: true}}}");

        RefillLimit limit = policy.scopes().get(0).refills().get(0);
        assertThat(limit.spanAmount() * limit.factor()).isLessThanOrEqualTo(Weights.MAX_EXACT / 1_000);
    }

    private static RefillLimit inForce(
            String name, long usable, long amount, long finer, long startPpm, Finds finds, Weights weights) {
        return new RefillLimit(
                name,
                usable * finer,
                60_000_000 * finer,
                1,
                usable * finer * 5_000_000,
                usable,
                60_000_000,
                amount,
                amount,
                weights,
                5_000_000,
                0,
                startPpm,
                finds);
    }

    private static Arguments row(String settings, String limit, RefillLimit expected) {
        return Arguments.of(settings, limit, expected);
    }

    @Test
    void compilesEachScope() {
        Policy policy = Policy.parse("""
                project: p
                limits: {concurrency: 0, rpm: 60}
                classes:
                  - {name: a, models: [a], limits: {concurrency: 7}}
                  - {name: b, models: [b], limits: {tpm: 600, rpm: 60}}
                """);

        assertThat(policy.scopes()).extracting(ScopeLimits::scope).containsExactly("p", "c:a", "c:b");
        assertThat(policy.scopes()).extracting(ScopeLimits::slots).containsExactly(0L, 7L, ScopeLimits.UNLIMITED);
        assertThat(policy.scopes().get(2).refills())
                .extracting(RefillLimit::name)
                .containsExactly("rpm", "tpm");
        ModelClass b = Objects.requireNonNull(policy.classOf("b"));
        assertThat(policy.scopesOf(b, "b", null, null))
                .containsExactly(policy.scopes().get(0), policy.scopes().get(2));
    }

    /** One that bounds nothing is not kept; one that bounds only its agents is kept as that alone. */
    @Test
    void compilesTheScopesOfPartsInTheOrderOfTheDocument() {
        Policy policy = Policy.parse("""
                project: p
                limits: {agents: 50}
                classes:
                  - {name: a, models: [a], limits: {rpm: 60, agents: 0}}
                  - {name: b, models: [b]}
                workspaces:
                  - {name: prod, limits: {concurrency: 100}, classes: [{name: b, limits: {rpm: 60}}, {name: a}]}
                  - {name: bare, limits: {}}
                teams:
                  - {name: research, weight: 2, limits: {concurrency: 20, agents: 5}}
                  - {name: ops, classes: [{name: a, limits: {agents: 3}}]}
                each:
                  - {by: run, limits: {concurrency: 2}, max: 7}
                  - {by: agent, limits: {rpm: 60, concurrency: 4}}
                  - {by: team, limits: {}}
                """);

        RefillLimit rpm = new RefillLimit("rpm", 54, 60_000_000, 1, 270_000_000, 54, 60_000_000, 60, 60, REQUESTS);
        assertThat(policy.scopes())
                .containsExactly(
                        new ScopeLimits("p", -1, 0, List.of()),
                        new ScopeLimits("c:a", -1, 0, List.of(rpm)),
                        new ScopeLimits("c:b", -1, 0, List.of()),
                        new ScopeLimits("w:prod", 100, 0, List.of()),
                        new ScopeLimits("w:prod|b", -1, 0, List.of(rpm)),
                        new ScopeLimits("t:research", 20, 0, List.of()),
                        new ScopeLimits("r:", 2, 7, List.of()),
                        new ScopeLimits("a:", 4, 10_000, List.of(rpm)),
                        new ScopeLimits("n:p", 50, 0, List.of()),
                        new ScopeLimits("n:c:a", 0, 0, List.of()),
                        new ScopeLimits("n:t:research", 5, 0, List.of()),
                        new ScopeLimits("n:t:ops|a", 3, 0, List.of()));
    }

    /** Whatever is accepted refills exactly amount × headroom in a period and stays below 2^53. */
    @Test
    void refillsExactly() {
        long seed = Long.getLong("test.seed", 1); // the same in every build; another by hand
        Random random = new Random(seed);
        int accepted = 0;
        for (int i = 0; i < 2_000; i++) {
            BigDecimal amount = BigDecimal.valueOf(random.nextInt(1, 1 << random.nextInt(1, 31)), random.nextInt(3));
            BigDecimal headroom = BigDecimal.valueOf(random.nextInt(100, 10_001), 4);
            int seconds = random.nextInt(1, 3_601);
            int burstMs = random.nextInt(1, 60_000);
            String text = "project: p\nburst: " + burstMs + "ms\nheadroom: " + headroom + "\nlimits: {x: {amount: "
                    + amount + ", per: " + seconds + "s, weights: {output: 0.25}}}";
            RefillLimit limit;
            try {
                limit = Policy.parse(text).scopes().get(0).refills().get(0);
            } catch (InvalidPolicyException e) {
                continue;
            }
            accepted++;
            BigInteger ticks = BigInteger.valueOf(seconds * 1_000_000L);
            BigInteger full = BigInteger.valueOf(limit.rate()).multiply(ticks);
            BigDecimal units = amount.multiply(headroom).movePointRight(2);
            assertThat(new BigDecimal(full))
                    .as("seed %d: %s", seed, text)
                    .isEqualByComparingTo(units.multiply(BigDecimal.valueOf(limit.factor())))
                    .isLessThanOrEqualTo(BigDecimal.valueOf(Weights.MAX_EXACT));
            assertThat(limit.capacity())
                    .as("seed %d: %s", seed, text)
                    .isEqualTo(limit.rate() * Math.min(burstMs * 1_000L, seconds * 1_000_000L));
            assertThat(limit.factor()).isLessThanOrEqualTo(Weights.MAX_EXACT);
        }
        assertThat(accepted).as("seed %d", seed).isGreaterThan(500);
    }
}
