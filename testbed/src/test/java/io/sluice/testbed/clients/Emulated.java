package io.sluice.testbed.clients;

import io.sluice.Call;
import io.sluice.Decision;
import io.sluice.Permit;
import io.sluice.Policy;
import io.sluice.Project;
import io.sluice.Sluice;
import io.sluice.WaitListener;
import io.sluice.testbed.emulator.Emulator;
import io.sluice.testbed.emulator.EmulatorOptions;
import io.sluice.testbed.emulator.Limits;
import io.sluice.testbed.redis.RedisServer;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** An emulated provider and a budget of 100 requests for it: what each side counted can be compared. */
final class Emulated implements AutoCloseable {
    private static final long REQUESTS = 100;
    private static final JsonMapper JSON = JsonMapper.shared();

    final Call call;
    final Project project;
    final List<WaitListener.Retrying> retries = new CopyOnWriteArrayList<>();
    private final Emulator emulator;
    private final Sluice sluice;
    private final HttpClient http = HttpClient.newHttpClient();

    Emulated(RedisServer redis, String provider, String model) {
        String id = "sdk-" + UUID.randomUUID();
        call = Call.of(model).inputTokens(10).maxOutputTokens(50);
        emulator = Emulator.start(EmulatorOptions.of(provider, Limits.parse("rpm=1000")));
        sluice = Sluice.connect(redis.uri(), Sluice.Options.DEFAULT.withListener(new WaitListener() {
            @Override
            public void retrying(Retrying retrying) {
                retries.add(retrying);
            }
        }));
        project = sluice.project(id);
        sluice.install(Policy.parse("""
                project: %s
                provider: %s
                classes:
                  - {name: m, models: ["%s"]}
                  - {name: other, models: [other]}
                limits: {calls: {amount: %d, per: 1d, window: refill, burst: 1d, of: requests}}
                """.formatted(id, provider, model, REQUESTS)));
    }

    URI uri() {
        return emulator.uri();
    }

    /** Changes how the provider behaves. */
    void behave(String json) {
        post("/_behave", json);
    }

    /** How many requests reached it, served or not. */
    long counted() {
        JsonNode stats = JSON.readTree(
                send(HttpRequest.newBuilder(uri().resolve("/_stats")).build()));
        long counted = stats.path("accepted").asLong();
        for (JsonNode rejected : stats.path("rejected")) {
            counted += rejected.asLong();
        }
        return counted;
    }

    /** How many requests the budget was charged: by how many calls of a class that no hold concerns still fit. */
    long charged() {
        List<Permit> rest = new ArrayList<>();
        while (project.tryAcquire(Call.of("other")) instanceof Decision.Granted granted) {
            rest.add(granted.permit());
        }
        rest.forEach(Permit::cancel);
        return REQUESTS - rest.size();
    }

    private void post(String path, String json) {
        send(HttpRequest.newBuilder(uri().resolve(path))
                .POST(BodyPublishers.ofString(json))
                .build());
    }

    private String send(HttpRequest request) {
        return http.sendAsync(request, BodyHandlers.ofString()).join().body();
    }

    @Override
    public void close() {
        sluice.close();
        emulator.close();
    }
}
