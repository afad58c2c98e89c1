package io.sluice;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.InvalidPolicyException.Problem;
import io.sluice.PolicyView.Resolved;
import io.sluice.Store.Layout;
import io.sluice.Store.ScopeCost;
import io.sluice.Store.StoredPolicy;
import java.math.BigDecimal;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Limits in money: what a call costs by the prices of its model. */
class MoneyTest {
    /** Nothing yet. */
    private static final Learning LEARNED = new Learning(new FakeStore(), "acme", () -> {});

    private static final String PRICES = """
            prices:
              "claude-sonnet-*": {input: 3, cache_read: 0.3, cache_write: 3.75, output: 15}
              "claude-haiku-*": {input: 1, output: 5}
              "claude-haiku-4-5*": {input: 0.8, cache_read: 0.000001, output: 4}
              "claude-free": {input: 0, output: 0}
            """;

    private static final String EVERYWHERE = """
            project: p
            provider: anthropic
            classes:
              - {name: sonnet, models: ["claude-sonnet-*"], limits: {usd: {amount: 5, per: hour}}}
              - {name: other, models: ["claude-haiku-*", "claude-free"]}
            limits: {usd: {amount: 8, per: hour}, usd_minute: {amount: 1, per: minute, of: usd}}
            workspaces: [{name: w, limits: {usd: {amount: 4, per: hour}}}]
            teams: [{name: t, limits: {usd: {amount: 3, per: hour}}, classes: [{name: sonnet, limits: {usd: {amount: 2, per: hour}}}]}]
            each: [{by: agent, limits: {usd: {amount: 1, per: hour}}}]
            """ + PRICES;

    private static PolicyView view(String text) {
        List<Layout> layouts = Policy.parse(text).scopes().stream()
                .map(scope -> new Layout(
                        scope.scope(),
                        scope.refills().stream().map(RefillLimit::name).toList(),
                        scope.refills().stream().map(limit -> true).toList()))
                .toList();
        return new PolicyView("p", new StoredPolicy("1:e", text, layouts));
    }

    private static Resolved resolved(String text, Call call) {
        return Objects.requireNonNull(view(text).resolve(call, LEARNED));
    }

    /** In micro-dollars; a dollar has 10^12 parts here, because a price has 6 decimals of a micro-dollar. */
    @ParameterizedTest
    @CsvSource({
        // 2,000 × 3 + 16,000 × 0.3 + 1,000 × 3.75 + 400 × 15
        "claude-sonnet-5-5, 2000, 16000, 1000, 400, 20550",
        "claude-sonnet-5-5, 0,    0,     0,    0,   0",
        "claude-sonnet-5-5, 1,    0,     0,    0,   3",
        // Cached input without a price of its own costs what fresh input does: 3,000 × 1 + 10 × 5.
        "claude-haiku-5,    1000, 1000,  1000, 10,  3050",
        // The more specific price: 1,000 × 0.8 + 1,000,000 × 0.000001 + 1,000 × 0.8 + 10 × 4
        "claude-haiku-4-5,  1000, 1000000, 1000, 10, 1641",
        "CLAUDE-HAIKU-4-5,  0,    1,     0,    0,   0.000001",
        "claude-free,       1000, 1000,  1000, 10,  0"
    })
    void pricesACallExactly(String model, long input, long cached, long written, long output, BigDecimal microDollars) {
        Resolved call = resolved(EVERYWHERE, Call.of(model));
        List<ScopeCost> costs = call.costsOf(new Permit.Reserved(1, input, cached, written, output));

        assertThat(costs.get(0))
                .isEqualTo(new ScopeCost(
                        "p",
                        List.of(
                                microDollars.movePointRight(6).longValueExact(),
                                microDollars.movePointRight(6).longValueExact())));
    }

    @Test
    void drawsOnTheMoneyOfEveryScope() {
        Resolved call = resolved(
                EVERYWHERE,
                Call.of("claude-sonnet-5-5")
                        .inputTokens(1)
                        .maxOutputTokens(1)
                        .workspace("w")
                        .team("t")
                        .agent("x"));

        assertThat(call.costs())
                .containsExactly(
                        new ScopeCost("p", List.of(18_000_000L, 18_000_000L)),
                        new ScopeCost("c:sonnet", List.of(18_000_000L)),
                        new ScopeCost("w:w", List.of(18_000_000L)),
                        new ScopeCost("t:t", List.of(18_000_000L)),
                        new ScopeCost("t:t|sonnet", List.of(18_000_000L)),
                        new ScopeCost("a:x", List.of(18_000_000L)));
    }

    /** The amount is in dollars and used in full: headroom is for what a provider counts otherwise than we do. */
    @Test
    void anAmountIsDollarsWithoutHeadroom() {
        RefillLimit usd = Policy.parse(EVERYWHERE).scopes().get(0).refills().get(0);

        assertThat(usd.weights().unit()).isEqualTo(1_000_000_000_000L);
        assertThat(usd.ceiling()).isEqualTo(8 * usd.weights().unit());
        assertThat(Policy.parse(EVERYWHERE).warnings()).isEmpty();
    }

    @Test
    void anOwnHeadroomCounts() {
        RefillLimit usd = Policy.parse("project: p\nlimits: {usd: {amount: 8, per: hour, headroom: 0.5}}\n" + PRICES)
                .scopes()
                .get(0)
                .refills()
                .get(0);

        assertThat(usd.ceiling()).isEqualTo(4 * usd.weights().unit());
    }

    // ---- without a price

    private static final String WIDE = """
            project: p
            classes:
              - {name: all, models: ["*"]}
            teams: [{name: t, limits: {usd: {amount: 5, per: hour}}}]
            prices: {"m-*": {input: 1, output: 2}}
            """;

    @Test
    void aModelWithoutAPriceIsRefusedWhereMoneyIsCounted() {
        PolicyView view = view(WIDE);
        Call unpriced = Call.of("n-1").team("t");

        assertThat(view.resolve(unpriced, LEARNED)).isNull();
        Refusal refusal = Refusals.unresolved("p", view.policy, unpriced);
        assertThat(refusal.kind()).isEqualTo(Refusal.Kind.UNPRICED);
        assertThat(refusal.scope()).isEqualTo("t:t");
        assertThat(refusal.limit()).isEqualTo("usd");
        assertThat(refusal.retryAfter()).isNull();
        assertThat(refusal.message()).contains("'n-1'", "usd of t:t");
        assertThat(view.resolve(Call.of("m-1").team("t"), LEARNED)).isNotNull();
        assertThat(view.resolve(Call.of("n-1"), LEARNED)).as("where it is not").isNotNull();
    }

    @Test
    void whereItOnlyWatchesSuchACallCostsNoMoney() {
        Resolved call =
                resolved(WIDE + "mode: shadow\n", Call.of("n-1").inputTokens(5).team("t"));

        assertThat(call.costs()).contains(new ScopeCost("t:t", List.of(0L)));
    }

    /** No price at all for a pattern is a mistake; one for some of its models may be meant, and is told. */
    @Test
    void warnsOfAClassThatIsWiderThanThePrices() {
        assertThat(Policy.parse(WIDE).warnings()).singleElement().satisfies(warning -> {
            assertThat(warning.path()).isEqualTo("/teams/0/limits/usd");
            assertThat(warning.message()).contains("every model of * of class all", "refused as unpriced");
        });
        assertThat(Policy.parse(WIDE.replace("m-*", "*")).warnings())
                .extracting(Problem::message)
                .isEmpty();
    }
}
