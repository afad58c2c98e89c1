package io.sluice.testbed.redis;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * Where a Redis comes from, in the order they are tried. The system property {@code sluice.redis.first} names one that is
 * tried before the others (the integration tests: {@code docker}); {@code sluice.redis.backend} or the environment variable
 * {@code SLUICE_REDIS_BACKEND} forces one, whatever else there is. Names are in any case.
 */
public enum Backend {
    /** A server that runs already, named by {@code SLUICE_REDIS}. It is used as it is, and never stopped. */
    EXISTING("SLUICE_REDIS"),
    /** {@code redis-server} on the {@code PATH}. */
    PATH("PATH"),
    /** A container by Testcontainers, where a Docker engine answers and has the image. */
    DOCKER("Testcontainers"),
    /** The binary that travels in a jar. */
    EMBEDDED("the embedded binary");

    private final String description;

    Backend(String description) {
        this.description = description;
    }

    String description() {
        return description;
    }

    static Backend of(String name) {
        return Arrays.stream(values())
                .filter(backend -> backend.name().equalsIgnoreCase(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("Redis backend must be one of "
                        + Arrays.stream(values())
                                .map(backend -> backend.name().toLowerCase(Locale.ROOT))
                                .collect(Collectors.joining(", "))
                        + "; got '" + name + "'"));
    }
}
