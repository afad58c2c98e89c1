package io.sluice.provider;

import static io.sluice.provider.RequestsTest.CHAT;
import static java.nio.charset.StandardCharsets.UTF_16LE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.Asked;
import io.sluice.Profile;
import io.sluice.Request;
import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Asking a chat stream for its usage, and keeping it from who did not ask. */
class StreamUsageTest {
    private static final String CHUNK =
            "data: {\"choices\":[{\"delta\":{\"content\":\"Grüße 漢字 👋\"}}],\"usage\":null}\n\n";
    private static final String USAGE =
            "data: {\"id\":\"x\",\"choices\":[],\"usage\":{\"prompt_tokens\":19,\"completion_tokens\":10}}\n\n";
    private static final String DONE = "data: [DONE]\n\n";

    private static byte[] ask(Profile profile, String path, byte[] body) {
        return StreamUsage.ask(profile.asks(Request.post(path, body)), body);
    }

    /** 298 tokens were logged where the server counted 56,593 (langgenius/dify-official-plugins#3650). */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{'model':'m','stream':true}|{'stream_options':{'include_usage':true},'model':'m','stream':true}",
                "` { 'stream' : true }`|` {'stream_options':{'include_usage':true}, 'stream' : true }`",
                "{'stream':true,'stream_options':{}}|{'stream':true,'stream_options':{'include_usage':true}}",
                "{'stream':true,'stream_options':null}|{'stream':true,'stream_options':{'include_usage':true}}",
                "{'stream':true,'stream_options':{'x':{'include_usage':1}}}|{'stream':true,'stream_options':{'include_usage':true,'x':{'include_usage':1}}}",
                "{'stream_options':{'x':1,'include_usage':false,'y':[2]},'stream':true}|{'stream_options':{'x':1,'include_usage':true,'y':[2]},'stream':true}",
                "{'stream_options':{'include_usage':null},'stream':true}|{'stream_options':{'include_usage':true},'stream':true}",
                "{'a':{'stream_options':{}},'stream':true}|{'stream_options':{'include_usage':true},'a':{'stream_options':{}},'stream':true}",
                "{'messages':[{'content':'Grüße 漢字 👋 \\u6f22'}],'stream':true,'stream_options':{'include_usage':false}}|{'messages':[{'content':'Grüße 漢字 👋 \\u6f22'}],'stream':true,'stream_options':{'include_usage':true}}"
            })
    void usageIsAskedForAndNothingElseIsChanged(String body, String expected) {
        byte[] told = ask(OpenAi.PROFILE, CHAT, body.replace('\'', '"').getBytes(UTF_8));

        assertThat(new String(told, UTF_8)).isEqualTo(expected.replace('\'', '"'));
        assertThat(OpenAi.PROFILE.asks(Request.post(CHAT, told)).tellsUsage()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{'stream':false}",
                "{'stream':true,'stream_options':{'include_usage':true}}",
                "{'stream':true,'stream_options':'x'}",
                "{'stream':true,'stream_options':{'include_usage':'x'}}",
                "{'stream':'x'}",
                "{'stream':true",
                "[]",
                ""
            })
    void whatNeedsNoAskingIsTheSameArray(String text) {
        byte[] body = text.replace('\'', '"').getBytes(UTF_8);

        assertThat(ask(OpenAi.PROFILE, CHAT, body)).isSameAs(body);
    }

    @Test
    void otherApisTellItUnasked() {
        byte[] body = "{\"model\":\"m\",\"stream\":true,\"messages\":[]}".getBytes(UTF_8);

        assertThat(ask(OpenAi.PROFILE, RequestsTest.RESPONSES, body)).isSameAs(body);
        assertThat(ask(Anthropic.PROFILE, RequestsTest.MESSAGES, body)).isSameAs(body);
        assertThat(ask(Gemini.PROFILE, "/v1beta/models/m:streamGenerateContent", body))
                .isSameAs(body);
        assertThat(ask(OpenRouter.PROFILE, CHAT, body)).isSameAs(body);
        assertThat(ask(Generic.PROFILE, CHAT, body)).isNotSameAs(body);
    }

    @Test
    void whatIsNoPlainUtf8IsLeftAlone() {
        String json = "{\"stream\":true,\"model\":\"m\"}";
        for (byte[] body : new byte[][] {json.getBytes(UTF_16LE), ("\ufeff" + json).getBytes(UTF_8)}) {
            Asked asked = OpenAi.PROFILE.asks(Request.post(CHAT, body));
            assertThat(asked.model()).isEqualTo("m");
            assertThat(StreamUsage.ask(asked, body)).isSameAs(body);
        }
    }

    // ---- the answer

    private static String filtered(byte[] bytes, int... cuts) {
        UsageFilter filter = new UsageFilter();
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        int from = 0;
        for (int cut : cuts) {
            out.writeBytes(filter.feed(bytes, from, cut - from));
            from = cut;
        }
        out.writeBytes(filter.feed(bytes, from, bytes.length - from));
        out.writeBytes(filter.end());
        return out.toString(UTF_8);
    }

    /** The same wherever the network cuts, with each way to end a line (higress-group/wasm-go#55). */
    @Test
    void onlyTheChunkWithTheUsageIsTakenOutForEveryCut() {
        String before = ": keep-alive\n\n" + CHUNK + "event: x\n: note\nid: 7\n" + CHUNK;
        for (String ending : new String[] {"\n", "\r\n", "\r"}) {
            byte[] bytes = (before + USAGE + DONE).replace("\n", ending).getBytes(UTF_8);
            String expected = (before + DONE).replace("\n", ending);
            assertThat(filtered(bytes)).isEqualTo(expected);
            for (int cut = 0; cut <= bytes.length; cut++) {
                assertThat(filtered(bytes, cut)).as("cut at " + cut).isEqualTo(expected);
            }
            int[] everywhere = new int[bytes.length];
            Arrays.setAll(everywhere, i -> i);
            assertThat(filtered(bytes, everywhere)).isEqualTo(expected);
        }
    }

    @Test
    void manyCutsAtRandomAreTheSame() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        String[] pieces = {
            CHUNK, USAGE, DONE, ": x\n\n", "\n", "data:\n\n", "data: {\"choices\":[],\n", "data: \"usage\":{}}\n\n"
        };
        String[] endings = {"\n", "\r\n", "\r"};
        for (int i = 0; i < 2_000; i++) {
            StringBuilder text = new StringBuilder();
            for (int n = random.nextInt(8); n > 0; n--) {
                text.append(pieces[random.nextInt(pieces.length)].replace("\n", endings[random.nextInt(3)]));
            }
            byte[] bytes = text.toString().getBytes(UTF_8);
            int[] cuts =
                    random.ints(random.nextInt(6), 0, bytes.length + 1).sorted().toArray();
            assertThat(filtered(bytes, cuts)).as("seed " + seed).isEqualTo(filtered(bytes));
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "data: {\"choices\":[],\"prompt_filter_results\":[]}\n\n",
                "data: {\"choices\":[],\"usage\":null}\n\n",
                "data: {\"choices\":[{}],\"usage\":{\"completion_tokens\":1}}\n\n",
                "data: {\"choices\":[],\"usage\":{},\"error\":{\"message\":\"x\"}}\n\n",
                "data: {\"usage\":{\"completion_tokens\":1}}\n\n",
                "data: {\"choices\":[],\"usage\":{\"completion_tok", // cut
                "{\"error\":{\"message\":\"no stream at all\"}}",
                "<html>\r\n\r\n</html>",
                "\n\n\r\r\n"
            })
    void everythingElsePasses(String text) {
        assertThat(filtered(text.getBytes(UTF_8))).isEqualTo(text);
    }

    @Test
    void itIsFoundInSeveralLinesAndWithoutABlankOneAtTheEnd() {
        assertThat(filtered("data: {\"choices\":[],\ndata: \"usage\":{\"a\":1}}\n\ndata: [DONE]\n\n".getBytes(UTF_8)))
                .isEqualTo(DONE);
        assertThat(filtered((CHUNK + USAGE.strip()).getBytes(UTF_8))).isEqualTo(CHUNK);
    }

    /** An event passes with its blank line, not when the next one comes. */
    @Test
    void nothingIsKeptLongerThanNeeded() {
        UsageFilter filter = new UsageFilter();
        assertThat(new String(filter.feed(CHUNK.getBytes(UTF_8)), UTF_8)).isEqualTo(CHUNK);
        assertThat(filter.feed(USAGE.getBytes(UTF_8))).isEmpty();
        assertThat(filter.end()).isEmpty();
    }

    /** One that buffered for ever grew to gigabytes when no blank line came (KarpelesLab/teamclaude#341). */
    @Test
    void aStreamWithoutABlankLinePassesAsItComes() {
        UsageFilter filter = new UsageFilter();
        byte[] chunk = ("data: " + "x".repeat(10_000)).getBytes(UTF_8);
        long passed = 0;
        for (int i = 0; i < 1_000; i++) {
            passed += filter.feed(chunk).length;
            assertThat(passed).isGreaterThan((i + 1L) * chunk.length - 65 * 1024);
        }
        passed += filter.feed("\n\n".getBytes(UTF_8)).length;
        assertThat(passed).isEqualTo(1_000L * chunk.length + 2);
        assertThat(filter.feed(USAGE.getBytes(UTF_8)))
                .as("and the next is seen to")
                .isEmpty();
    }
}
