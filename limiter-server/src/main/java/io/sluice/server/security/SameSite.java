package io.sluice.server.security;

import java.net.URI;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.server.reactive.ServerHttpRequest;

/**
 * Keeps other people's pages out. What a browser sends by itself (a cookie, or nothing at all where no token is asked for) counts
 * only if our own page sent it; where no token is asked for the name that was called must be this machine's too, because a page can
 * point a name of its own here. Pure.
 */
final class SameSite {
    private static final Set<HttpMethod> SAFE = Set.of(HttpMethod.GET, HttpMethod.HEAD, HttpMethod.OPTIONS);
    private static final Set<String> LOOPBACK = Set.of("localhost", "127.0.0.1", "[::1]");

    private SameSite() {}

    /**
     * Why a request is not served, or {@code null}.
     *
     * @param open whether no token is asked for
     */
    static @Nullable String fault(ServerHttpRequest request, boolean open) {
        HttpHeaders headers = request.getHeaders();
        String host = headers.getFirst(HttpHeaders.HOST);
        if (open && (host == null || !LOOPBACK.contains(name(host)))) {
            return "without tokens only this machine's own names are served: localhost, 127.0.0.1, [::1]";
        }
        if (Credentials.hasAuthorization(request)) {
            return null;
        }
        String origin = headers.getOrigin();
        if (origin != null) {
            return isOurs(origin, host, request.getURI()) ? null : "the request comes from another page";
        }
        String site = headers.getFirst("Sec-Fetch-Site");
        boolean vouched = site == null ? open : site.equals("same-origin") || site.equals("none");
        boolean needed = Credentials.cookie(request) != null || site != null;
        return needed && !vouched && !SAFE.contains(request.getMethod())
                ? "a request with a cookie needs the Origin it comes from"
                : null;
    }

    private static boolean isOurs(String origin, @Nullable String host, URI called) {
        String authority = origin.replaceFirst("^https?://", "").toLowerCase(Locale.ROOT);
        return (host != null && plain(authority).equals(plain(host)))
                || (called.getAuthority() != null && plain(authority).equals(plain(called.getAuthority())));
    }

    private static String plain(String authority) {
        return authority.toLowerCase(Locale.ROOT).replaceFirst(":(80|443)$", "");
    }

    private static String name(String host) {
        return host.toLowerCase(Locale.ROOT).replaceFirst(":[0-9]+$", "");
    }
}
