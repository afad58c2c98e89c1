package io.sluice.server.project;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.Admin.By;
import io.sluice.Admin.Step;
import io.sluice.Admin.Used;
import io.sluice.Status;
import io.sluice.server.problem.Problem;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Usage, its forecast and what is observed, as pure functions. */
class ViewsTest {
    private static final Instant NOON = Instant.parse("2026-11-30T12:00:00Z");

    private static Used used(
            String name, Instant at, long requests, long input, long cacheRead, long output, long usd) {
        return new Used(at, name, requests, input, cacheRead, 0, output, usd, 5, 0, Duration.ofHours(1));
    }

    @Test
    void aSpreadsheetRunsNoNameAsAFormula() {
        Span span = Span.of(null, null, null, null, NOON);
        String csv = UsageView.of(
                        span,
                        List.of(
                                used("@SUM(1)", NOON, 1, 2, 3, 4, 1_500_000),
                                used("-", NOON, 0, 0, 0, 0, 0),
                                used("a \"b\", c", NOON, 0, 0, 0, 0, 0)),
                        List.of())
                .csv();
        assertThat(csv.lines().skip(1))
                .containsExactly(
                        "2026-11-30T12:00:00Z,\"'@SUM(1)\",1,2,3,0,4,1.500000,5,0",
                        "2026-11-30T12:00:00Z,\"-\",0,0,0,0,0,0.000000,5,0",
                        "2026-11-30T12:00:00Z,\"a \"\"b\"\", c\",0,0,0,0,0,0.000000,5,0");
    }

    @Test
    void aSpanIsTheLastDayOrMonthUnlessSaid() {
        Span hours = Span.of(null, null, null, null, NOON);
        assertThat(hours.from()).isEqualTo(NOON.plusSeconds(1).minusSeconds(86_400));
        assertThat(hours.step()).isEqualTo(Step.HOUR);
        assertThat(hours.by()).isEqualTo(By.TEAM);
        Span days = Span.of("2026-11-01", "2026-11-30T12:00:00+02:00", "day", "model", NOON);
        assertThat(days.from()).isEqualTo(Instant.parse("2026-11-01T00:00:00Z"));
        assertThat(days.to()).isEqualTo(Instant.parse("2026-11-30T10:00:00Z"));
        assertThatThrownBy(() -> Span.of("2026-11-30", "2026-11-30", null, null, NOON))
                .isInstanceOf(Problem.class);
        assertThatThrownBy(() -> Span.of("yesterday", null, null, null, NOON)).hasMessageContaining("/from");
        assertThatThrownBy(() -> Span.of(null, null, "week", null, NOON)).hasMessageContaining("hour or day");
    }

    @Test
    void moneyIsGoneAtThePaceOfTheLastDayOrNotBeforeItsReset() {
        Status.Limit month = new Status.Limit("p", "usd", 500, 24, 500, 0, 864_000_000);
        List<Used> day =
                List.of(used("research", NOON, 1, 1, 0, 1, 20_000_000), used("ops", NOON, 1, 1, 0, 1, 4_000_000));
        Forecast.Outlook outlook = Forecast.of(List.of(month), day, NOON).get(0);
        assertThat(outlook.spent()).isEqualByComparingTo("476");
        assertThat(outlook.perHour()).isEqualByComparingTo("1");
        assertThat(outlook.exhaustedAt()).isEqualTo(NOON.plusSeconds(86_400));
        Status.Limit soon = new Status.Limit("p", "usd", 500, 24, 500, 0, 3_600_000);
        assertThat(Forecast.of(List.of(soon), day, NOON).get(0).exhaustedAt()).isNull();
        Status.Limit team = new Status.Limit("t:ops", "usd", 50, 4, 50, 0, 864_000_000);
        assertThat(Forecast.of(List.of(team), day, NOON).get(0).exhaustedAt())
                .isAfter(NOON.plusSeconds(86_000))
                .isBefore(NOON.plusSeconds(87_000));
        Status.Limit gone = new Status.Limit("p", "usd", 500, -1, 500, 0, 864_000_000);
        assertThat(Forecast.of(List.of(gone), List.of(), NOON).get(0).exhaustedAt())
                .isEqualTo(NOON);
    }

    @Test
    void scopesAreNamedAsEverywhere() {
        assertThat(Scopes.of(null, null, null, null, null, null)).isEqualTo("p");
        assertThat(Scopes.of(null, "sonnet", null, null, null, null)).isEqualTo("c:sonnet");
        assertThat(Scopes.of(null, "sonnet", null, "research", null, null)).isEqualTo("t:research|sonnet");
        assertThat(Scopes.of("w:prod", null, null, null, null, null)).isEqualTo("w:prod");
        assertThatThrownBy(() -> Scopes.of(null, null, null, "a", "b", null)).isInstanceOf(Problem.class);
        assertThatThrownBy(() -> Scopes.of("p p", null, null, null, null, null)).isInstanceOf(Problem.class);
    }
}
