package io.sluice.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.nimbusds.jose.JOSEException;
import io.sluice.server.Http.Reply;
import io.sluice.testbed.redis.RedisServers;
import io.sluice.testbed.redis.WithRedis;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Tokens of an identity provider: signed for real, its keys read over real HTTP. */
@WithRedis
class OidcIT {
    private static final String CALL = "\"model\":\"claude-sonnet-5-5\",\"input_tokens\":1";

    private static Issuer issuer;
    private static Started server;
    private static String project;

    @BeforeAll
    static void start() throws IOException, JOSEException {
        issuer = Issuer.start();
        server = on(issuer.uri());
        project = Policies.installed(as(Map.of("sluice_role", "admin", "sluice_projects", List.of("*"))), "{rpm: 600}");
    }

    @AfterAll
    static void stop() {
        server.close();
        issuer.close();
    }

    private static Started on(String issuer) {
        return Started.on(
                RedisServers.shared().uri(),
                "--spring.security.oauth2.resourceserver.jwt.issuer-uri=" + issuer,
                "--sluice.failures-per-minute=1000");
    }

    private static Http as(Map<String, Object> claims) throws JOSEException {
        return server.http.with(issuer.token(claims));
    }

    private static Map<String, Object> role(String role) {
        return Map.of("sluice_role", role, "sluice_projects", List.of(project));
    }

    private static String at(String path) {
        return "/v1/projects/" + project + path;
    }

    @Test
    void theRoleAndTheProjectsAreThoseOfTheClaims() throws JOSEException {
        Http agent = as(role("agent"));
        Reply me = agent.get("/v1/me");
        assertThat(me.json().get("role").asString()).isEqualTo("agent");
        assertThat(me.json().get("name").asString()).isEqualTo("oidc:someone");
        assertThat(agent.post(at("/permits"), "{" + CALL + "}").status()).isEqualTo(201);
        isForbidden(agent.get(at("/status")));
        isForbidden(agent.post(at("/hold"), "{\"reason\":\"x\"}"));
        isForbidden(agent.post("/v1/projects/anothers/permits", "{" + CALL + "}"));

        Http viewer = as(role("viewer"));
        assertThat(viewer.get(at("/status")).status()).isEqualTo(200);
        isForbidden(viewer.post(at("/permits"), "{" + CALL + "}"));
        isForbidden(viewer.put(at(""), Policies.of(project, "{rpm: 1}"), "Content-Type", "application/yaml"));

        Http admin = as(role("admin"));
        assertThat(admin.put(at(""), Policies.of(project, "{rpm: 600}"), "Content-Type", "application/yaml")
                        .status())
                .isEqualTo(200);
        isForbidden(admin.put(
                "/v1/projects/anothers", Policies.of("anothers", "{rpm: 1}"), "Content-Type", "application/yaml"));
    }

    @Test
    void theOtherClaimsBindItsCalls() throws JOSEException {
        Map<String, Object> claims = new LinkedHashMap<>(role("agent"));
        claims.put("sluice_team", "research");
        claims.put("sluice_max_priority", "normal");
        claims.put("sluice_agent_prefix", "r/");
        Http agent = as(claims);
        String mine = "{" + CALL + ",\"agent\":\"r/1\"%s}";
        assertThat(agent.post(at("/permits"), mine.formatted("")).status()).isEqualTo(201);
        isForbidden(agent.post(at("/permits"), mine.formatted(",\"team\":\"other\"")));
        isForbidden(agent.post(at("/permits"), mine.formatted(",\"priority\":\"interactive\"")));
        isForbidden(agent.post(at("/permits"), "{" + CALL + ",\"agent\":\"s/1\"}"));
    }

    @Test
    void aTokenThatProvesNothingIsNobodys() throws JOSEException {
        Map<String, Object> claims = role("admin");
        isNobody("issued by another", issuer.signed(issuer.claims(claims).issuer("http://127.0.0.1:1")));
        Date past = Date.from(Instant.now().minus(Duration.ofHours(1)));
        isNobody("too old", issuer.signed(issuer.claims(claims).expirationTime(past)));
        Date future = Date.from(Instant.now().plus(Duration.ofHours(1)));
        isNobody("not good yet", issuer.signed(issuer.claims(claims).notBeforeTime(future)));
        isNobody("not signed", Issuer.unsigned(issuer.claims(claims)));
        isNobody("signed by another key of the same name", Issuer.signed(issuer.claims(claims), Issuer.key()));
        isNobody("no token at all", "nonsense");
        assertThat(server.http.get("/v1/me").status()).isEqualTo(401);
    }

    @Test
    void aTokenWithoutADocumentedRoleIsNobodys() throws JOSEException {
        isNobody("no role", issuer.token(Map.of("sluice_projects", List.of("*"))));
        isNobody("an unknown role", issuer.token(Map.of("sluice_role", "boss", "sluice_projects", List.of("*"))));
        isNobody("an unknown priority", issuer.token(Map.of("sluice_role", "agent", "sluice_max_priority", "now")));
        isForbidden(as(Map.of("sluice_role", "admin")).get(at("/status")));
    }

    /** Not the fault of whoever comes with a token, so neither 401 nor a failure that is counted. */
    @Test
    void anIdentityProviderThatIsAwayIsAnOutage() throws JOSEException {
        try (Started other = on("http://127.0.0.1:1")) {
            Reply no = other.http.with(issuer.token(role("admin"))).get("/v1/me");
            assertThat(no.status()).isEqualTo(503);
            assertThat(no.kind()).isEqualTo("outage");
            assertThat(no.json().get("reason").asString()).isEqualTo("identity_provider");
        }
    }

    private static void isForbidden(Reply reply) {
        assertThat(reply.status()).as(reply.toString()).isEqualTo(403);
        assertThat(reply.kind()).isEqualTo("forbidden");
    }

    private static void isNobody(String why, String token) {
        Reply reply = server.http.with(token).get(at("/status"));
        assertThat(reply.status()).as(why + ": " + reply).isEqualTo(401);
        assertThat(reply.kind()).isEqualTo("unauthenticated");
        assertThat(reply.body()).doesNotContain(token);
    }
}
