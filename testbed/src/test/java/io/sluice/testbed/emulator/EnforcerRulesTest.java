package io.sluice.testbed.emulator;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.testbed.emulator.Decision.Accepted;
import io.sluice.testbed.emulator.Decision.Rejected;
import io.sluice.testbed.emulator.Denial.NoMoney;
import io.sluice.testbed.emulator.Denial.PlanUsedUp;
import io.sluice.testbed.emulator.Denial.Steep;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** Days, money, plans, the rise of use and overload, by each provider's rules, on a clock that moves when told. */
class EnforcerRulesTest {
    private final ManualTime time = new ManualTime();
    private long ids;

    @Test
    void geminisDayBeginsAtMidnightInCalifornia() {
        // 12:00 UTC is 05:00 there in summer: the next day begins at 07:00 UTC.
        Enforcer enforcer = enforcer("gemini", "rpd=2");
        accept(enforcer, call(1));
        accept(enforcer, call(1));

        Rejected rejected = reject(enforcer, call(1));

        assertThat(rejected.kind()).isEqualTo(Kind.DAILY_REQUESTS);
        assertThat(rejected.waitUs()).isEqualTo(us(Duration.ofHours(19)));
        time.advance(Duration.ofHours(19).minusNanos(1_000));
        reject(enforcer, call(1));
        time.advance(Duration.ofNanos(1_000));
        accept(enforcer, call(1));
    }

    @Test
    void theDayOnWhichClocksGoBackHas25Hours() {
        // The day ends at 08:00 UTC, no longer at 07:00, from 1 November 2026 on.
        time.advance(Duration.between(time.instant(), Instant.parse("2026-11-01T07:00:00Z")));
        Enforcer enforcer = enforcer("gemini", "rpd=1");
        accept(enforcer, call(1));

        assertThat(reject(enforcer, call(1)).waitUs()).isEqualTo(us(Duration.ofHours(25)));
    }

    @Test
    void openRoutersDayBeginsAtMidnightUtc() {
        Enforcer enforcer = enforcer("openrouter", "rpd=1");
        accept(enforcer, call(1));

        assertThat(reject(enforcer, call(1)).waitUs()).isEqualTo(us(Duration.ofHours(12)));
    }

    @Test
    void openAisDayRefillsAllTheTime() {
        // Of 200 a day one is back after 86,400 s / 200 = 432 s.
        Enforcer enforcer = enforcer("openai", "rpd=200");
        for (int i = 0; i < 200; i++) {
            accept(enforcer, call(1));
        }

        assertThat(reject(enforcer, call(1)).waitUs()).isEqualTo(us(Duration.ofSeconds(432)));
        time.advance(Duration.ofSeconds(432));
        accept(enforcer, call(1));
        reject(enforcer, call(1));
    }

    @Test
    void thereIsRoomForABillionTokensADay() {
        Enforcer enforcer = enforcer("openai", "tpd=1000000000");
        accept(enforcer, call(1_000_000_000));

        // 1,000,000,000 tokens a day are 11,574.07 a second.
        assertThat(reject(enforcer, call(11_575)).waitUs()).isEqualTo(1_001_000);
        time.advance(Duration.ofDays(1));
        accept(enforcer, call(1_000_000_000));
    }

    @Test
    void aNewDayCanBeginWhenATestWantsItTo() {
        Enforcer enforcer = enforcer("gemini", "rpd=1", "new-day-in", "30s");
        accept(enforcer, call(1));
        assertThat(reject(enforcer, call(1)).waitUs()).isEqualTo(us(Duration.ofSeconds(30)));
        time.advance(Duration.ofSeconds(30));
        accept(enforcer, call(1));
        assertThat(reject(enforcer, call(1)).waitUs()).isEqualTo(us(Duration.ofHours(24)));

        for (int i = 0; i < 3; i++) {
            enforcer.behave(now -> now.with("new-day-in", "0s"));
            accept(enforcer, call(1));
            reject(enforcer, call(1));
        }
    }

    @Test
    void aUsedUpDayIsToldBeforeAUsedUpMinute() {
        Enforcer enforcer = enforcer("anthropic", "rpm=1,rpd=1,tpd=100");
        accept(enforcer, call(100));

        assertThat(reject(enforcer, call(1)).kind()).isEqualTo(Kind.DAILY_REQUESTS);
    }

    @Test
    void aClosedLimitNamesNoWait() {
        for (String provider : List.of("anthropic", "openai", "gemini", "openrouter")) {
            for (String limit : List.of("rpm=0", "itpm=0", "tpm=0", "rpd=0", "tpd=0")) {
                assertThat(reject(enforcer(provider, limit), call(1)).waitUs()).isZero();
            }
        }
    }

    @Test
    void openAiChargesWhatTheDialectSaysAndNoOutput() {
        Enforcer enforcer = enforcer("openai", "tpm=60000");
        Accepted accepted = accept(enforcer, charged(100, 20_000));
        enforcer.produced(accepted.running(), 15_000);

        assertThat(left(accept(enforcer, charged(1, 1)), Kind.TOKENS)).isEqualTo(39_999);
    }

    @Test
    void anthropicsTokensCountOutputAsItIsProduced() {
        Enforcer enforcer = enforcer("anthropic", "tpm=60000,tpd=100000");
        Accepted accepted = accept(enforcer, call(10_000));
        enforcer.produced(accepted.running(), 15_000);

        Accepted next = accept(enforcer, call(0));
        assertThat(left(next, Kind.TOKENS)).isEqualTo(35_000);
        assertThat(left(next, Kind.DAILY_TOKENS)).isEqualTo(75_000);
        assertThat(enforcer.stats().at("/worst_minute/tokens").asLong()).isEqualTo(25_000);
    }

    @Test
    void openAisFailedRequestsCountWhileOneIsLeft() {
        Enforcer enforcer = enforcer("openai", "rpm=3,tpm=60");
        accept(enforcer, call(60));
        assertThat(reject(enforcer, call(60)).kind()).isEqualTo(Kind.TOKENS);
        assertThat(reject(enforcer, call(60)).kind()).isEqualTo(Kind.TOKENS);

        // Three of three are gone; what is turned away now takes no more.
        for (int i = 0; i < 5; i++) {
            Rejected rejected = reject(enforcer, call(1));
            assertThat(rejected.kind()).isEqualTo(Kind.REQUESTS);
            assertThat(rejected.waitUs()).isEqualTo(us(Duration.ofSeconds(20)));
        }
        assertThat(enforcer.stats().path("requests").asLong()).isEqualTo(3);
    }

    @Test
    void aMonthsMoneyIsBackOnTheFirst() {
        // 3 dollars a million of input, 15 of output: 100,000 + 20,000 tokens are 0.60.
        Enforcer enforcer = enforcer("anthropic", "usd=0.6");
        Accepted accepted = accept(enforcer, call(100_000));
        enforcer.produced(accepted.running(), 19_999);
        accept(enforcer, call(0));
        enforcer.produced(accepted.running(), 1);

        Rejected rejected = reject(enforcer, call(0));

        assertThat(rejected.kind()).isEqualTo(Kind.SPEND);
        assertThat(noMoney(rejected).as()).isEqualTo(Spend.As.CAP);
        assertThat(noMoney(rejected).until()).isEqualTo(Instant.parse("2026-09-01T00:00:00Z"));
        assertThat(enforcer.stats().path("usd").asDouble()).isEqualTo(0.6);
        time.advance(Duration.between(time.instant(), Instant.parse("2026-09-01T00:00:00Z")));
        accept(enforcer, call(0));
    }

    @Test
    void moneyIsTheAccountsNotThePools() {
        Enforcer enforcer = new Enforcer(options("anthropic", "usd=0.3").pools(Map.of("haiku", "haiku*")));
        accept(enforcer, call("haiku", 100_000));

        assertThat(reject(enforcer, call("sonnet", 1)).kind()).isEqualTo(Kind.SPEND);
    }

    @Test
    void creditsAreGoneForGood() {
        Enforcer enforcer = enforcer("openai", "usd=0.3");
        accept(enforcer, call(100_000));
        time.advance(Duration.ofDays(400));

        Rejected rejected = reject(enforcer, call(1));

        assertThat(rejected.kind()).isEqualTo(Kind.CREDITS);
        assertThat(rejected.waitUs()).isZero();
        assertThat(noMoney(rejected).until()).isNull();
    }

    @Test
    void geminisMoneyIsBackAfterTenMinutes() {
        Enforcer enforcer = enforcer("gemini", "usd=0.3");
        accept(enforcer, call(60_000));
        time.advance(Duration.ofMinutes(4));
        accept(enforcer, call(40_000));

        assertThat(reject(enforcer, call(1)).waitUs()).isEqualTo(us(Duration.ofMinutes(6)));
        time.advance(Duration.ofMinutes(6));
        accept(enforcer, call(1));
    }

    @Test
    void openRoutersFreeModelsCostNothing() {
        Enforcer enforcer = enforcer("openrouter", "usd=0.3");
        accept(enforcer, call("vendor/model:free", 100_000_000));
        accept(enforcer, call("vendor/model", 100_000));

        assertThat(reject(enforcer, call(1)).kind()).isEqualTo(Kind.CREDITS);
    }

    @Test
    void cacheReadsAndWritesHaveTheirOwnPrices() {
        Enforcer enforcer = new Enforcer(options("anthropic", "rpm=10").prices(Prices.parse("input=1,cache-read=0.1")));
        Call call = new Call("-", "m", false, 1_000_000, 2_000_000, 4_000_000, 1, 0, false, Duration.ZERO);
        accept(enforcer, call);

        // 1 + 2 x 0.1 + 4 x 3.75
        assertThat(enforcer.stats().path("usd").asDouble()).isEqualTo(16.2);
    }

    @Test
    void aSharpRiseIsRefusedThoughNoLimitIsReached() {
        Enforcer enforcer = enforcer("anthropic", "itpm=1000000", "acceleration", "start=60000,growth=1.5");
        accept(enforcer, call(60_000));
        time.advance(Duration.ofSeconds(40));

        Rejected rejected = reject(enforcer, call(1));

        assertThat(rejected.kind()).isEqualTo(Kind.ACCELERATION);
        assertThat(rejected.waitUs()).isEqualTo(us(Duration.ofSeconds(20)));
        assertThat(rejected.denial()).isEqualTo(new Steep(Acceleration.Of.INPUT, 60_000, 90_000, 20_000_000));
        time.advance(Duration.ofSeconds(20));
        accept(enforcer, call(90_000));
        reject(enforcer, call(1));
        // After a rest it begins anew.
        time.advance(Duration.ofMinutes(2));
        accept(enforcer, call(60_000));
        reject(enforcer, call(1));
    }

    @Test
    void aSteadyRiseIsNotRefused() {
        Enforcer enforcer =
                enforcer("anthropic", "rpm=10000", "acceleration", "start=600,growth=2,every=1s,of=requests");
        // 10 a second, then 20, then 40: each at most twice the second before.
        for (int calls : new int[] {10, 20, 40, 40, 20, 40}) {
            for (int i = 0; i < calls; i++) {
                accept(enforcer, call(1));
            }
            time.advance(Duration.ofSeconds(1));
        }
    }

    @Test
    void aPlansWindowBeginsWithItsFirstCallAndEndsFiveHoursLater() {
        Enforcer enforcer = enforcer("anthropic", "rpm=100", "plan", "5h=1000,7d=100000");
        Accepted first = accept(enforcer, call(900));
        enforcer.produced(first.running(), 100);
        time.advance(Duration.ofHours(4));

        Rejected rejected = reject(enforcer, call(1));

        assertThat(rejected.kind()).isEqualTo(Kind.PLAN_WINDOW);
        assertThat(rejected.waitUs()).isEqualTo(us(Duration.ofHours(1)));
        assertThat(((PlanUsedUp) rejected.denial()).seen().deciding().name()).isEqualTo("5h");
        time.advance(Duration.ofHours(1));
        Accepted next = accept(enforcer, call(400));
        assertThat(requireNonNull(next.standing().plan()).windows())
                .extracting(PlanWindows.Use::used)
                .containsExactly(0.4, 0.014);
    }

    @Test
    void theWindowThatLastsLongestDecides() {
        Enforcer enforcer =
                enforcer("anthropic", "rpm=100", "plan", "5h=1000,7d=1000,5h-lasts=10s,5h-used=1,7d-used=1");

        assertThat(reject(enforcer, call(1)).waitUs()).isEqualTo(us(Duration.ofDays(7)));
    }

    @Test
    void overloadTakesItsShareInItsTimeAndCountsNothing() {
        Enforcer enforcer = enforcer("anthropic", "rpm=100", "overload", "share=0.25,from=10s,for=5s");
        decide(enforcer, 8);
        assertThat(enforcer.stats().path("rejected").path("overload").asLong()).isZero();
        time.advance(Duration.ofSeconds(10));
        decide(enforcer, 8);
        assertThat(enforcer.stats().path("rejected").path("overload").asLong()).isEqualTo(2);
        time.advance(Duration.ofSeconds(5));
        decide(enforcer, 8);

        JsonNode stats = enforcer.stats();
        assertThat(stats.path("rejected").path("overload").asLong()).isEqualTo(2);
        assertThat(stats.path("accepted").asLong()).isEqualTo(22);
        assertThat(stats.path("requests").asLong()).isEqualTo(22);
        assertThat(enforcer.log().after(0, 99, 99))
                .filteredOn(entry -> entry.event() == DecisionLog.Event.REJECTED)
                .extracting(DecisionLog.Entry::status)
                .containsExactly(529, 529);
    }

    @Test
    void behaviourChangesWhileItRunsAndEachKeepsItsOwnCounts() {
        Enforcer enforcer = enforcer("anthropic", "rpm=100", "plan", "5h=100");
        accept(enforcer, call(100));
        enforcer.behave(now -> now.with("overload", "share=1,status=500"));
        assertThat(reject(enforcer, call(1)).kind()).isEqualTo(Kind.SERVER);
        enforcer.behave(now -> now.with("overload", null));
        assertThat(reject(enforcer, call(1)).kind()).isEqualTo(Kind.PLAN_WINDOW);
        enforcer.behave(now -> now.with("plan", null));
        enforcer.finish(accept(enforcer, call(1)).running());
    }

    @Test
    void resetGoesBackToTheBehaviourOfTheStart() {
        Enforcer enforcer = enforcer("gemini", "rpd=1,usd=1", "new-day-in", "30s");
        enforcer.behave(now -> now.with("overload", "share=1").with("new-day-in", null));
        time.advance(Duration.ofSeconds(60));

        assertThat(enforcer.reset()).isTrue();

        enforcer.finish(accept(enforcer, call(1)).running());
        assertThat(reject(enforcer, call(1)).waitUs()).isEqualTo(us(Duration.ofSeconds(30)));
    }

    @Test
    void whatAProviderNeverDoesIsRefused() {
        assertThatThrownBy(() -> enforcer("openrouter", "rpm=1", "plan", "5h=1"))
                .hasMessage("openrouter has no plan windows");
        Enforcer enforcer = enforcer("openai", "rpm=1");
        assertThatThrownBy(() -> enforcer.behave(now -> now.with("spend", "as=window")))
                .hasMessage("spend: openai has no window: it has credits, cap, own");
    }

    @Test
    void aStreamsErrorIsDecidedWithItsAcceptance() {
        Enforcer enforcer = enforcer("anthropic", "rpm=100", "stream-error", "share=0.5,after=2,kind=cut");
        Call stream = new Call("-", "m", true, 1, 0, 0, 1, 1, false, Duration.ZERO);

        assertThat(accept(enforcer, stream).streamError()).isNull();
        assertThat(accept(enforcer, call(1)).streamError()).isNull();
        Accepted failing = accept(enforcer, stream);
        assertThat(requireNonNull(failing.streamError()).after()).isEqualTo(2);
        enforcer.fail(failing.running());

        assertThat(enforcer.stats().path("failed").asLong()).isEqualTo(1);
        assertThat(enforcer.stats().path("in_flight").asLong()).isEqualTo(2);
    }

    private void decide(Enforcer enforcer, int calls) {
        for (int i = 0; i < calls; i++) {
            enforcer.decide(call(1), ++ids);
        }
    }

    private Enforcer enforcer(String provider, String limits) {
        return new Enforcer(options(provider, limits));
    }

    private Enforcer enforcer(String provider, String limits, String behaviour, String text) {
        return new Enforcer(options(provider, limits).behaviour(Behaviour.NONE.with(behaviour, text)));
    }

    private EmulatorOptions options(String provider, String limits) {
        return EmulatorOptions.of(provider, Limits.parse(limits)).time(time);
    }

    private static Call call(long input) {
        return call("m", input);
    }

    private static Call call(String model, long input) {
        return new Call("-", model, false, input, 0, 0, input, 0, false, Duration.ZERO);
    }

    private static Call charged(long input, long charged) {
        return new Call("-", "m", false, input, 0, 0, input, charged, 0, 0, false, Duration.ZERO);
    }

    private static NoMoney noMoney(Rejected rejected) {
        return (NoMoney) rejected.denial();
    }

    private Accepted accept(Enforcer enforcer, Call call) {
        Decision decision = enforcer.decide(call, ++ids);
        assertThat(decision).isInstanceOf(Accepted.class);
        return (Accepted) decision;
    }

    private Rejected reject(Enforcer enforcer, Call call) {
        Decision decision = enforcer.decide(call, ++ids);
        assertThat(decision).isInstanceOf(Rejected.class);
        return (Rejected) decision;
    }

    private static long left(Accepted accepted, Kind kind) {
        return requireNonNull(accepted.standing().levels().get(kind)).remaining();
    }

    private static long us(Duration duration) {
        return duration.toNanos() / 1_000;
    }
}
