package io.sluice.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.testbed.redis.WithRedis;
import org.junit.jupiter.api.Test;

/** The description of the API as a page: its scripts come from here and run under the policy they are served with. */
@WithRedis
class DocsIT {
    @Test
    void theDescriptionIsShownAndNothingOfItIsBlocked() {
        Started server = Started.shared();
        assertThat(server.http.get("/docs").status()).isIn(200, 302);
        try (Browser browser = Browser.start()) {
            browser.open(server, "docs");
            browser.sees(".swagger-ui", "/v1/projects/{project}/permits");
            assertThat(browser.complaints())
                    .filteredOn(text -> text.contains("script"))
                    .isEmpty();
            assertThat(browser.requests())
                    .filteredOn(url -> url.startsWith("http"))
                    .isNotEmpty()
                    .allMatch(url -> url.startsWith("http://127.0.0.1:" + server.port + "/"));
        }
    }
}
