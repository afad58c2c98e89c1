package io.sluice.server;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.PlainJWT;
import com.nimbusds.jwt.SignedJWT;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.Map;

/** An identity provider: tells its keys as OpenID Connect says, over real HTTP, and signs tokens with them. */
final class Issuer implements AutoCloseable {
    private final HttpServer server;
    private final RSAKey key;

    private Issuer(HttpServer server, RSAKey key) {
        this.server = server;
        this.key = key;
    }

    static Issuer start() throws IOException, JOSEException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        Issuer issuer = new Issuer(server, key());
        issuer.serves(
                "/.well-known/openid-configuration",
                "{\"issuer\":\"%1$s\",\"jwks_uri\":\"%1$s/keys\",\"subject_types_supported\":[\"public\"]}"
                        .formatted(issuer.uri()));
        issuer.serves("/keys", new JWKSet(issuer.key).toPublicJWKSet().toString());
        server.start();
        return issuer;
    }

    static RSAKey key() throws JOSEException {
        return new RSAKeyGenerator(2048).keyID("one").generate();
    }

    private void serves(String path, String json) {
        server.createContext(path, exchange -> {
            byte[] body = json.getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
    }

    String uri() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    /** What a token says that is good for five minutes. */
    JWTClaimsSet.Builder claims(Map<String, Object> more) {
        JWTClaimsSet.Builder claims = new JWTClaimsSet.Builder()
                .issuer(uri())
                .subject("someone")
                .issueTime(Date.from(Instant.now()))
                .expirationTime(Date.from(Instant.now().plus(Duration.ofMinutes(5))));
        more.forEach(claims::claim);
        return claims;
    }

    String token(Map<String, Object> more) throws JOSEException {
        return signed(claims(more), key);
    }

    String signed(JWTClaimsSet.Builder claims) throws JOSEException {
        return signed(claims, key);
    }

    static String signed(JWTClaimsSet.Builder claims, RSAKey key) throws JOSEException {
        SignedJWT jwt = new SignedJWT(
                new JWSHeader.Builder(JWSAlgorithm.RS256).keyID(key.getKeyID()).build(), claims.build());
        jwt.sign(new RSASSASigner(key));
        return jwt.serialize();
    }

    static String unsigned(JWTClaimsSet.Builder claims) {
        return new PlainJWT(claims.build()).serialize();
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
