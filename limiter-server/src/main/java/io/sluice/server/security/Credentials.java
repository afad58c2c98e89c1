package io.sluice.server.security;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpCookie;
import org.springframework.http.HttpHeaders;
import org.springframework.http.server.reactive.ServerHttpRequest;

/** What a request shows of who sends it. */
final class Credentials {
    /** The cookie the page logs in for. Its value is the token, so that it is good at every replica and ends with the token. */
    static final String COOKIE = "sluice_token";

    private static final Pattern TOKEN = Pattern.compile("slc_[A-Za-z0-9_-]{43,128}");

    private Credentials() {}

    /** Whether it can be one of our tokens: 256 bits in hexadecimal or base64url after {@code slc_}. */
    static boolean isOurs(String token) {
        return TOKEN.matcher(token).matches();
    }

    /** The bearer token; {@code null} where there is none. */
    static @Nullable String bearer(ServerHttpRequest request) {
        String header = request.getHeaders().getFirst(HttpHeaders.AUTHORIZATION);
        return header != null && header.regionMatches(true, 0, "Bearer ", 0, 7)
                ? header.substring(7).trim()
                : null;
    }

    /** The page's cookie; {@code null} where there is none. */
    static @Nullable String cookie(ServerHttpRequest request) {
        HttpCookie cookie = request.getCookies().getFirst(COOKIE);
        return cookie == null ? null : cookie.getValue();
    }

    static boolean hasAuthorization(ServerHttpRequest request) {
        return request.getHeaders().containsHeader(HttpHeaders.AUTHORIZATION);
    }
}
