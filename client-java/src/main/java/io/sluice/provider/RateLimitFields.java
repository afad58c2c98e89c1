package io.sluice.provider;

import io.sluice.LimitReading;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * {@code RateLimit-Policy} and {@code RateLimit}, and the older triples {@code RateLimit-Limit}, {@code -Remaining},
 * {@code -Reset} with and without {@code X-}. Our four providers send the triple at most; others do.
 *
 * <p>Source: ietf-wg-httpapi/ratelimit-headers, draft of September 2025.
 */
final class RateLimitFields {
    private RateLimitFields() {}

    /** {@code {"burst": {q: 100, w: 60, qu: "requests"}}}; a policy without its quota makes the field nothing. */
    static Map<String, Object> policies(Headers headers) {
        Map<String, Object> policies = new LinkedHashMap<>();
        for (StructuredField field : StructuredField.list(headers.all("ratelimit-policy"))) {
            Long quota = field.numbers().get("q");
            if (quota == null) {
                return Map.of();
            }
            Map<String, Object> policy = new LinkedHashMap<>();
            policy.put("q", quota);
            policy.put("w", field.numbers().get("w"));
            policy.put("qu", field.texts().getOrDefault("qu", "requests"));
            policies.put(field.name(), policy);
        }
        return policies;
    }

    /** {@code {"burst": {r: 50, t: 30}}}; one without what is left makes the field nothing. */
    static Map<String, Object> limits(Headers headers) {
        Map<String, Object> limits = new LinkedHashMap<>();
        for (StructuredField field : StructuredField.list(headers.all("ratelimit"))) {
            Long remaining = field.numbers().get("r");
            if (remaining == null) {
                return Map.of();
            }
            Map<String, Object> limit = new LinkedHashMap<>();
            limit.put("r", remaining);
            limit.put("t", field.numbers().get("t"));
            limits.put(field.name(), limit);
        }
        return limits;
    }

    /** Both forms as readings, named by their policies; the triples as {@code requests}. */
    static List<LimitReading> readings(Headers headers, Instant at) {
        List<LimitReading> readings = new ArrayList<>();
        Map<String, Object> policies = policies(headers);
        limits(headers).forEach((name, value) -> {
            Long quota = policies.get(name) instanceof Map<?, ?> policy ? (Long) policy.get("q") : null;
            Map<?, ?> limit = (Map<?, ?>) value;
            Long reset = (Long) limit.get("t");
            readings.add(new LimitReading(
                    name, quota, (Long) limit.get("r"), reset == null ? null : Spans.seconds(reset.toString()), 1));
        });
        for (String prefix : List.of("x-ratelimit", "ratelimit")) {
            if (headers.hasAny(prefix + "-limit", prefix + "-remaining", prefix + "-reset")) {
                readings.add(new LimitReading(
                        "requests",
                        headers.least(prefix + "-limit"),
                        headers.least(prefix + "-remaining"),
                        headers.most(prefix + "-reset", text -> resetIn(text, at)),
                        1));
                break;
            }
        }
        return readings;
    }

    /** The longest wait among what is used up, or {@code null}. */
    static @Nullable Wait reset(Headers headers, Instant at) {
        Wait longest = null;
        for (LimitReading reading : readings(headers, at)) {
            Duration reset = reading.resetIn();
            if (reading.isUsedUp()
                    && reset != null
                    && (longest == null || longest.length() == null || reset.compareTo(longest.length()) > 0)) {
                longest = new Wait(reset, "ratelimit reset");
            }
        }
        return longest;
    }

    /** A date, epoch seconds or milliseconds, or a length of time: by form and size. */
    private static @Nullable Duration resetIn(String text, Instant at) {
        Instant moment = Moments.epoch(Json.whole(text));
        if (moment == null) {
            moment = Moments.rfc3339(text);
        }
        if (moment == null) {
            moment = Moments.httpDate(text, at);
        }
        return moment == null ? Spans.parse(text) : Moments.between(at, moment);
    }
}
