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
 * @param image what a container is made of
 */
record RedisSource(
        @Nullable String uri,
        @Nullable Backend forced,
        @Nullable String path,
        String image) {

    static RedisSource fromEnvironment() {
        String forced = setting("sluice.redis.backend", "SLUICE_REDIS_BACKEND");
        String image = setting("sluice.redis.image", "SLUICE_REDIS_IMAGE");
        return new RedisSource(
                setting("SLUICE_REDIS", "SLUICE_REDIS"),
                forced == null ? null : Backend.of(forced),
                System.getenv("PATH"),
                image == null ? DockerRedis.DEFAULT_IMAGE : image);
    }

    /** A server to share: the one that runs already, or a new one. */
    RedisServer open() {
        if (uri != null && tries(Backend.EXISTING)) {
            return new ExistingRedis(uri);
        }
        return start(RedisOptions.DEFAULT);
    }

    /** Whether {@link #start} is allowed at all. */
    boolean startsItsOwn() {
        return forced != Backend.EXISTING;
    }

    /** A new server, which its caller may kill, flush and close. */
    RedisServer start(RedisOptions options) {
        List<String> missing = new ArrayList<>();
        Optional<RedisBinary> installed = installed(missing);
        if (installed.isPresent()) {
            return RedisProcess.start(installed.get(), options);
        }
        Optional<RedisServer> container = tries(Backend.DOCKER) ? container(options, missing) : Optional.empty();
        if (container.isPresent()) {
            return container.get();
        }
        return RedisProcess.start(embedded(missing).orElseThrow(() -> none(missing)), options);
    }

    /** A binary to make topologies of. */
    RedisBinary binary() {
        List<String> missing = new ArrayList<>();
        return installed(missing).or(() -> embedded(missing)).orElseThrow(() -> none(missing));
    }

    private Optional<RedisBinary> installed(List<String> missing) {
        Optional<RedisBinary> found = tries(Backend.PATH) ? RedisBinary.onPath(path) : Optional.empty();
        if (found.isEmpty() && tries(Backend.PATH)) {
            missing.add("no redis-server on PATH");
        }
        return found;
    }

    private Optional<RedisBinary> embedded(List<String> missing) {
        Optional<RedisBinary> found = tries(Backend.EMBEDDED) ? RedisBinary.embedded() : Optional.empty();
        if (found.isEmpty() && tries(Backend.EMBEDDED)) {
            missing.add("no embedded binary for this system");
        }
        return found;
    }

    private Optional<RedisServer> container(RedisOptions options, List<String> missing) {
        boolean forcedToIt = forced == Backend.DOCKER;
        try {
            Optional<String> reason = DockerRedis.missing(image, forcedToIt);
            if (reason.isEmpty()) {
                return Optional.of(DockerRedis.start(image, options, forcedToIt));
            }
            missing.add(reason.get());
        } catch (NoClassDefFoundError e) {
            missing.add("Testcontainers is not on the class path");
        } catch (IllegalStateException e) {
            if (forcedToIt) {
                throw e;
            }
            missing.add(e.getMessage());
        }
        return Optional.empty();
    }

    private boolean tries(Backend backend) {
        return forced == null || forced == backend;
    }

    private NoRedisException none(List<String> missing) {
        if (forced != null) {
            missing.add("only " + forced.description() + " is allowed");
        }
        return new NoRedisException("no Redis to start here: " + String.join(", ", missing));
    }

    private static @Nullable String setting(String property, String variable) {
        String value = System.getProperty(property, System.getenv(variable));
        return value == null || value.isBlank() ? null : value.strip();
    }
}
