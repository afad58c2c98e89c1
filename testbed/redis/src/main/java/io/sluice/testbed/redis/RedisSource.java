package io.sluice.testbed.redis;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Which Redis is used here: the first of {@link Backend} that there is.
 *
 * @param uri a server that runs already
 * @param forced the one backend to use, whatever else there is
 * @param path where to look for {@code redis-server}, as the shell's {@code PATH}
 */
record RedisSource(
        @Nullable String uri,
        @Nullable Backend forced,
        @Nullable String path) {

    static RedisSource fromEnvironment() {
        String forced = setting("sluice.redis.backend", "SLUICE_REDIS_BACKEND");
        return new RedisSource(
                setting("SLUICE_REDIS", "SLUICE_REDIS"),
                forced == null ? null : Backend.of(forced),
                System.getenv("PATH"));
    }

    /** A server to share: the one that runs already, or a new one. */
    RedisServer open() {
        if (uri != null && (forced == null || forced == Backend.EXISTING)) {
            return new ExistingRedis(uri);
        }
        return start(RedisOptions.DEFAULT);
    }

    /** A new server, which its caller may kill, flush and close. */
    RedisServer start(RedisOptions options) {
        return RedisProcess.start(binary(), options);
    }

    /** A binary to make topologies of. */
    RedisBinary binary() {
        List<String> tried = new ArrayList<>();
        if (wants(Backend.PATH)) {
            Optional<RedisBinary> found = RedisBinary.onPath(path);
            if (found.isPresent()) {
                return found.get();
            }
            tried.add("no redis-server on PATH");
        }
        if (wants(Backend.EMBEDDED)) {
            Optional<RedisBinary> found = RedisBinary.embedded();
            if (found.isPresent()) {
                return found.get();
            }
            tried.add("no embedded binary for this system");
        }
        throw none(tried);
    }

    private boolean wants(Backend backend) {
        return forced == null || forced == backend;
    }

    private NoRedisException none(List<String> tried) {
        String why = tried.isEmpty() ? "the backend is set to " + forced : String.join(", ", tried);
        return new NoRedisException("no Redis to start: " + why);
    }

    private static @Nullable String setting(String property, String variable) {
        String value = System.getProperty(property, System.getenv(variable));
        return value == null || value.isBlank() ? null : value.strip();
    }
}
