package io.sluice.server.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.Priority;
import io.sluice.server.problem.Problem;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.http.HttpMethod;
import org.springframework.mock.http.server.reactive.MockServerHttpRequest;

/** Roles, bindings, origins and the tokens file, row by row. */
class WhoMayTest {

    private static Caller caller(Role role) {
        return new Caller("x", role, List.of("acme-*"), null, null, Priority.INTERACTIVE, "", true);
    }

    @ParameterizedTest
    @CsvSource({
        // method, path, admin, agent, viewer
        "GET, /v1/me, true, true, true",
        "GET, /v1/projects, true, true, true",
        "POST, /v1/projects, false, false, false",
        "GET, /v1/projects/acme-1, true, false, true",
        "PUT, /v1/projects/acme-1, true, false, false",
        "DELETE, /v1/projects/acme-1, true, false, false",
        "GET, /v1/projects/acme-1/versions/3, true, false, true",
        "POST, /v1/projects/acme-1/rollback, true, false, false",
        "POST, /v1/projects/acme-1/permits, true, true, false",
        "POST, /v1/projects/acme-1/permits/x/settle, true, true, false",
        "DELETE, /v1/projects/acme-1/waits/x, true, true, false",
        "GET, /v1/projects/acme-1/status, true, false, true",
        "POST, /v1/projects/acme-1/hold, true, false, false",
        "DELETE, /v1/projects/acme-1/hold, true, false, false",
        "POST, /v1/projects/acme-1/levels, true, false, false",
        "GET, /v1/projects/acme-1/nothing, true, false, false",
        "GET, /v1/projects/other, false, false, false",
        "POST, /v1/projects/other/permits, false, false, false",
        "POST, /v1/hold, true, false, false",
        // an escape or a parameter could mean another project than it looks like
        "GET, /v1/projects/acme-%31/status, false, false, false",
        "GET, /v1/projects/acme-1;x=1/status, false, false, false",
        "GET, /v1/nothing, false, false, false",
        "GET, /v2/projects, false, false, false",
        "GET, /, false, false, false",
    })
    void roles(String method, String path, boolean admin, boolean agent, boolean viewer) {
        HttpMethod verb = HttpMethod.valueOf(method);
        assertThat(Access.allows(caller(Role.ADMIN), verb, path)).isEqualTo(admin);
        assertThat(Access.allows(caller(Role.AGENT), verb, path)).isEqualTo(agent);
        assertThat(Access.allows(caller(Role.VIEWER), verb, path)).isEqualTo(viewer);
    }

    @ParameterizedTest
    @CsvSource({
        "*, anything, true",
        "acme-*, acme-, true",
        "acme-*, acme-prod, true",
        "acme-*, acme, false",
        "*-prod, a-b-prod, true",
        "a*b*c, aXbYc, true",
        "a*b*c, aXbY, false",
        "acme, acme, true",
        "acme, acme2, false",
    })
    void projectsByPattern(String pattern, String project, boolean matches) {
        assertThat(covering(pattern).covers(project)).isEqualTo(matches);
    }

    private static Caller covering(String pattern) {
        return new Caller("x", Role.AGENT, List.of(pattern), null, null, Priority.INTERACTIVE, "", true);
    }

    /** Whoever writes a claim or a file means what it says there: no other wildcard, and no other language of patterns. */
    @ParameterizedTest
    @ValueSource(strings = {"acme-?", "ACME-*", "acme-[12]", "acme prod", "", "a/b"})
    void whatIsNoPatternOfIdsCoversNothing(String pattern) {
        assertThatThrownBy(() -> covering(pattern)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void aCallIsWhatItsTokenAllows() {
        Caller bound = new Caller("x", Role.AGENT, List.of("*"), "research", null, Priority.BATCH, "r/", true);
        assertThat(bound.team(null)).isEqualTo("research");
        assertThat(bound.priority(null)).isEqualTo(Priority.BATCH);
        assertThat(bound.workspace("any")).isEqualTo("any");
        assertThat(bound.agent("r/1")).isEqualTo("r/1");
        assertThatThrownBy(() -> bound.team("ops")).isInstanceOf(Problem.class);
        assertThatThrownBy(() -> bound.priority(Priority.NORMAL)).isInstanceOf(Problem.class);
        assertThatThrownBy(() -> bound.agent(null)).isInstanceOf(Problem.class);
        assertThat(caller(Role.AGENT).priority(null)).isEqualTo(Priority.NORMAL);
    }

    @ParameterizedTest
    @CsvSource(
            nullValues = "-",
            value = {
                // open, method, host, origin, fetch site, cookie, authorization, served
                "true, GET, localhost:8080, -, -, -, -, true",
                "true, GET, [::1]:8080, -, -, -, -, true",
                "true, GET, evil.example:8080, -, -, -, -, false",
                "true, GET, localhost.evil.example, -, -, -, -, false",
                "true, POST, localhost:8080, -, -, -, -, true",
                "true, POST, localhost:8080, http://localhost:8080, same-origin, -, -, true",
                "true, POST, localhost:8080, http://evil.example, cross-site, -, -, false",
                "true, POST, localhost:8080, http://localhost:9090, same-site, -, -, false",
                "true, POST, localhost:8080, null, cross-site, -, -, false",
                "false, GET, sluice.example, -, cross-site, slc, -, true",
                "false, POST, sluice.example, https://sluice.example, same-origin, slc, -, true",
                "false, POST, sluice.example, -, -, slc, -, false",
                "false, POST, sluice.example, -, same-origin, slc, -, true",
                "false, POST, sluice.example, -, cross-site, slc, -, false",
                "false, POST, sluice.example, https://evil.example, cross-site, slc, -, false",
                "false, POST, sluice.example, https://evil.example, cross-site, -, Bearer x, true",
                "false, POST, sluice.example, -, -, -, -, true",
            })
    void otherPeoplesPages(
            boolean open,
            String method,
            String host,
            String origin,
            String site,
            String cookie,
            String authorization,
            boolean served) {
        MockServerHttpRequest.BaseBuilder<?> request = MockServerHttpRequest.method(
                        HttpMethod.valueOf(method), "/v1/me")
                .header("Host", host);
        if (origin != null) {
            request.header("Origin", origin);
        }
        if (site != null) {
            request.header("Sec-Fetch-Site", site);
        }
        if (cookie != null) {
            request.cookie(new org.springframework.http.HttpCookie(Credentials.COOKIE, cookie));
        }
        if (authorization != null) {
            request.header("Authorization", authorization);
        }
        assertThat(SameSite.fault(request.build(), open) == null).isEqualTo(served);
    }

    @Test
    void theTokensFileIsReadStrictlyAndNamesNoSecret() {
        String hash = "a".repeat(64);
        String good = "tokens: [{name: x, sha256: " + hash + ", role: agent, projects: [\"*\"], max_priority: batch}]";
        Caller caller = TokenFile.read(good.getBytes(StandardCharsets.UTF_8)).get(hash);
        assertThat(caller.highest()).isEqualTo(Priority.BATCH);
        assertThat(caller.mayReport()).isTrue();
        for (String bad : new String[] {
            good.replace("agent", "boss"),
            good.replace(hash, "slc_" + hash),
            good.replace("projects", "project"),
            good.replace("[\"*\"]", "[]"),
            good.replace("name: x", "name: \"x y\""),
            good.replace("batch", "urgent"),
            "tokens: 7",
            "", // what a file that is just being written looks like
        }) {
            assertThatThrownBy(() -> TokenFile.read(bad.getBytes(StandardCharsets.UTF_8)))
                    .as(bad)
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageNotContaining(hash);
        }
        assertThat(TokenFile.read("tokens: []".getBytes(StandardCharsets.UTF_8)))
                .isEmpty();
    }
}
