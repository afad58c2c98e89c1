package io.sluice.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.sluice.server.Http.Reply;
import io.sluice.testbed.redis.RedisServers;
import io.sluice.testbed.redis.WithRedis;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Leases that ran out: who asks for another is told, and so is everybody who looks. */
@Tag("contract")
@WithRedis
class LostLeasesIT {
    private static final String CALL = "\"model\":\"claude-sonnet-5-5\",\"input_tokens\":100,\"agent\":\"ann\"";

    private final Http http = Started.shared().http;
    private final String project = Policies.installed(http, "{concurrency: 1}");
    private final String permits = "/v1/projects/" + project + "/permits";

    private String take(String id, String more) {
        Reply granted = http.post(permits, "{" + CALL + ",\"id\":\"" + id + "\"" + more + "}");
        assertThat(granted.status()).as(granted.body()).isEqualTo(201);
        return permits + "/" + granted.json().get("permit").asString();
    }

    /** Its slot is another's once that one has it. */
    private String taken() {
        String lost = take("slow", ",\"lease_ms\":1000");
        take("next", ",\"max_wait_ms\":20000,\"lease_ms\":60000");
        return lost;
    }

    private List<String> lost(Http server) {
        // What was told is in order: once this hold is there, all that came before it is.
        String mark = Policies.id();
        server.post("/v1/projects/" + project + "/hold", "{\"for_ms\":1,\"reason\":\"" + mark + "\"}");
        try (Http.Events events =
                server.events("GET", "/v1/projects/" + project + "/events", null, "Last-Event-ID", "0")) {
            await().atMost(15, TimeUnit.SECONDS)
                    .until(() -> events.named("hold").stream()
                            .anyMatch(told -> told.path("reason").asString("").equals(mark)));
            return events.named("lost").stream()
                    .filter(told -> told.has("id")) // another says how many leases ran out, whoever noticed
                    .map(told -> told.get("id").asString() + " of "
                            + told.get("agent").asString() + " "
                            + told.get("outcome").asString())
                    .toList();
        }
    }

    private String counted(Http server) {
        return server.get("/actuator/prometheus")
                .body()
                .lines()
                .filter(line -> line.startsWith("sluice_lease_lost_total{project=\"" + project + "\"}"))
                .findFirst()
                .orElse("");
    }

    /** Only Java's clients told of it: over HTTP a lease that ran out was neither an event nor counted. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aLeaseThatWasLostIsToldOnceWhicheverServerItsHolderAsks(boolean elsewhere) {
        String lost = taken();
        if (elsewhere) {
            try (Started other = Started.on(RedisServers.shared().uri())) {
                assertToldOnce(other.http, lost);
            }
        } else {
            assertToldOnce(http, lost);
        }
    }

    private void assertToldOnce(Http server, String lost) {
        for (int i = 0; i < 3; i++) {
            assertThat(server.post(lost + "/renew", "").status()).isEqualTo(410);
        }
        assertThat(lost(server)).containsExactly("slow of ann lost");
        await().atMost(15, TimeUnit.SECONDS).until(() -> counted(server).endsWith(" 1.0"));
        // Its usage is booked all the same, and that is no second loss.
        assertThat(server.post(lost + "/settle", "{}").json().get("ended").asString())
                .isEqualTo("expired");
        assertThat(server.post(lost + "/renew", "").status()).isEqualTo(410);
        assertThat(lost(server)).hasSize(1);
    }

    @Test
    void whatHadEndedInOrderWasNotLost() {
        String settled = take("one", "");
        assertThat(http.post(settled + "/settle", "{}").status()).isEqualTo(200);
        String cancelled = take("two", "");
        assertThat(http.delete(cancelled).status()).isEqualTo(200);
        for (String ended : new String[] {settled, cancelled, permits + "/" + "A".repeat(22) + "eA"}) {
            assertThat(http.post(ended + "/renew", "").status()).isEqualTo(410);
        }
        try (Started other = Started.on(RedisServers.shared().uri())) {
            assertThat(other.http.post(settled + "/renew", "").status()).isEqualTo(410);
            String third = take("three", "");
            assertThat(other.http.post(third + "/settle", "{}").status()).isEqualTo(200);
            assertThat(http.post(third + "/renew", "").status())
                    .as("where it was handed out")
                    .isEqualTo(410);
            assertThat(lost(other.http)).isEmpty();
        }
        assertThat(lost(http)).isEmpty();
    }
}
