package io.sluice;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One HTTP request as an agent sends it to a provider, for a {@link Profile} to read. Immutable: each method returns a changed
 * copy. The body is not copied: leave it alone while it is read.
 *
 * <pre>{@code
 * Asked asked = Anthropic.PROFILE.asks(Request.post("/v1/messages", json));
 * }</pre>
 */
public final class Request {
    private static final byte[] EMPTY = {};

    private final String method;
    private final String path;
    private Map<String, List<String>> headers = Map.of();
    private byte[] body = EMPTY;

    private Request(String method, String path) {
        this.method = method;
        this.path = path;
    }

    /**
     * A request of which nothing else is known.
     *
     * @param method the HTTP method, such as {@code POST}
     * @param path where it goes at the provider, with or without what stands before the API's own path; a query may follow, a host
     *     may not
     */
    public static Request of(String method, String path) {
        return new Request(method, path);
    }

    /** A request that sends something. */
    public static Request post(String path, byte[] body) {
        return of("POST", path).body(body);
    }

    /** Its headers, names in any case. An entry without a name is left out. */
    public Request headers(Map<String, List<String>> headers) {
        Map<String, List<String>> named = new HashMap<>(headers);
        named.remove(null);
        return copy(r -> r.headers = Map.copyOf(named));
    }

    /** Its body as it is sent. */
    public Request body(byte[] body) {
        return copy(r -> r.body = body);
    }

    /** The HTTP method. */
    public String method() {
        return method;
    }

    /** The path, with its query if it has one. */
    public String path() {
        return path;
    }

    /** The headers; empty if none are known. */
    public Map<String, List<String>> headers() {
        return headers;
    }

    /** The body itself, no copy; empty if there is none. */
    public byte[] body() {
        return body;
    }

    private Request copy(Consumer<Request> change) {
        Request copy = new Request(method, path);
        copy.headers = headers;
        copy.body = body;
        change.accept(copy);
        return copy;
    }

    /** Nothing that an agent asks is shown. */
    @Override
    public String toString() {
        return method + ", " + body.length + " bytes";
    }

    /** The first value of a header, or {@code null}. */
    public @Nullable String header(String name) {
        for (Map.Entry<String, List<String>> header : headers.entrySet()) {
            if (header.getKey().equalsIgnoreCase(name) && !header.getValue().isEmpty()) {
                return header.getValue().get(0);
            }
        }
        return null;
    }
}
