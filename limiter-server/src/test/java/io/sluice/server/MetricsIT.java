package io.sluice.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.sluice.server.Http.Reply;
import io.sluice.testbed.redis.WithRedis;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What is measured, under the names and labels that rules and dashboards ask for. */
@Tag("contract")
@WithRedis
class MetricsIT {
    private static final String CALL = "\"model\":\"claude-sonnet-5-5\",\"input_tokens\":10";

    private final Http http = Started.shared().http;
    private final String project = Policies.installed(http, "{rpm: 6000, itpm: 60000}");
    private final String at = "/v1/projects/" + project;

    @Test
    void eachWayAPermitEndsIsCountedByItsName() {
        http.delete(at + "/permits/" + permit(""));
        told("sluice_permits_total{class=\"sonnet\",outcome=\"cancelled\",project=\"%s\"} 1.0");
        permit(",\"lease_ms\":1000");
        await().pollDelay(1_500, TimeUnit.MILLISECONDS)
                .atMost(5, TimeUnit.SECONDS)
                .until(() -> true);
        http.get(at + "/status"); // who looks expires what is due
        told("sluice_permits_total{class=\"sonnet\",outcome=\"expired\",project=\"%s\"} 1.0");
        String no = permit("");
        assertThat(http.post(at + "/permits/" + no + "/settle", """
                        {"status": 429, "headers": {"retry-after": "30"},
                         "body": "{\\"type\\":\\"error\\",\\"error\\":{\\"type\\":\\"rate_limit_error\\",\\"message\\":\\"slow down\\"}}"}
                        """).status()).isEqualTo(200);
        told("sluice_permits_total{class=\"sonnet\",outcome=\"throttled\",project=\"%s\"} 1.0");
        told("sluice_rejections_total{class=\"sonnet\",kind=\"requests\",project=\"%s\"} 1.0");
        told("sluice_permits_total{class=\"sonnet\",outcome=\"granted\",project=\"%s\"} 3.0");
    }

    @Test
    void aHoldIsOneUntilItIsReleased() {
        permit("");
        assertThat(http.post(at + "/hold", "{\"class\":\"sonnet\",\"reason\":\"x\"}")
                        .status())
                .isEqualTo(200);
        told("sluice_hold{project=\"%s\",scope=\"c:sonnet\"} 1.0");
        assertThat(http.delete(at + "/hold?class=sonnet").status()).isEqualTo(200);
        String on = "sluice_hold{project=\"%s\",scope=\"c:sonnet\"} 1.0".formatted(project);
        await().atMost(15, TimeUnit.SECONDS)
                .until(() -> !http.get("/actuator/prometheus").body().contains(on));
    }

    @Test
    void whatTheProviderSaysIsLeftIsTold() {
        assertThat(http.post(at + "/permits/" + permit("") + "/settle", """
                        {"status": 200, "usage": {"input_tokens": 10, "output_tokens": 1},
                         "headers": {"anthropic-ratelimit-requests-limit": "6000",
                                     "anthropic-ratelimit-requests-remaining": "4321",
                                     "anthropic-ratelimit-requests-reset": "2099-01-01T00:00:00Z"}}
                        """).status())
                .isEqualTo(200);
        told("sluice_provider_remaining{class=\"sonnet\",limit=\"rpm\",project=\"%s\"} 4321.0");
    }

    private String permit(String more) {
        Reply granted = http.post(at + "/permits", "{" + CALL + more + "}");
        assertThat(granted.status()).as(granted.body()).isEqualTo(201);
        return granted.json().get("permit").asString();
    }

    private void told(String series) {
        await().atMost(15, TimeUnit.SECONDS)
                .untilAsserted(() -> assertThat(
                                http.get("/actuator/prometheus").body().lines().filter(line -> line.contains(project)))
                        .contains(series.formatted(project)));
    }
}
