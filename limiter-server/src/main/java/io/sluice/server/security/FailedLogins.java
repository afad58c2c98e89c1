package io.sluice.server.security;

import io.github.bucket4j.Bucket;
import io.sluice.server.config.Settings;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.springframework.stereotype.Component;

/**
 * How often an address may fail to say who it is. Only failures count, so that nobody behind the same address who does know a
 * token is ever locked out.
 */
@Component
class FailedLogins {
    private static final int ADDRESSES = 10_000;
    private final int perMinute;
    private final Map<String, Bucket> buckets = Collections.synchronizedMap(new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Bucket> eldest) {
            return size() > ADDRESSES;
        }
    });

    FailedLogins(Settings settings) {
        perMinute = settings.failuresPerMinute();
    }

    /** Counts one failure. Empty: it was within the bound; else how long until the next one is. */
    Optional<Duration> failed(String address) {
        Bucket bucket = buckets.computeIfAbsent(
                address,
                any -> Bucket.builder()
                        .addLimit(limit -> limit.capacity(perMinute).refillGreedy(perMinute, Duration.ofMinutes(1)))
                        .build());
        long waitNanos = bucket.tryConsumeAndReturnRemaining(1).getNanosToWaitForRefill();
        return waitNanos == 0 ? Optional.empty() : Optional.of(Duration.ofNanos(waitNanos));
    }
}
