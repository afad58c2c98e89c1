package io.sluice.provider;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.sluice.Profile;
import io.sluice.Reading;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What was used, from whole answers: zero, null and missing are three things (BerriAI/litellm#37992). */
class UsageTest {

    static Stream<Arguments> answers() {
        Profile anthropic = Anthropic.PROFILE;
        Profile openAi = OpenAi.PROFILE;
        return Stream.of(
                // Anthropic tells the parts; thinking is in the output.
                row(
                        "parts",
                        anthropic,
                        "\"input_tokens\":50,\"cache_creation_input_tokens\":2048,\"cache_read_input_tokens\":198000,\"output_tokens\":120,\"output_tokens_details\":{\"thinking_tokens\":90}",
                        "50 198000 2048 120"),
                row(
                        "null cache is no cache",
                        anthropic,
                        "\"input_tokens\":5,\"cache_creation_input_tokens\":null,\"output_tokens\":1",
                        "5 0 0 1"),
                row("zeros are zeros", anthropic, "\"input_tokens\":0,\"output_tokens\":0", "0 0 0 0"),
                row("only input", anthropic, "\"input_tokens\":7", "7 0 0 ? open"),
                row("only output", anthropic, "\"output_tokens\":7", "? ? ? 7 open"),
                row("nulls", anthropic, "\"input_tokens\":null,\"output_tokens\":null", "? ? ? ? open"),
                row("negative is not said", anthropic, "\"input_tokens\":-7,\"output_tokens\":3", "? ? ? 3 open"),
                row("figures as text", anthropic, "\"input_tokens\":\"1,007\",\"output_tokens\":\"3\"", "1007 0 0 3"),
                row("not a figure", anthropic, "\"input_tokens\":{},\"output_tokens\":true", "? ? ? ? open"),
                row("a fraction of a token", anthropic, "\"input_tokens\":1.5,\"output_tokens\":3.0", "? ? ? 3 open"),
                row(
                        "64 bits and more",
                        anthropic,
                        "\"input_tokens\":9223372036854775807,\"output_tokens\":99999999999999999999999",
                        "? 0 0 ? open"),
                row(
                        "unknown members",
                        anthropic,
                        "\"input_tokens\":1,\"output_tokens\":2,\"iterations\":[{}],\"new_tokens\":9,\"fallback_credit\":{\"x\":1}",
                        "1 0 0 2"),
                // OpenAI tells the whole, cached part in it; reasoning is in the output.
                row(
                        "chat",
                        openAi,
                        "\"prompt_tokens\":2006,\"completion_tokens\":300,\"prompt_tokens_details\":{\"cached_tokens\":1920},\"completion_tokens_details\":{\"reasoning_tokens\":256}",
                        "86 1920 0 300"),
                row(
                        "responses",
                        openAi,
                        "\"input_tokens\":1200,\"input_tokens_details\":{\"cached_tokens\":1024,\"cache_write_tokens\":100},\"output_tokens\":640",
                        "76 1024 100 640"),
                row("no details", openAi, "\"prompt_tokens\":9,\"completion_tokens\":0", "9 0 0 0"),
                row(
                        "null details",
                        openAi,
                        "\"prompt_tokens\":9,\"completion_tokens\":1,\"prompt_tokens_details\":null",
                        "9 0 0 1"),
                row(
                        "more cached than there is",
                        openAi,
                        "\"prompt_tokens\":9,\"completion_tokens\":1,\"prompt_tokens_details\":{\"cached_tokens\":99,\"cache_write_tokens\":5}",
                        "0 9 0 1"),
                row("null parts", openAi, "\"prompt_tokens\":null,\"completion_tokens\":4", "? ? ? 4 open"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("answers")
    void usageIsInOurCounting(String what, Profile profile, String usage, String expected) {
        String body = "{\"type\":\"message\",\"usage\":{" + usage + "}}";

        assertThat(Told.usage(profile.read(Told.answer(200, "", body)))).isEqualTo(expected);
    }

    static Stream<Arguments> withoutUsage() {
        return Stream.of(
                arguments("{\"usage\":null}"),
                arguments("{}"),
                arguments("{\"usage\":[]}"),
                arguments("{\"usage\":\"none\"}"),
                arguments(""),
                arguments("<html>ok</html>"),
                arguments("{\"usage\":{\"input_tok"),
                arguments("null"),
                arguments("[]"));
    }

    @ParameterizedTest
    @MethodSource("withoutUsage")
    void withoutUsageTheEstimateStands(String body) {
        for (Profile profile : ALL) {
            assertThat(Told.usage(profile.read(Told.answer(200, "", body))))
                    .as(profile.provider().label())
                    .isEqualTo("? ? ? ? open");
        }
    }

    static final Profile[] ALL = {Anthropic.PROFILE, OpenAi.PROFILE, Gemini.PROFILE, OpenRouter.PROFILE, Generic.PROFILE
    };

    static Stream<Arguments> geminis() {
        return Stream.of(
                // Thinking is beside the visible output, tool input beside the prompt, the cached part in it.
                arguments(
                        "\"promptTokenCount\":5000,\"cachedContentTokenCount\":4000,\"toolUsePromptTokenCount\":200,\"candidatesTokenCount\":120,\"thoughtsTokenCount\":380,\"totalTokenCount\":5700",
                        "1200 4000 0 500"),
                arguments("\"promptTokenCount\":7,\"thoughtsTokenCount\":40,\"totalTokenCount\":47", "7 0 0 40"),
                // Neither told: what the total leaves.
                arguments("\"promptTokenCount\":7,\"totalTokenCount\":16", "7 0 0 9"),
                arguments("\"promptTokenCount\":7,\"totalTokenCount\":3", "7 0 0 0"),
                arguments("\"promptTokenCount\":7", "7 0 0 ? open"),
                arguments("\"promptTokenCount\":0,\"candidatesTokenCount\":0", "0 0 0 0"));
    }

    @ParameterizedTest
    @MethodSource("geminis")
    void geminisUsageIsInOurCounting(String usage, String expected) {
        String body = "{\"candidates\":[],\"usageMetadata\":{" + usage + "}}";

        assertThat(Told.usage(Gemini.PROFILE.read(Told.answer(200, "", body)))).isEqualTo(expected);
        assertThat(Told.usage(Gemini.PROFILE.read(Told.answer(200, "", "{\"response\":" + body + "}"))))
                .isEqualTo(expected);
    }

    /** Cache reads count for Haiku 3.5 and older, and for nothing since (BerriAI/litellm#18728). */
    @Test
    void cacheReadsCountForOldModels() {
        String body = "{\"model\":\"m\",\"usage\":{\"input_tokens\":50,\"cache_creation_input_tokens\":2048,"
                + "\"cache_read_input_tokens\":198000,\"output_tokens\":1}}";

        assertThat(counted(body, "claude-sonnet-5-5")).isEqualTo(2_098L);
        assertThat(counted(body, "claude-haiku-4-5")).isEqualTo(2_098L);
        assertThat(counted(body, "claude-3-5-haiku-latest")).isEqualTo(200_098L);
        assertThat(counted(body, "claude-haiku-3.5")).isEqualTo(200_098L);
    }

    private static Object counted(String body, String model) {
        return Told.fact(Anthropic.PROFILE.read(Told.answer(200, "", body).model(model)), "counts_to_input_limit");
    }

    @Test
    void thoseWhoSpeakSeveralDialectsAreReadInEach() {
        String anthropic =
                "{\"type\":\"message\",\"usage\":{\"input_tokens\":5,\"cache_read_input_tokens\":8,\"output_tokens\":1}}";
        String chat =
                "{\"usage\":{\"prompt_tokens\":13,\"completion_tokens\":1,\"prompt_tokens_details\":{\"cached_tokens\":8}}}";
        String responses =
                "{\"usage\":{\"input_tokens\":13,\"output_tokens\":1,\"input_tokens_details\":{\"cached_tokens\":8}}}";

        for (String body : new String[] {anthropic, chat, responses}) {
            assertThat(Told.usage(OpenRouter.PROFILE.read(Told.answer(200, "", body))))
                    .isEqualTo("5 8 0 1");
            assertThat(Told.usage(Generic.PROFILE.read(Told.answer(200, "", body))))
                    .isEqualTo("5 8 0 1");
        }
    }

    @Test
    void costIsToldWhereItIs() {
        Reading reading = OpenRouter.PROFILE.read(
                Told.answer(200, "", "{\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":1,\"cost\":0.00095}}"));

        assertThat(Told.fact(reading, "cost")).hasToString("0.00095");
    }

    /** Half a MiB of answer before its usage is an ordinary long answer. */
    @Test
    void aLongAnswersUsageIsRead() {
        String body =
                "{\"content\":\"" + "x".repeat(512 * 1024) + "\",\"usage\":{\"input_tokens\":1,\"output_tokens\":2}}";

        assertThat(Told.usage(Anthropic.PROFILE.read(Told.answer(200, "", body))))
                .isEqualTo("1 0 0 2");
    }

    private static Arguments row(String what, Profile profile, String usage, String expected) {
        return arguments(what, profile, usage, expected);
    }
}
