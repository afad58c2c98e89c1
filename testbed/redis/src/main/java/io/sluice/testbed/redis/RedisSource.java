package io.sluice.testbed.redis;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Which Redis is used here: the first of {@link Backend} that there is.
 *
 * @param uri a server that runs already
 * @param forced the one backend to use, whatever else there is
 * @param first the backend to try before the others
 * @param path where to look for {@code redis-server}, as the shell's {@code PATH}
 * @param image what a container is made of
 */
record RedisSource(
        @Nullable String uri,
        @Nullable Backend forced,
        @Nullable Backend first,
        @Nullable String path,
        String image) {

    static RedisSource fromEnvironment() {
        String image = setting("sluice.redis.image", "SLUICE_REDIS_IMAGE");
        return new RedisSource(
                setting("SLUICE_REDIS", "SLUICE_REDIS"),
                backend("sluice.redis.backend", "SLUICE_REDIS_BACKEND"),
                backend("sluice.redis.first", "SLUICE_REDIS_FIRST"),
                System.getenv("PATH"),
                image == null ? DockerRedis.DEFAULT_IMAGE : image);
    }

    /** A server to share: the one that runs already, or a new one. */
    Found open() {
        if (uri != null && tries(Backend.EXISTING)) {
            return new Found(new ExistingRedis(uri), List.of());
        }
        return start(RedisOptions.DEFAULT);
    }

    /** Whether {@link #start} is allowed at all. */
    boolean startsItsOwn() {
        return forced != Backend.EXISTING;
    }

    /** A new server, which its caller may kill, flush and close. */
    Found start(RedisOptions options) {
        List<String> missing = new ArrayList<>();
        Optional<RedisServer> server = Optional.empty();
        for (Backend backend : order()) {
            server = server.or(() -> switch (backend) {
                case DOCKER -> container(options, missing);
                case PATH -> installed(missing).map(binary -> RedisProcess.start(binary, options));
                case EMBEDDED -> embedded(missing).map(binary -> RedisProcess.start(binary, options));
                case EXISTING -> Optional.empty();
            });
        }
        return new Found(server.orElseThrow(() -> none(missing)), missing);
    }

    /**
     * A server and why it is not another.
     *
     * @param missing what was tried before and is not here
     */
    record Found(RedisServer server, List<String> missing) {
        Found {
            missing = List.copyOf(missing);
        }
    }

    /** A new server as a process of this host, wherever others come from. */
    RedisServer process(RedisOptions options) {
        return RedisProcess.start(binary(), options);
    }

    /** A binary to make topologies of. */
    RedisBinary binary() {
        List<String> missing = new ArrayList<>();
        return installed(missing).or(() -> embedded(missing)).orElseThrow(() -> none(missing));
    }

    private List<Backend> order() {
        return Stream.concat(Stream.ofNullable(first), Arrays.stream(Backend.values()))
                .distinct()
                .filter(this::tries)
                .toList();
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
            DockerRedis.giveUp(String.valueOf(e.getMessage()));
            missing.add(String.valueOf(e.getMessage()));
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

    private static @Nullable Backend backend(String property, String variable) {
        String name = setting(property, variable);
        return name == null ? null : Backend.of(name);
    }

    private static @Nullable String setting(String property, String variable) {
        String value = System.getProperty(property, System.getenv(variable));
        return value == null || value.isBlank() ? null : value.strip();
    }
}
