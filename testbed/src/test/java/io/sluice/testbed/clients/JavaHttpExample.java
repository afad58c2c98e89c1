package io.sluice.testbed.clients;

import io.sluice.Call;
import io.sluice.Project;
import io.sluice.Request;
import io.sluice.Response;
import io.sluice.http.HttpSender;
import io.sluice.provider.Anthropic;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.function.Consumer;

/** {@code java.net.http}, as docs/clients.md shows it. */
final class JavaHttpExample {
    private final Project project;
    private final URI api;

    JavaHttpExample(Project project, URI api) {
        this.project = project;
        this.api = api;
    }

    // docs: java.net.http
    private final HttpSender http = HttpSender.of(HttpClient.newHttpClient());

    Response ask(Call call, String json) throws InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(api.resolve("/v1/messages"))
                .timeout(Duration.ofMinutes(10))
                .header("content-type", "application/json")
                .POST(BodyPublishers.ofString(json))
                .build();
        return project.call(call, Anthropic.PROFILE, http.sends(attempt -> request));
    }
    // end

    // docs: java.net.http, sized by its request
    Response askAs(String agent, String json) throws InterruptedException {
        Request asking = Request.post("/v1/messages", json.getBytes(StandardCharsets.UTF_8));
        return ask(Call.of(Anthropic.PROFILE.asks(asking)).agent(agent), json);
    }
    // end

    // docs: java.net.http, streamed
    Response stream(Call call, HttpRequest request, Consumer<byte[]> consumer) throws InterruptedException {
        return project.call(call, Anthropic.PROFILE, http.handingOn(consumer).sends(attempt -> request));
    }
    // end
}
