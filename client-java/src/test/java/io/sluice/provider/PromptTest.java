package io.sluice.provider;

import static io.sluice.provider.RequestsTest.CHAT;
import static io.sluice.provider.RequestsTest.GEMINI;
import static io.sluice.provider.RequestsTest.MESSAGES;
import static io.sluice.provider.RequestsTest.RESPONSES;
import static io.sluice.provider.RequestsTest.asks;
import static io.sluice.provider.RequestsTest.profile;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.Asked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** How much input requests are. */
class PromptTest {
    static java.util.stream.Stream<Pictures> pictures() {
        return Pictures.all(Pictures.PNG_OF_1_9_MB);
    }

    /** 1.9 MB of base64 measured like prose were 638,000 tokens, refused here and served there (BerriAI/litellm#32891). */
    @ParameterizedTest
    @MethodSource("pictures")
    void aPictureIsNotMeasuredAsText(Pictures one) {
        Asked asked = one.asked();

        assertThat(asked.attachments()).isEqualTo(1);
        assertThat(asked.attachedTokens()).isBetween(1_000L, 5_000L);
        // All of the text round it, and next to nothing else.
        assertThat(asked.inputBytes())
                .isBetween((long) Pictures.TEXT.getBytes(UTF_8).length, Pictures.TEXT.getBytes(UTF_8).length + 40L);
    }

    static java.util.stream.Stream<Pictures> small() {
        return Pictures.all("iVBORw0KGgo=");
    }

    /** One that is small enough to pass for text is no text either. */
    @ParameterizedTest
    @MethodSource("small")
    void aSmallPictureIsAPicture(Pictures one) {
        assertThat(one.asked().attachments()).isEqualTo(1);
        assertThat(one.asked().inputBytes()).isLessThan(Pictures.TEXT.getBytes(UTF_8).length + 40L);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                // where, a part of a prompt, attachments, tokens of it
                CHAT + "|{'type':'image_url','image_url':{'url':'https://x.test/a.png'}}|1|3779",
                CHAT + "|{'type':'image_url','image_url':{'url':'https://x.test/a.png','detail':'low'}}|1|630",
                CHAT + "|{'type':'image_url','image_url':'https://x.test/a.png'}|1|3779",
                CHAT + "|{'type':'input_audio','input_audio':{'data':'UklGRg==','format':'wav'}}|1|320",
                CHAT
                        + "|{'type':'file','file':{'file_data':'data:application/pdf;base64,JVBERi0=','filename':'a.pdf'}}|1|1500",
                CHAT + "|{'type':'file','file':{'file_id':'file-1'}}|1|30000",
                CHAT + "|{'type':'video_url','video_url':{'url':'https://x.test/a.mp4'}}|1|30000",
                RESPONSES + "|{'type':'input_image','file_id':'file-1','image_url':null}|1|3779",
                RESPONSES + "|{'type':'input_file','file_url':'https://x.test/a.pdf'}|1|30000",
                RESPONSES
                        + "|{'type':'computer_call_output','output':{'type':'computer_screenshot','image_url':'data:image/png;base64,iVBO'}}|1|3779",
                RESPONSES
                        + "|{'type':'function_call_output','output':[{'type':'input_image','image_url':'data:image/png;base64,iVBO'}]}|1|3779",
                RESPONSES + "|{'type':'image_generation_call','result':'iVBORw0KGgo='}|1|3779",
                MESSAGES + "|{'type':'image','source':{'type':'url','url':'https://x.test/a.png'}}|1|4784",
                MESSAGES + "|{'type':'image','source':{'type':'file','file_id':'file_1'}}|1|4784",
                MESSAGES
                        + "|{'type':'tool_result','content':[{'type':'image','source':{'type':'base64','media_type':'image/png','data':'iVBO'}}]}|1|4784",
                MESSAGES
                        + "|{'type':'document','source':{'type':'base64','media_type':'application/pdf','data':'JVBERi0='}}|1|1500",
                MESSAGES
                        + "|{'type':'document','source':{'type':'content','content':[{'type':'image','source':{'type':'url','url':'u'}}]}}|1|4784",
                MESSAGES + "|{'type':'document','source':{'type':'text','media_type':'text/plain','data':'abc'}}|0|0",
                GEMINI + "|{'inlineData':{'mimeType':'image/png','data':'iVBO'}}|1|4128",
                GEMINI + "|{'inline_data':{'mime_type':'image/png','data':'iVBO'}}|1|4128",
                GEMINI + "|{'inlineData':{'mimeType':'application/pdf','data':'JVBE'}}|1|1500",
                GEMINI + "|{'inlineData':{'mimeType':'audio/mp3','data':'SUQz'}}|1|320",
                GEMINI + "|{'fileData':{'mimeType':'image/png','fileUri':'https://x.test/f/1'}}|1|4128",
                GEMINI + "|{'fileData':{'mimeType':'video/mp4','fileUri':'https://x.test/f/1'}}|1|30000",
                GEMINI + "|{'text':'no picture'}|0|0"
            })
    void anAttachmentIsABoundedAmount(String where, String part, int attachments, long tokens) {
        Asked asked = asks(profile(where), where, Pictures.body(where, part.replace('\'', '"')));

        assertThat(asked.attachments()).isEqualTo(attachments);
        assertThat(asked.attachedTokens()).isEqualTo(tokens);
    }

    /** However long, it is never refused for its size alone. */
    @ParameterizedTest
    @CsvSource({"100, 1500", "40000, 1500", "400000, 12000", "4000000, 30000", "40000000, 30000"})
    void aDocumentIsByItsSize(int letters, long tokens) {
        String part =
                "{\"type\":\"document\",\"source\":{\"type\":\"base64\",\"media_type\":\"application/pdf\",\"data\":\""
                        + "A".repeat(letters) + "\"}}";

        assertThat(asks(Anthropic.PROFILE, MESSAGES, Pictures.body(MESSAGES, part))
                        .attachedTokens())
                .isEqualTo(tokens);
    }

    @Test
    void everyPictureCounts() {
        String part = "{\"type\":\"image\",\"source\":{\"type\":\"url\",\"url\":\"u\"}}";
        Asked asked = asks(Anthropic.PROFILE, MESSAGES, Pictures.body(MESSAGES, part + ("," + part).repeat(19)));

        assertThat(asked.attachments()).isEqualTo(20);
        assertThat(asked.attachedTokens()).isEqualTo(20 * 4_784);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                // where, body, bytes of text
                MESSAGES + "|{'model':'m','system':'abc','messages':[{'role':'user','content':'defg'}]}|11", // role too
                MESSAGES + "|{'system':[{'type':'text','text':'abc','cache_control':{'type':'ephemeral'}}]}|3",
                MESSAGES
                        + "|{'messages':[{'content':[{'type':'tool_use','id':'1','name':'ab','input':{'cd':'efg','h':12}}]}]}|10",
                MESSAGES
                        + "|{'messages':[{'content':[{'type':'thinking','thinking':'abc','signature':'xxxxxxxx'}]}]}|3",
                MESSAGES + "|{'messages':[{'content':[{'type':'redacted_thinking','data':'xxxxxxxx'}]}]}|6",
                MESSAGES + "|{'tools':[{'name':'ab','input_schema':{'type':'object'}}]}|28", // names are read as well
                MESSAGES + "|{'metadata':{'user_id':'someone'},'messages':[]}|0",
                CHAT + "|{'messages':[{'content':'Grüße 漢字 👋'}]}|19",
                CHAT + "|{'messages':[{'content':'\\u6f22\\n'}]}|4",
                CHAT
                        + "|{'messages':[{'tool_calls':[{'type':'function','id':'1','function':{'name':'ab','arguments':'{}'}}]}]}|4",
                CHAT + "|{'model':'m','user':'x','n':3,'messages':[]}|0",
                RESPONSES + "|{'instructions':'abc','input':'defg'}|7",
                RESPONSES + "|{'input':[{'type':'reasoning','encrypted_content':'xxxxxxxx'}]}|6",
                GEMINI + "|{'contents':[{'parts':[{'text':'abc'}]}],'systemInstruction':{'parts':[{'text':'de'}]}}|5",
                GEMINI + "|{'contents':[{'parts':[{'functionCall':{'name':'ab','args':{'c':'d'}}}]}]}|4",
                GEMINI + "|{'contents':[{'parts':[{'functionResponse':{'name':'ab','response':{'c':true}}}]}]}|7",
                "/v1internal:generateContent|{'model':'m','project':'p','request':{'contents':[{'parts':[{'text':'abc'}]}]}}|3",
                "/v1/embeddings|{'input':['ab','cd']}|4"
            })
    void textCountsInBytes(String where, String body, long bytes) {
        Asked asked = asks(Generic.PROFILE, where, body.replace('\'', '"'));

        assertThat(asked.inputBytes()).isEqualTo(bytes);
        assertThat(asked.attachedTokens()).isZero();
    }

    /** The model reads it letter by letter, so it costs what it is long. */
    @Test
    void base64ThatIsATextIsText() {
        String base64 = "QUJD".repeat(1_000);
        for (String part : new String[] {
            "{\"type\":\"text\",\"text\":\"" + base64 + "\"}",
            "{\"type\":\"tool_result\",\"content\":\"" + base64 + "\"}",
            "{\"type\":\"text\",\"text\":\"data:image/png;base64," + base64 + "\"}",
            "{\"type\":\"tool_use\",\"input\":{\"file\":\"" + base64 + "\"}}"
        }) {
            Asked asked = asks(Anthropic.PROFILE, MESSAGES, Pictures.body(MESSAGES, part));
            assertThat(asked.inputBytes()).isGreaterThanOrEqualTo(base64.length());
            assertThat(asked.attachments()).isZero();
        }
    }

    /** Whatever shape comes tomorrow: no prose has a thousand letters without a blank. */
    @Test
    void longBase64AtAPlaceNobodyKnowsIsAnAttachment() {
        String base64 = "QUJD".repeat(1_000);
        for (String data : new String[] {base64, "data:image/webp;base64," + base64}) {
            Asked asked = asks(
                    Anthropic.PROFILE,
                    MESSAGES,
                    Pictures.body(MESSAGES, "{\"type\":\"hologram\",\"hologram\":{\"blob\":\"" + data + "\"}}"));
            assertThat(asked.attachments()).isEqualTo(1);
            assertThat(asked.attachedTokens()).isEqualTo(4_784);
            assertThat(asked.inputBytes()).isLessThan(100);
        }
        Asked prose = asks(
                Anthropic.PROFILE,
                MESSAGES,
                Pictures.body(MESSAGES, "{\"type\":\"poem\",\"verses\":\"" + "so it goes ".repeat(1_000) + "\"}"));
        assertThat(prose.attachments()).isZero();
        assertThat(prose.inputBytes()).isGreaterThanOrEqualTo(11_000);
    }

    /** A schema may speak of pictures and have none. */
    @Test
    void aSchemaIsText() {
        String tools = "{\"model\":\"m\",\"tools\":[{\"name\":\"look\",\"input_schema\":{\"properties\":"
                + "{\"image\":{\"type\":\"image\",\"data\":\"x\"},\"image_url\":{\"type\":\"string\"}}}}]}";

        assertThat(asks(Anthropic.PROFILE, MESSAGES, tools).attachments()).isZero();
    }

    @Test
    void anInputInTokensIsSoManyTokens() {
        Asked asked = asks(OpenAi.PROFILE, "/v1/embeddings", "{\"model\":\"m\",\"input\":[[1,2,3],[4,5]]}");

        assertThat(asked.attachedTokens()).isEqualTo(5);
        assertThat(asked.inputBytes()).isZero();
        assertThat(asked.attachments()).isZero();
    }
}
