package io.sluice.provider;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.sluice.Answer;
import io.sluice.AnswerStream;
import io.sluice.Profile;
import io.sluice.Reading;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class StreamTest {
    private static final String ANTHROPIC = """
            : keep-alive

            event: message_start
            data: {"type":"message_start","message":{"usage":{"input_tokens":25,"cache_read_input_tokens":7,"output_tokens":1}}}

            event: content_block_delta
            data: {"type":"content_block_delta","delta":{"type":"text_delta","text":"Grüße 漢字 👋"}}

            event: ping
            data: {"type": "ping"}

            id: 7
            retry: 100
            event: a_new_one
            data: {"type":"a_new_one","usage":{"output_tokens":999}}

            event: message_delta
            data: {"type":"message_delta","usage":{"output_tokens":10}}

            event: message_delta
            data: {"type":"message_delta",
            data: "usage":{"input_tokens":25,"cache_read_input_tokens":null,"output_tokens":15}}

            event: message_stop
            data: {"type":"message_stop"}

            """;
    private static final String CHAT = """
            data: {"choices":[{"delta":{"content":"Hel"}}],"usage":null,"obfuscation":"aB3"}

            data: {"choices":[{"delta":{},"finish_reason":"stop"}],"usage":null}

            data: {"choices":[],"usage":{"prompt_tokens":19,"completion_tokens":10,"prompt_tokens_details":{"cached_tokens":4}}}

            data: [DONE]

            """;
    private static final String RESPONSES = """
            event: response.created
            data: {"type":"response.created","response":{"usage":null}}

            event: response.output_text.delta
            data: {"type":"response.output_text.delta","delta":"ok"}

            event: response.incomplete
            data: {"type":"response.incomplete","response":{"usage":{"input_tokens":10,"output_tokens":64}}}

            """;
    private static final String GEMINI = """
            data: {"candidates":[{"content":{"parts":[{"text":"Hel"}]}}],"usageMetadata":{"promptTokenCount":7,"thoughtsTokenCount":40}}

            data: {"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":7,"candidatesTokenCount":9,"thoughtsTokenCount":42}}

            """;
    private static final String ARRAY = """
            [{"candidates":[{"content":{"parts":[{"text":"a \\"}] b"}]}}],
              "usageMetadata":{"promptTokenCount":7}}
            ,
            {"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":7,"candidatesTokenCount":51}}]
            """;

    static Stream<Arguments> whole() {
        return Stream.of(
                // Running totals replace each other, nothing is added up (tensorzero/tensorzero#5481).
                arguments(Anthropic.PROFILE, ANTHROPIC, "25 7 0 15"),
                arguments(OpenAi.PROFILE, CHAT, "15 4 0 10"),
                arguments(OpenAi.PROFILE, RESPONSES, "10 0 0 64"),
                arguments(Gemini.PROFILE, GEMINI, "7 0 0 51"),
                arguments(Gemini.PROFILE, ARRAY, "7 0 0 51"),
                arguments(OpenRouter.PROFILE, CHAT, "15 4 0 10"),
                arguments(OpenRouter.PROFILE, RESPONSES, "10 0 0 64"),
                arguments(OpenRouter.PROFILE, ANTHROPIC, "25 7 0 15"),
                arguments(Generic.PROFILE, CHAT, "15 4 0 10"),
                arguments(Generic.PROFILE, ANTHROPIC, "25 7 0 15"));
    }

    /** Cut anywhere, even inside a character, with each way to end a line (higress-group/wasm-go#55). */
    @ParameterizedTest
    @MethodSource("whole")
    void usageIsTheSameForEveryCut(Profile profile, String text, String expected) {
        for (String ending : new String[] {"\n", "\r\n", "\r"}) {
            byte[] bytes = text.replace("\n", ending).getBytes(UTF_8);
            assertThat(Told.usage(fed(profile, bytes, 1))).isEqualTo(expected);
            for (int cut = 0; cut <= bytes.length; cut++) {
                AnswerStream stream = profile.stream(Answer.of(200, Told.NOW));
                stream.feed(bytes, 0, cut);
                stream.feed(bytes, cut, bytes.length - cut);
                assertThat(Told.usage(stream.end())).as("cut at " + cut).isEqualTo(expected);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("whole")
    void theLastLineNeedsNoEnd(Profile profile, String text, String expected) {
        assertThat(Told.usage(Told.stream(profile, text.stripTrailing()))).isEqualTo(expected);
    }

    @ParameterizedTest
    @MethodSource("whole")
    void aByteOrderMarkIsNoData(Profile profile, String text, String expected) {
        assertThat(Told.usage(Told.stream(profile, "\ufeff" + text))).isEqualTo(expected);
    }

    /** Cut off anywhere, there is a reading, it is never more than the whole, and only the whole is final. */
    @ParameterizedTest
    @MethodSource("whole")
    void aStreamCutOffIsOpen(Profile profile, String text, String expected) {
        byte[] bytes = text.getBytes(UTF_8);
        for (int end = 0; end < bytes.length; end++) {
            Reading reading = Told.stream(profile, new String(Arrays.copyOf(bytes, end), UTF_8));
            assertThat(reading.rejection()).isNull();
            assertThat(Told.usage(reading))
                    .satisfiesAnyOf(
                            told -> assertThat(told).endsWith(" open"),
                            told -> assertThat(told).isEqualTo(expected));
        }
    }

    static Stream<Arguments> cut() {
        String start =
                "data: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":300,\"output_tokens\":1}}}\n\n";
        String delta =
                "data: {\"type\":\"content_block_delta\",\"delta\":{\"text\":\"" + "0123456789".repeat(4) + "\"}}\n\n";
        return Stream.of(
                // Input as told at the start, output no less than a quarter of the characters that came.
                arguments(Anthropic.PROFILE, start + delta + "data: {\"type\":\"content_block_del", "300 0 0 10 open"),
                arguments(Anthropic.PROFILE, start, "300 0 0 1 open"),
                // Of short pieces no quarter counts: each is a token at least.
                arguments(Anthropic.PROFILE, start + text("a ").repeat(200), "300 0 0 200 open"),
                // Cut before anything was told of usage: what came is known.
                arguments(
                        OpenAi.PROFILE,
                        "data: {\"choices\":[{\"delta\":{\"content\":\"0123456789\"}}],\"usage\":null}\n\n".repeat(4),
                        "? ? ? 10 open"),
                arguments(
                        OpenAi.PROFILE,
                        "data: {\"type\":\"response.output_text.delta\",\"delta\":\"12345678\"}\n\n",
                        "? ? ? 2 open"),
                arguments(
                        Gemini.PROFILE,
                        "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"12345678\"}]}}]}\n\n",
                        "? ? ? 2 open"),
                // Not asked for: the estimate stands, it is not zero (langgenius/dify-official-plugins#3650).
                arguments(
                        OpenAi.PROFILE,
                        "data: {\"choices\":[{\"delta\":{\"content\":\"12345678\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
                        "? ? ? ? open"),
                arguments(
                        OpenAi.PROFILE,
                        "data: {\"type\":\"response.created\",\"response\":{\"usage\":null}}\n\n",
                        "? ? ? ? open"),
                arguments(
                        Gemini.PROFILE,
                        "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"Hel\"}]}}],\"usageMetadata\":{\"promptTokenCount\":7,\"candidatesTokenCount\":3}}\n\n",
                        "7 0 0 3 open"),
                // The last snapshot counts, also where later chunks have none.
                arguments(
                        Gemini.PROFILE,
                        "data: {\"usageMetadata\":{\"promptTokenCount\":7,\"candidatesTokenCount\":3}}\n\ndata: {\"candidates\":[{\"finishReason\":\"STOP\"}]}\n\n",
                        "7 0 0 3"),
                // Some send running totals with every chunk: not final before the end.
                arguments(
                        Generic.PROFILE,
                        "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":1}}\n\n",
                        "7 0 0 1 open"),
                arguments(OpenAi.PROFILE, "", "? ? ? ? open"),
                arguments(OpenAi.PROFILE, "<html>\n\nnothing here: {}\n", "? ? ? ? open"));
    }

    private static String text(String text) {
        return "data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"" + text
                + "\"}}\n\n";
    }

    @ParameterizedTest
    @MethodSource("cut")
    void whatIsNotToldStaysOpen(Profile profile, String text, String expected) {
        assertThat(Told.usage(Told.stream(profile, text))).isEqualTo(expected);
    }

    /** One that buffered for ever grew to gigabytes when no blank line came (KarpelesLab/teamclaude#341). */
    @Test
    void aStreamWithoutABlankLineNeedsNoMemory() {
        byte[] mebibyte = new byte[1024 * 1024];
        for (String start :
                new String[] {"data: {\"x\":\"", "data: 1\ndata: 2\n", "{\"x\":\"", "[{\"x\":[", ": comment"}) {
            AnswerStream stream = Anthropic.PROFILE.stream(Answer.of(200, Told.NOW));
            stream.feed(start.getBytes(UTF_8));
            Arrays.fill(mebibyte, (byte) 'x');
            // 64 times what may be kept.
            for (int i = 0; i < 64; i++) {
                stream.feed(mebibyte);
            }
            Reading reading = stream.end();
            assertThat(reading.rejection()).isNull();
            assertThat(reading.usageComplete()).isFalse();
        }
    }

    /** A final event repeats the whole answer; past the bound it is passed over, and what follows is read. */
    @Test
    void oneEventTooLongIsPassedOver() {
        String tooLong = "data: {\"x\":\"" + "x".repeat(2 * 1024 * 1024) + "\"}\n\n";

        assertThat(Told.usage(Told.stream(Anthropic.PROFILE, tooLong + ANTHROPIC)))
                .isEqualTo("25 7 0 15");
        assertThat(Told.usage(Told.stream(OpenAi.PROFILE, CHAT + tooLong))).isEqualTo("15 4 0 10");
    }

    @Test
    void aRefusalsStatusMakesItsStreamABody() {
        AnswerStream stream = Anthropic.PROFILE.stream(
                Answer.of(529, Told.NOW).headers(Map.of("Retry-After", java.util.List.of("10"))));
        stream.feed("<html>overloaded</html>".getBytes(UTF_8));

        assertThat(Told.verdict(stream.end())).isEqualTo("overload retry 10000 class");
    }

    private static Reading fed(Profile profile, byte[] bytes, int size) {
        AnswerStream stream = profile.stream(Answer.of(200, Told.NOW));
        for (int i = 0; i < bytes.length; i += size) {
            stream.feed(bytes, i, Math.min(size, bytes.length - i));
        }
        return stream.end();
    }
}
