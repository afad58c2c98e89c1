package io.sluice.provider;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.sluice.Asked;
import io.sluice.Call;
import io.sluice.Profile;
import io.sluice.Request;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** No request makes a profile throw, none keeps it busy, and none is worth more than its bounds. */
class HostileRequestsTest {
    private static final List<String> PATHS = List.of(
            RequestsTest.CHAT,
            RequestsTest.RESPONSES,
            RequestsTest.MESSAGES,
            RequestsTest.GEMINI,
            "/v1/embeddings",
            "/v1/unheard_of",
            "//:",
            "/%",
            "/a:b:generateContent");
    private static final String[] NAMES = {
        "model",
        "messages",
        "content",
        "type",
        "text",
        "source",
        "data",
        "image_url",
        "url",
        "input",
        "contents",
        "parts",
        "inlineData",
        "fileData",
        "request",
        "max_tokens",
        "max_completion_tokens",
        "n",
        "generationConfig",
        "stream",
        "stream_options",
        "include_usage",
        "tools",
        "args",
        "file_data",
        "signature",
        "encrypted_content",
        "models",
        ""
    };
    private static final String[] VALUES = {
        "null",
        "true",
        "-1",
        "0",
        "1e999",
        "-1e999",
        "3.7",
        "9".repeat(400),
        "-" + "9".repeat(400),
        "\"\"",
        "\"image\"",
        "\"document\"",
        "\"redacted_thinking\"",
        "\"data:\"",
        "\"data:,\"",
        "\"data:image/png;base64\"",
        "\"text\"",
        "\"7\"",
        "\"\\ud83d\"",
        "\"tool_use\"",
        "\"" + "A".repeat(1_100) + "\"",
        "[]",
        "{}"
    };

    private static String random(Random random, int depth) {
        int kind = depth > 5 ? 0 : random.nextInt(3);
        if (kind == 0) {
            return VALUES[random.nextInt(VALUES.length)];
        }
        StringBuilder json = new StringBuilder(kind == 1 ? "{" : "[");
        for (int i = random.nextInt(5); i > 0; i--) {
            json.append(kind == 1 ? "\"" + NAMES[random.nextInt(NAMES.length)] + "\":" : "");
            json.append(random(random, depth + 1)).append(i > 1 ? "," : "");
        }
        return json.append(kind == 1 ? "}" : "]").toString();
    }

    private static void read(Profile profile, String path, byte[] body) {
        Asked asked = profile.asks(Request.post(path, body));
        assertThat(asked.inputBytes()).isBetween(0L, (long) Math.max(body.length, 2) * 2);
        assertThat(asked.attachedTokens()).isBetween(0L, Call.MAX_TOKENS);
        assertThat(asked.choices()).isPositive();
        if (asked.maxOutputTokens() != null) {
            assertThat(asked.maxOutputTokens()).isBetween(0L, Call.MAX_TOKENS);
        }
        if (asked.kind() == Asked.Kind.CALL && asked.model() != null) {
            assertThat(Call.of(asked)).isNotNull();
        }
        byte[] told = StreamUsage.ask(asked, body);
        if (asked.tellsUsage()) {
            assertThat(told).isSameAs(body);
        }
        // Where options that are no object stand beside ones that are, whichever counts, it may still not tell.
        assertThat(profile.asks(Request.post(path, told)).toString().replace("tellsUsage=true", "tellsUsage=false"))
                .isEqualTo(asked.toString().replace("tellsUsage=true", "tellsUsage=false"));
    }

    @Test
    void randomRequestsAreRead() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        assertThatCode(() -> {
                    for (int i = 0; i < 5_000; i++) {
                        byte[] body = random(random, 0).getBytes(UTF_8);
                        String path = PATHS.get(random.nextInt(PATHS.size()));
                        read(UsageTest.ALL[i % UsageTest.ALL.length], path, body);
                    }
                })
                .as("seed " + seed)
                .doesNotThrowAnyException();
    }

    /** Cut anywhere, and with any byte changed to another. */
    @Test
    void damagedRequestsAreRead() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        Pictures.all("iVBORw0KGgo=").forEach(one -> {
            byte[] whole = one.json().getBytes(UTF_8);
            for (int end = 0; end < whole.length; end++) {
                int length = end;
                assertThatCode(() -> read(one.profile(), one.path(), Arrays.copyOf(whole, length)))
                        .as("cut at " + end)
                        .doesNotThrowAnyException();
                byte[] damaged = whole.clone();
                damaged[end] = (byte) random.nextInt();
                assertThatCode(() -> read(one.profile(), one.path(), damaged))
                        .as("seed " + seed + ": " + new String(damaged, ISO_8859_1))
                        .doesNotThrowAnyException();
            }
        });
    }

    @Test
    void longRequestsAreReadInOneGo() {
        List<String> bodies = List.of(
                "[".repeat(500_000),
                "{\"messages\":".repeat(100_000),
                "{\"model\":\"m\",\"messages\":[" + "{\"type\":\"image\",\"data\":\"A\"},".repeat(100_000) + "1]}",
                "{\"model\":\"m\",\"max_tokens\":" + "9".repeat(900) + "}",
                "{\"model\":\"m\",\"content\":[" + "1,".repeat(500_000) + "1]}",
                "{\"model\":\"m\",\"x\":\"" + "A".repeat(5_000_000) + "\"}");
        long start = System.nanoTime();

        for (Profile profile : UsageTest.ALL) {
            for (String body : bodies) {
                profile.asks(Request.post(RequestsTest.MESSAGES, body.getBytes(UTF_8)));
            }
        }

        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(60));
    }

    @Test
    void aMillionPicturesAreNoMoreThanACallCanBe() {
        String body =
                "{\"model\":\"m\",\"messages\":[" + "{\"type\":\"image\",\"data\":\"A\"},".repeat(300_000) + "1]}";

        assertThat(Anthropic.PROFILE
                        .asks(Request.post(RequestsTest.MESSAGES, body.getBytes(UTF_8)))
                        .attachedTokens())
                .isEqualTo(Call.MAX_TOKENS);
    }
}
