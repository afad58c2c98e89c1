package io.sluice.testbed.clients;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.Response;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.io.ByteArrayOutputStream;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Plain requests of {@code java.net.http} on the budget. */
@WithRedis
@Timeout(60)
class JavaHttpIT {
    private static final String JSON =
            "{\"model\":\"claude-example-1\",\"max_tokens\":50,\"stream\":%s,\"messages\":[{\"role\":\"user\",\"content\":\"Say hi\"}]}";

    private final Emulated emulated;
    private final JavaHttpExample example;

    JavaHttpIT(RedisServer redis) {
        emulated = new Emulated(redis, "anthropic", "claude-example-1");
        example = new JavaHttpExample(emulated.project, emulated.uri());
    }

    @AfterEach
    void close() {
        emulated.close();
    }

    private void eachIsCharged() {
        assertThat(emulated.charged()).isEqualTo(emulated.counted());
    }

    @Test
    void aWholeAnswer() throws Exception {
        emulated.behave("{\"overload\":{\"share\":0.5,\"retry-after\":\"1s\"}}");
        example.ask(emulated.call, JSON.formatted("false"));
        Response response = example.ask(emulated.call, JSON.formatted("false"));
        assertThat(response.status()).isEqualTo(200);
        assertThat(response.reading().usageComplete()).isTrue();
        assertThat(emulated.counted()).isEqualTo(3);
        eachIsCharged();
    }

    /** The model finds its class by what the request says. */
    @Test
    void aCallThatIsSizedByItsRequest() throws Exception {
        Response response = example.askAs("host-3/agent-17", JSON.formatted("false"));
        assertThat(response.reading().usageComplete()).isTrue();
        eachIsCharged();
    }

    @Test
    void aStream() throws Exception {
        HttpRequest request = HttpRequest.newBuilder(emulated.uri().resolve("/v1/messages"))
                .header("content-type", "application/json")
                .POST(BodyPublishers.ofString(JSON.formatted("true")))
                .build();
        ByteArrayOutputStream seen = new ByteArrayOutputStream();
        Response response = example.stream(emulated.call, request, seen::writeBytes);
        assertThat(response.reading().usageComplete()).isTrue();
        assertThat(seen.toString(StandardCharsets.UTF_8)).contains("message_stop");
        eachIsCharged();
    }

    /** It is cut after some text; that is booked, and the answer comes in the end. */
    @Test
    void aStreamThatIsCutIsAskedForAgain() throws Exception {
        emulated.behave("{\"stream-error\":\"after=2,kind=cut,share=0.5\"}");
        for (int i = 0; i < 4; i++) {
            Response response = example.ask(emulated.call, JSON.formatted("true"));
            assertThat(response.reading().usageComplete()).isTrue();
        }
        assertThat(emulated.counted()).isGreaterThan(4);
        eachIsCharged();
    }
}
