package io.sluice.testbed.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import io.sluice.Priority;
import io.sluice.Usage;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What is sent, and what is made of the answers; the real server answers in the demo and in limiter-server's own tests. */
@Timeout(30)
class HttpAdmissionTest {
    private static final String GRANTED = "{\"permit\": \"h1\", \"class\": \"sonnet\", \"lease_ms\": 30000}";
    private static final String ENDED = "{\"ended\": \"settled\", \"charged\": {\"requests\": 1, \"input\": 7, "
            + "\"cache_read\": 0, \"cache_write\": 0, \"output\": 3}}";

    private final List<String> asked = new CopyOnWriteArrayList<>();
    private final Queue<Object[]> answers = new ConcurrentLinkedQueue<>();
    private HttpServer server;
    private HttpAdmission admission;

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            asked.add(exchange.getRequestMethod() + " " + exchange.getRequestURI() + " " + body);
            Object[] answer = answers.remove();
            byte[] bytes = ((String) answer[1]).getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders((int) answer[0], bytes.length);
            exchange.getResponseBody().write(bytes);
            exchange.close();
        });
        server.start();
        admission = new HttpAdmission(
                URI.create("http://127.0.0.1:" + server.getAddress().getPort()), "acme");
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    @Test
    void aCallTakesItsPermitAndSaysWhatItUsed() throws Exception {
        answer(201, GRANTED);
        answer(200, ENDED);

        Admission.Ticket ticket = admission.admit(work()).get(10, TimeUnit.SECONDS);
        assertThat(ticket.modelClass()).isEqualTo("sonnet");
        Charge charge =
                ticket.settled(new Usage(7, 0, 0, 3)).toCompletableFuture().get(10, TimeUnit.SECONDS);

        assertThat(charge).isEqualTo(new Charge(1, 7, 0, 0, 3));
        assertThat(asked.get(0)).startsWith("POST /v1/projects/acme/permits ").contains("\"agent\":\"p0/a1\"");
        assertThat(asked.get(1))
                .startsWith("POST /v1/projects/acme/permits/h1/settle ")
                .contains("\"input_tokens\":7");
    }

    /** As a server says that stops, or whose Redis is out: with the same id, so that the place in line is kept. */
    @Test
    void a503IsAskedAgainAsTheSameQuestion() throws Exception {
        answer(503, "{\"kind\": \"outage\"}");
        answer(201, GRANTED);

        admission.admit(work()).get(10, TimeUnit.SECONDS);

        assertThat(asked).hasSize(2);
        assertThat(asked.get(1)).isEqualTo(asked.get(0)).contains("\"id\":");
    }

    @Test
    void aRefusalIsToldByItsKind() {
        answer(422, "{\"kind\": \"never\"}");

        assertThatThrownBy(() -> admission.admit(work()).get(10, TimeUnit.SECONDS))
                .hasRootCauseMessage("HTTP 422 never");
    }

    @Test
    void whatWasNotSentGoesBack() throws Exception {
        answer(201, GRANTED);
        answer(503, "{\"kind\": \"outage\"}");
        answer(200, ENDED);

        admission
                .admit(work())
                .get(10, TimeUnit.SECONDS)
                .unsent()
                .toCompletableFuture()
                .get(10, TimeUnit.SECONDS);

        assertThat(asked.subList(1, 3)).allMatch(request -> request.startsWith("DELETE /v1/projects/acme/permits/h1 "));
    }

    private void answer(int status, String body) {
        answers.add(new Object[] {status, body});
    }

    private static Work work() {
        return new Work("p0/a1", null, null, Priority.NORMAL, "claude-sonnet-5-5", "small", 0, 10, 0, 5, 20, 1, 3);
    }
}
