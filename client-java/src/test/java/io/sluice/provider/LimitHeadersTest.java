package io.sluice.provider;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.LimitReading;
import io.sluice.PlanWindow;
import io.sluice.Profile;
import io.sluice.Reading;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class LimitHeadersTest {

    @Test
    void anthropicsBucketsAreFullAtATimeAndRoundedToThousands() {
        assertThat(
                        limits(
                                Anthropic.PROFILE,
                                "Anthropic-RateLimit-Requests-Limit: 1000|anthropic-ratelimit-requests-remaining: 999|"
                                        + "anthropic-ratelimit-requests-reset: 2026-08-24T11:59:59Z|"
                                        + "anthropic-ratelimit-input-tokens-limit: 2000000|anthropic-ratelimit-input-tokens-remaining: 0|"
                                        + "anthropic-ratelimit-input-tokens-reset: 2026-08-24T12:00:01.5Z|"
                                        + "anthropic-ratelimit-output-tokens-limit: lots|anthropic-ratelimit-output-tokens-remaining: -5|"
                                        + "anthropic-priority-input-tokens-remaining: 9618|anthropic-fast-output-tokens-limit: 0"))
                .isEqualTo("requests 1000 999 0 /1, input 2000000 0 1500 /1000, output ? ? ? /1000,"
                        + " priority_input ? 9618 ? /1, fast_output 0 ? ? /1");
    }

    /** All four formats of a reset, and those of others (BaseIntelligence/bounty-challenge#5370). */
    @Test
    void openAisBucketsAreFullAfterAWhile() {
        assertThat(limits(
                        OpenAi.PROFILE,
                        "x-ratelimit-limit-requests: 500|x-ratelimit-remaining-requests: 499|x-ratelimit-reset-requests: 17ms|"
                                + "x-ratelimit-limit-tokens: 30,000|x-ratelimit-remaining-tokens: -1|x-ratelimit-reset-tokens: 23h47m36.648s|"
                                + "x-ratelimit-reset-project-tokens: 60|x-ratelimit-remaining-tokens_usage_based: 5"))
                .isEqualTo("requests 500 499 17 /1, tokens 30000 ? 85656648 /1, project_tokens ? ? 60000 /1,"
                        + " tokens_usage_based ? 5 ? /1");
    }

    /** Said twice, what is left is the less and the wait the longer. */
    @Test
    void ofTwoValuesTheCarefulOneCounts() {
        assertThat(limits(
                        OpenAi.PROFILE,
                        "x-ratelimit-remaining-tokens: 9|X-RateLimit-Remaining-Tokens: 3|"
                                + "x-ratelimit-reset-tokens: 1s|x-ratelimit-reset-tokens: 6m0s"))
                .isEqualTo("tokens ? 3 360000 /1");
    }

    @Test
    void openRoutersResetIsEpochMilliseconds() {
        assertThat(limits(
                        OpenRouter.PROFILE,
                        "x-ratelimit-limit: 50|x-ratelimit-remaining: 0|x-ratelimit-reset: 1787616000000"))
                .isEqualTo("requests 50 0 43200000 /1");
    }

    /** Epoch seconds, seconds from now, a duration, a date: by form and size. */
    @Test
    void othersResetsAreReadByFormAndSize() {
        for (String reset : List.of(
                "1787572835", "1787572835000", "35", "35s", "2026-08-24T12:00:35Z", "Mon, 24 Aug 2026 12:00:35 GMT")) {
            assertThat(limits(Generic.PROFILE, "RateLimit-Limit: 9|RateLimit-Remaining: 0|RateLimit-Reset: " + reset))
                    .as(reset)
                    .isEqualTo("requests 9 0 35000 /1");
        }
    }

    @Test
    void theDraftsFieldsAreLists() {
        String policy = "ratelimit-policy: \"burst\";q=100;w=60, \"daily\";q=1000;w=86400;pk=:c2Rm:|";

        assertThat(limits(Generic.PROFILE, policy + "ratelimit: \"burst\";r=50;t=30,\"daily\";r=0"))
                .isEqualTo("burst 100 50 30000 /1, daily 1000 0 ? /1");
        // Over two lines, with blanks, parameters of other types and unknown ones.
        assertThat(limits(Generic.PROFILE, "ratelimit: \"a\"; r=5;  x=?1;y|ratelimit: \"b\";r=6;t=2;z=tok/en"))
                .isEqualTo("a ? 5 ? /1, b ? 6 2000 /1");
    }

    @Test
    void aMalformedFieldIsNothingAtAll() {
        for (String field : List.of(
                "\"a\";r=5,",
                "a;r=5",
                "\"a\";r=5 \"b\";r=6",
                "\"a\";r",
                "\"a;r=5",
                "\"a\";R=5",
                "\"a\";r=-1",
                "\"a\";r=5;pk=:xx",
                "\"a\";t=5",
                "(\"a\");r=5",
                "",
                "\"a\\",
                "\"a\";=5",
                "\"a\";r=5;",
                "\"a\";r=5,\"b\"")) {
            assertThat(limits(Generic.PROFILE, "ratelimit: " + field)).as(field).isEmpty();
        }
    }

    /** What the draft says of waiting comes after Retry-After. */
    @Test
    void theDraftsResetIsAWait() {
        String used = "ratelimit: \"burst\";r=0;t=30|";

        assertThat(Told.verdict(Generic.PROFILE, 429, used, "")).isEqualTo("requests retry 30000 class");
        assertThat(Told.verdict(Generic.PROFILE, 429, used + "retry-after: 5", ""))
                .isEqualTo("requests retry 5000 class");
    }

    @Test
    void othersRefusalsAreReadByTheirShapeOrStatus() {
        Profile generic = Generic.PROFILE;

        assertThat(Told.verdict(generic, 503, "", "{\"type\":\"https://x/problems#temporary-reduced-capacity\"}"))
                .isEqualTo("overload retry - class");
        assertThat(Told.verdict(generic, 429, "retry-after: 3", "{\"type\":\"https://x/problems#quota-exceeded\"}"))
                .isEqualTo("requests retry 3000 class");
        assertThat(Told.verdict(generic, 529, "", "")).isEqualTo("overload retry - class");
        assertThat(Told.verdict(generic, 503, "retry-after: 3", "<html>")).isEqualTo("overload retry 3000 class");
        assertThat(Told.verdict(generic, 402, "", "")).isEqualTo("credits stop - project");
        assertThat(Told.verdict(generic, 429, "", "{\"error\":{\"code\":\"insufficient_quota\"}}"))
                .isEqualTo("credits stop - project");
        assertThat(
                        Told.verdict(
                                generic,
                                429,
                                "retry-after: 2",
                                "{\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":\"9 output tokens per minute\"}}"))
                .isEqualTo("output retry 2000 class");
        assertThat(Told.verdict(generic, 404, "", "")).isEqualTo("invalid stop - request");
        assertThat(Told.verdict(generic, 200, "", "")).isEqualTo("fine");
    }

    @Test
    void plansTellTheShareUsedOfEachWindow() {
        Reading claude = Anthropic.PROFILE.read(Told.answer(
                200,
                "anthropic-ratelimit-unified-5h-utilization: 0.93|anthropic-ratelimit-unified-5h-reset: 1787574894|"
                        + "anthropic-ratelimit-unified-7d-utilization: NaN|anthropic-ratelimit-unified-7d-status: rejected",
                ""));
        Reading codex = OpenAi.PROFILE.read(Told.answer(
                200,
                "x-codex-primary-used-percent: 12.5|x-codex-primary-window-minutes: 300|"
                        + "x-codex-primary-reset-at: 1787581800|x-codex-secondary-used-percent: 100",
                ""));

        assertThat(windows(claude)).isEqualTo("5h 0.93 5h 2094000, 7d ? 168h ? rejecting");
        assertThat(windows(codex)).isEqualTo("primary 0.125 5h 9000000, secondary 1.0 ? ? rejecting");
    }

    @Test
    void geminiSendsNone() {
        assertThat(limits(Gemini.PROFILE, "x-ratelimit-limit: 5|x-ratelimit-remaining: 1"))
                .isEmpty();
    }

    /** {@code HttpURLConnection} gives the status line under no name. */
    @Test
    void anEntryWithoutANameIsLeftOut() {
        Map<String, List<String>> headers = new java.util.HashMap<>();
        headers.put(null, List.of("HTTP/1.1 429"));
        headers.put("Retry-After", List.of("3"));

        assertThat(Told.verdict(
                        OpenAi.PROFILE.read(io.sluice.Answer.of(429, Told.NOW).headers(headers))))
                .isEqualTo("requests retry 3000 class");
    }

    private static String limits(Profile profile, String headers) {
        return profile.read(Told.answer(200, headers, "")).limits().stream()
                .map(LimitHeadersTest::shown)
                .collect(Collectors.joining(", "));
    }

    private static String shown(LimitReading limit) {
        return limit.dimension()
                + " "
                + (limit.limit() == null ? "?" : limit.limit())
                + " "
                + (limit.remaining() == null ? "?" : limit.remaining())
                + " "
                + (limit.resetIn() == null ? "?" : limit.resetIn().toMillis())
                + " /"
                + limit.step();
    }

    private static String windows(Reading reading) {
        return reading.windows().stream()
                .map((PlanWindow window) -> window.name()
                        + " "
                        + (window.used() == null ? "?" : window.used())
                        + " "
                        + (window.length() == null ? "?" : window.length().toHours() + "h")
                        + " "
                        + (window.resetIn() == null ? "?" : window.resetIn().toMillis())
                        + (window.rejecting() ? " rejecting" : ""))
                .collect(Collectors.joining(", "));
    }
}
