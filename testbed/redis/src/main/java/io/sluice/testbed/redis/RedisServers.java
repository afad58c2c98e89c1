package io.sluice.testbed.redis;

import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The way to a Redis, wherever this runs: one that is named, found, in a container or embedded, in the order of
 * {@link Backend}. Which one it became, its version, and what was tried before is logged once.
 */
public final class RedisServers {
    private static final Logger log = LoggerFactory.getLogger(RedisServers.class);
    private static final Set<Backend> announced = EnumSet.noneOf(Backend.class);
    private static @Nullable RedisServer shared;

    private RedisServers() {}

    /**
     * The server that everything in this JVM shares, started at the first call and ended with the JVM. It may be
     * somebody's own ({@code SLUICE_REDIS}), so its users keep to keys of their own: they neither flush, kill nor close
     * it.
     *
     * @throws NoRedisException there is none, and none can be started
     */
    public static synchronized RedisServer shared() {
        if (shared == null) {
            shared = announce(RedisSource.fromEnvironment().open());
        }
        return shared;
    }

    /** Ends the shared server, if it is up and ours; the next who asks gets a new one. */
    static synchronized void closeShared() {
        if (shared != null) {
            shared.close();
            shared = null;
        }
    }

    /** A server of the caller's own, with nothing kept on disk. */
    public static RedisServer start() {
        return start(RedisOptions.DEFAULT);
    }

    /**
     * A server of the caller's own, empty, never one that ran already. It ends with {@link RedisServer#close}, or with
     * this JVM.
     *
     * @throws NoRedisException none can be started here
     * @throws IllegalStateException it did not come up; the message ends with its last log lines
     */
    public static RedisServer start(RedisOptions options) {
        return announce(RedisSource.fromEnvironment().start(options));
    }

    /**
     * As {@link #start(RedisOptions)}, but a process of this host wherever other servers come from: for what cannot be done
     * to a container.
     */
    public static RedisServer startProcess(RedisOptions options) {
        return RedisSource.fromEnvironment().process(options);
    }

    private static RedisServer announce(RedisSource.Found found) {
        RedisServer server = found.server();
        synchronized (announced) {
            if (announced.add(server.backend())) {
                String missing = String.join(", ", found.missing());
                log.info(
                        "Redis {} from {} on port {}{}",
                        server.version(),
                        server.backend().description(),
                        server.port(),
                        missing.isEmpty() ? "" : " (" + missing + ")");
            }
        }
        return server;
    }
}
