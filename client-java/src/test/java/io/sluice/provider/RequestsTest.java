package io.sluice.provider;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.Asked;
import io.sluice.Asked.Kind;
import io.sluice.Profile;
import io.sluice.Request;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What requests ask for: kind, model, output cap, tier. */
class RequestsTest {
    static final String CHAT = "/v1/chat/completions";
    static final String RESPONSES = "/v1/responses";
    static final String MESSAGES = "/v1/messages";
    static final String GEMINI = "/v1beta/models/gemini-3-pro:generateContent";

    static Asked asks(Profile profile, String path, String json) {
        return profile.asks(Request.post(path, json.getBytes(UTF_8)));
    }

    static Profile profile(String path) {
        return switch (path) {
            case MESSAGES -> Anthropic.PROFILE;
            case GEMINI -> Gemini.PROFILE;
            default -> OpenAi.PROFILE;
        };
    }

    /** The smaller of two caps was reserved while upstream obeyed the larger, and choices were forgotten (BerriAI/litellm#34223). */
    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '`',
            delimiter = '|',
            nullValues = "-",
            value = {
                // members of the body, the cap
                CHAT + "| 'max_tokens':1,'max_completion_tokens':400,'n':3 | 1200",
                CHAT + "| 'max_tokens':400,'max_completion_tokens':1,'n':3 | 1200",
                CHAT + "| 'max_tokens':400                                 | 400",
                CHAT + "| 'max_completion_tokens':400,'max_tokens':null    | 400",
                CHAT + "| 'n':3                                            | -",
                CHAT + "| 'max_tokens':null                                | -",
                CHAT + "| 'max_tokens':-1                                  | -", // many mean by that: no cap
                CHAT + "| 'max_tokens':-1,'max_completion_tokens':7        | 7",
                CHAT + "| 'max_tokens':0                                   | 0",
                CHAT + "| 'max_tokens':'400'                               | 400",
                CHAT + "| 'max_tokens':'many'                              | -",
                CHAT + "| 'max_tokens':400.0                               | 400",
                CHAT + "| 'max_tokens':400.2                               | 401",
                CHAT + "| 'max_tokens':[400]                               | -",
                CHAT + "| 'max_tokens':{'x':1}                             | -",
                CHAT + "| 'max_tokens':true                                | -",
                CHAT + "| 'max_tokens':99999999999999999999                | 1000000000",
                CHAT + "| 'max_tokens':1e400                               | 1000000000",
                CHAT + "| 'max_tokens':-1e400                              | -",
                CHAT + "| 'max_tokens':900000000,'n':900000000             | 1000000000",
                CHAT + "| 'max_tokens':10,'n':0                            | 10",
                CHAT + "| 'max_tokens':10,'n':-5                           | 10",
                CHAT + "| 'max_tokens':10,'n':null                         | 10",
                CHAT + "| 'max_tokens':10,'n':'3'                          | 30",
                CHAT + "| 'max_tokens':10,'n':0.5                          | 10",
                CHAT + "| 'max_tokens':10,'n':99999999999999999999         | 1000000000",
                "/v1/completions| 'max_tokens':10,'n':2,'best_of':5        | 50",
                RESPONSES + "| 'max_output_tokens':512                     | 512",
                RESPONSES + "| 'max_output_tokens':512,'n':4               | 512", // answers once
                RESPONSES + "| 'max_output_tokens':null                    | -",
                MESSAGES + "| 'max_tokens':8192                            | 8192",
                MESSAGES + "| 'max_tokens':8192,'n':4                      | 8192",
                "/v1/complete| 'max_tokens_to_sample':300                  | 300",
                GEMINI + "| 'generationConfig':{'maxOutputTokens':100,'candidateCount':4}    | 400",
                GEMINI + "| 'generation_config':{'max_output_tokens':100,'candidate_count':4}| 400",
                GEMINI + "| 'generationConfig':{'maxOutputTokens':0}       | -", // not set, in protobuf
                GEMINI + "| 'generationConfig':'x'                         | -",
                "/v1beta/interactions| 'generation_config':{'max_output_tokens':70}             | 70",
                "/v1/embeddings| 'input':'x'                               | 0", // there is no output
                "/v1/unheard_of| 'max_tokens':1,'max_output_tokens':400    | 400"
            })
    void theLargestCapCountsTimesTheChoices(String path, String members, Long cap) {
        String body = ("{'model':'m'," + members + "}").replace('\'', '"');

        assertThat(asks(profile(path), path, body).maxOutputTokens()).isEqualTo(cap);
    }

    /** Where no cap is named the class's counts for each of them. */
    @Test
    void choicesAreToldToo() {
        assertThat(asks(OpenAi.PROFILE, CHAT, "{\"model\":\"m\",\"n\":3}").choices())
                .isEqualTo(3);
        assertThat(asks(Gemini.PROFILE, GEMINI, "{\"generationConfig\":{\"candidateCount\":2}}")
                        .choices())
                .isEqualTo(2);
        assertThat(asks(OpenAi.PROFILE, CHAT, "{\"model\":\"m\"}").choices()).isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '`',
            delimiter = '|',
            nullValues = "-",
            value = {
                // method, path, kind, endpoint
                "POST|/v1/messages                                            |CALL |messages",
                "post|/v1/messages?beta=true                                  |CALL |messages",
                "POST|/gateway/acme-prod/v1/messages                          |CALL |messages",
                "POST|/v1/messages/count_tokens?beta=true                     |FREE |-",
                "POST|/v1/messages/batches                                    |OTHER|-",
                "POST|/v1/messages/batches/msgbatch_1/cancel                  |FREE |-",
                "GET |/v1/messages/batches/msgbatch_1/results                 |FREE |-",
                "HEAD|/api/hello                                              |FREE |-",
                "GET |/v1/models?limit=1000                                   |FREE |-",
                "POST|/api/event_logging/batch                                |FREE |-",
                "POST|/v1/files                                               |FREE |-",
                "POST|/v1/chat/completions                                    |CALL |chat/completions",
                "POST|/v1/completions                                         |CALL |completions",
                "POST|/v1/responses                                           |CALL |responses",
                "POST|/v1/responses/                                          |CALL |responses",
                "POST|/v1/responses/input_tokens                              |FREE |-",
                "POST|/v1/responses/compact                                   |CALL |compact",
                "POST|/v1/responses/resp_1/cancel                             |FREE |-",
                "GET |/v1/responses/resp_1                                    |FREE |-",
                "DELETE|/v1/responses/resp_1                                  |FREE |-",
                "POST|/v1/embeddings                                          |CALL |embeddings",
                "POST|/v1/moderations                                         |FREE |-",
                "POST|/v1/batches                                             |OTHER|-",
                "POST|/v1/fine_tuning/jobs                                    |OTHER|-",
                "POST|/v1/realtime/sessions                                   |OTHER|-",
                "POST|/api/v1/chat/completions                                |CALL |chat/completions",
                "POST|/v1beta/openai/chat/completions                         |CALL |chat/completions",
                "POST|/v1beta/models/gemini-3-pro:generateContent             |CALL |generateContent",
                "POST|/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse|CALL|generateContent",
                "POST|/v1beta/models/gemini-3-pro%3AgenerateContent           |CALL |generateContent",
                "POST|/v1internal:streamGenerateContent?alt=sse               |CALL |generateContent",
                "POST|/v1beta/models/gemini-3-pro:countTokens                 |FREE |-",
                "POST|/v1internal:loadCodeAssist                              |FREE |-",
                "POST|/v1beta/models/gemini-embedding-001:batchEmbedContents  |CALL |embeddings",
                "POST|/v1beta/models/gemini-3-pro:batchGenerateContent        |OTHER|-",
                "POST|/v1beta/interactions                                    |CALL |interactions",
                "POST|/v1/unheard_of                                          |CALL |unheard_of", // it names a model
                "PUT |/v1/messages                                            |OTHER|-",
                "POST|                                                        |CALL |-",
                "POST|/%zz                                                    |CALL |-"
            })
    void whatUsesTokensIsACall(String method, String path, Kind kind, String endpoint) {
        byte[] body = "{\"model\":\"m\"}".getBytes(UTF_8);
        for (Profile profile : UsageTest.ALL) {
            Asked asked =
                    profile.asks(Request.of(method, path == null ? "" : path).body(body));
            assertThat(asked.kind()).isEqualTo(kind);
            assertThat(asked.endpoint()).isEqualTo(endpoint);
            assertThat(asked.why().isEmpty()).isEqualTo(kind == Kind.CALL);
            if (kind != Kind.CALL) {
                assertThat(asked.inputBytes() + asked.attachedTokens()).isZero();
            }
        }
    }

    @Test
    void whatIsNotKnownAndNamesNoModelIsNeither() {
        assertThat(asks(OpenAi.PROFILE, "/v1/unheard_of", "{\"input\":\"x\"}").kind())
                .isEqualTo(Kind.OTHER);
    }

    @Test
    void onAWebSocketNothingIsSeen() {
        Request request = Request.of("GET", RESPONSES).headers(Map.of("UPGRADE", List.of("WebSocket")));

        assertThat(OpenAi.PROFILE.asks(request).kind()).isEqualTo(Kind.OTHER);
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '`',
            delimiter = '|',
            nullValues = "-",
            value = {
                // path, members, model
                MESSAGES + "| 'model':'claude-sonnet-5-5'                   | claude-sonnet-5-5",
                "/api/v1/chat/completions| 'model':'anthropic/claude-sonnet-4.5:free' | anthropic/claude-sonnet-4.5:free",
                "/api/v1/chat/completions| 'models':['a/b','c/d']           | a/b",
                GEMINI + "| 'model':'another'                               | gemini-3-pro",
                "/v1beta/models/gemini-3-pro%3AgenerateContent| 'x':1       | gemini-3-pro",
                "/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse| 'x':1 | gemini-3-pro",
                "/v1beta/tunedModels/mine:generateContent| 'x':1            | mine",
                "/v1internal:generateContent| 'model':'gemini-3-pro','request':{} | gemini-3-pro",
                "/v1beta/cachedContents| 'model':'models/gemini-3-pro'      | gemini-3-pro",
                "/openai/deployments/mine/chat/completions?api-version=1| 'x':1 | mine",
                CHAT + "| 'model':null                                      | -",
                CHAT + "| 'model':''                                        | -",
                CHAT + "| 'model':7                                         | -",
                CHAT + "| 'model':['m']                                     | -"
            })
    void theModelIsTheOneThatTheRequestNames(String path, String members, String model) {
        Asked asked = asks(Generic.PROFILE, path, ("{" + members + "}").replace('\'', '"'));

        assertThat(asked.kind()).isEqualTo(Kind.CALL);
        assertThat(asked.model()).isEqualTo(model);
    }

    @Test
    void aModelLongerThanAnyIsNone() {
        assertThat(asks(OpenAi.PROFILE, CHAT, "{\"model\":\"" + "m".repeat(257) + "\"}")
                        .model())
                .isNull();
    }

    @Test
    void tierSpeedAndStreamAreTold() {
        Asked openAi = asks(OpenAi.PROFILE, CHAT, "{\"model\":\"m\",\"service_tier\":\"flex\",\"stream\":true}");
        assertThat(openAi.serviceTier()).isEqualTo("flex");
        assertThat(openAi.streamed()).isTrue();
        Asked fast = asks(Anthropic.PROFILE, MESSAGES, "{\"model\":\"m\",\"speed\":\"fast\",\"stream\":false}");
        assertThat(fast.speed()).isEqualTo("fast");
        assertThat(fast.streamed()).isFalse();
        assertThat(asks(Gemini.PROFILE, "/v1beta/models/m:streamGenerateContent", "{}")
                        .streamed())
                .isTrue();
        Asked odd = asks(OpenAi.PROFILE, CHAT, "{\"model\":\"m\",\"service_tier\":\"no name\",\"stream\":\"x\"}");
        assertThat(odd.serviceTier()).isNull();
        assertThat(odd.streamed()).isFalse();
    }

    /** Only chat streams are silent unless asked, and not OpenRouter's. */
    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '`',
            delimiter = '|',
            value = {
                CHAT + "| 'stream':true                                            | false",
                CHAT + "| 'stream':true,'stream_options':{'include_usage':false}   | false",
                CHAT + "| 'stream':true,'stream_options':null                      | false",
                CHAT + "| 'stream':true,'stream_options':{'include_usage':true}    | true",
                CHAT + "| 'stream':false                                           | true",
                CHAT + "| 'n':1                                                    | true",
                RESPONSES + "| 'stream':true                                       | true",
                MESSAGES + "| 'stream':true                                        | true"
            })
    void itIsKnownWhetherUsageWillBeTold(String path, String members, boolean tells) {
        String body = ("{'model':'m'," + members + "}").replace('\'', '"');

        assertThat(asks(OpenAi.PROFILE, path, body).tellsUsage()).isEqualTo(tells);
        assertThat(asks(OpenRouter.PROFILE, path, body).tellsUsage()).isTrue();
    }

    /** Then its size is what is known of it. */
    @Test
    void aBodyThatCannotBeReadCountsByItsSize() {
        for (String body :
                List.of("", "{", "{\"model\":\"m\",\"messages\":[{\"content\":\"abc", "--boundary\r\n", "[1]", "7")) {
            Asked asked = asks(Anthropic.PROFILE, MESSAGES, body);
            assertThat(asked.kind()).isEqualTo(Kind.CALL);
            assertThat(asked.inputBytes()).as(body).isEqualTo(body.length());
            assertThat(asked.model()).isNull();
            assertThat(asked.maxOutputTokens()).isNull();
        }
        assertThat(asks(Gemini.PROFILE, GEMINI, "{").model()).isEqualTo("gemini-3-pro");
    }

    @Test
    void aBodyLargerThanTheBoundIsNotRead() {
        byte[] body = new byte[64 * 1024 * 1024 + 1];

        assertThat(Anthropic.PROFILE.asks(Request.post(MESSAGES, body)).inputBytes())
                .isEqualTo(body.length);
    }
}
