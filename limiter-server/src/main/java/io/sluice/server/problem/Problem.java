package io.sluice.server.problem;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;

/**
 * One "no", as RFC 9457 writes it. Thrown anywhere, written in one place.
 *
 * <pre>{@code
 * HTTP/1.1 429
 * Retry-After: 2
 * Content-Type: application/problem+json
 *
 * {"type": "urn:sluice:problem:wait", "title": "wait", "status": 429, "detail": "itpm of c:sonnet …",
 *  "kind": "wait", "limit": "itpm", "retry_after_ms": 1112, "estimate": false, "queue_position": null}
 * }</pre>
 */
public final class Problem extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final int status;
    private final String kind;
    private final transient Map<String, Object> members = new LinkedHashMap<>();
    private final transient HttpHeaders headers = new HttpHeaders();

    /**
     * @param status the HTTP status
     * @param kind one stable word
     * @param detail one sentence for people; never a secret
     */
    public Problem(int status, String kind, String detail) {
        super(detail, null, false, false);
        this.status = status;
        this.kind = kind;
    }

    /** 400: what was sent is not what it should be. */
    public static Problem invalid(String detail) {
        return new Problem(400, "invalid", detail);
    }

    /** 400, naming the member by its JSON Pointer. */
    public static Problem invalid(String path, String message) {
        return new Problem(400, "invalid", path.isEmpty() ? message : path + ": " + message)
                .with("problems", List.of(Map.of("path", path, "message", message)));
    }

    /** 403: known, but not for this. */
    public static Problem forbidden(String detail) {
        return new Problem(403, "forbidden", detail);
    }

    /** 415: what a body is said to be. */
    static Problem unsupported() {
        return new Problem(415, "unsupported_media_type", "send application/json; a policy may be application/yaml");
    }

    /** 404. */
    public static Problem unknown(String detail) {
        return new Problem(404, "unknown", detail);
    }

    /** Adds a member to the body. */
    public Problem with(String member, @Nullable Object value) {
        members.put(member, value);
        return this;
    }

    /** Adds {@code Retry-After}: whole seconds, rounded up, at least 1. */
    public Problem retryAfter(Duration wait) {
        headers.set(HttpHeaders.RETRY_AFTER, Long.toString(Math.max(1, (wait.toMillis() + 999) / 1_000)));
        return this;
    }

    /** Adds a header. */
    public Problem header(String name, String value) {
        headers.set(name, value);
        return this;
    }

    public int status() {
        return status;
    }

    public String kind() {
        return kind;
    }

    public HttpHeaders headers() {
        return headers;
    }

    /** The body, in the order people read. */
    public Map<String, Object> body() {
        Map<String, Object> body = new LinkedHashMap<>();
        body.put("type", "urn:sluice:problem:" + kind);
        body.put("title", kind.replace('_', ' '));
        body.put("status", status);
        body.put("detail", getMessage());
        body.put("kind", kind);
        body.putAll(members);
        return body;
    }
}
