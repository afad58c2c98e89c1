package io.sluice.testbed.redis;

import io.lettuce.core.RedisException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * States in which a Redis answers with an error, or not at all. Each lasts until what is returned is closed:
 *
 * <pre>{@code
 * try (Ailment full = Ailments.outOfMemory(redis)) {
 *     // acquire is answered OOM
 * }
 * }</pre>
 *
 * <p>They are for servers of a test's own. {@link RedisServer} itself is paused, killed and restarted.
 */
public final class Ailments {
    private static final Duration TO_LOAD = Duration.ofSeconds(10);

    /** It looks for requests after every 1,024. */
    private static final int LOAD_KEYS = 20_000;

    /** What each takes by itself once it is slowed down at all. */
    private static final Duration LOAD_KEY = Duration.ofNanos(55_000);

    private Ailments() {}

    /** A state that can be ended. */
    public interface Ailment extends AutoCloseable {
        @Override
        void close();
    }

    /** It holds more than it may: what would need memory is answered {@code OOM}. */
    public static Ailment outOfMemory(RedisServer redis) {
        return setting(redis, "maxmemory", "1");
    }

    /** It is a copy of a primary that is not there: what would write is answered {@code READONLY}. */
    public static Ailment replica(RedisServer redis) {
        redis.command("REPLICAOF", "127.0.0.1", "1");
        return () -> redis.command("REPLICAOF", "NO", "ONE");
    }

    /** Such a copy that serves no old data: everything is answered {@code MASTERDOWN}. */
    public static Ailment replicaWithoutData(RedisServer redis) {
        Ailment stale = setting(redis, "replica-serve-stale-data", "no");
        // Else writes would be answered READONLY.
        Ailment writable = setting(redis, "replica-read-only", "no");
        Ailment replica = replica(redis);
        return () -> {
            replica.close();
            writable.close();
            stale.close();
        };
    }

    /** It was to write its data to disk and could not: what would write is answered {@code MISCONF}. */
    public static Ailment cannotSave(RedisServer redis) {
        // A place where nobody can make a file, not even root.
        Ailment directory = setting(redis, "dir", "/proc");
        Ailment save = setting(redis, "save", "3600 1");
        redis.command("BGSAVE");
        awaitSave(redis, "err");
        return () -> {
            directory.close();
            redis.command("BGSAVE");
            awaitSave(redis, "ok");
            save.close();
        };
    }

    /** It has too few replicas: what would write is answered {@code NOREPLICAS}. */
    public static Ailment withoutReplicas(RedisServer redis) {
        return setting(redis, "min-replicas-to-write", "9");
    }

    /** A script that does not end: after some milliseconds everything is answered {@code BUSY}, until it is killed. */
    public static Ailment busy(RedisServer redis) {
        Ailment threshold = setting(redis, "busy-reply-threshold", "10");
        CompletableFuture<Void> script = inBackground(redis, Duration.ofMinutes(1), "EVAL", "while true do end", "0");
        Await.until(TO_LOAD, () -> says(redis, "BUSY"), () -> "a script that keeps Redis busy");
        return () -> {
            redis.command("SCRIPT", "KILL");
            script.join();
            threshold.close();
        };
    }

    /**
     * It reads its data back for about this long: everything is answered {@code LOADING}. For a {@linkplain
     * RedisOptions#persistent persistent} {@linkplain RedisServers#startProcess process}; it is back, with its data, when
     * this is closed.
     */
    public static Ailment loading(RedisServer redis, Duration time) {
        if (!(redis instanceof RedisProcess process)) {
            throw new UnsupportedOperationException("only a process of this host is slow to load");
        }
        redis.command("EVAL", "for i = 1, ARGV[1] do redis.call('SET', 'ailment:' .. i, i) end", "0", "" + LOAD_KEYS);
        process.restartSlowly(time.dividedBy(LOAD_KEYS).minus(LOAD_KEY));
        Await.until(TO_LOAD, () -> says(redis, "LOADING"), () -> "Redis loading");
        return () -> {
            Await.until(TO_LOAD.plus(time), () -> !says(redis, "LOADING"), () -> "the end of loading");
            redis.command("EVAL", "for i = 1, ARGV[1] do redis.call('DEL', 'ailment:' .. i) end", "0", "" + LOAD_KEYS);
        };
    }

    /** It accepts connections and requests, and runs none of them for this long, or until this is closed. */
    public static Ailment stalled(RedisServer redis, Duration time) {
        redis.command("CLIENT", "PAUSE", String.valueOf(time.toMillis()), "ALL");
        return () -> redis.command("CLIENT", "UNPAUSE");
    }

    /** It does nothing at all for this long, as in a slow command of somebody else's; closing waits for that. */
    public static Ailment asleep(RedisServer redis, Duration time) {
        String seconds = String.valueOf(time.toMillis() / 1_000.0);
        CompletableFuture<Void> asleep = inBackground(redis, time.plusSeconds(5), "DEBUG", "SLEEP", seconds);
        return asleep::join;
    }

    private static Ailment setting(RedisServer redis, String name, String value) {
        String before =
                redis.command("CONFIG", "GET", name).substring(name.length()).strip();
        redis.command("CONFIG", "SET", name, value);
        return () -> redis.command("CONFIG", "SET", name, before);
    }

    private static CompletableFuture<Void> inBackground(RedisServer redis, Duration timeout, String... words) {
        return CompletableFuture.runAsync(() -> {
            try {
                Commands.run(timeout, redis.uri(), words);
            } catch (RedisException ended) {
                // A killed script is an error to who sent it.
            }
        });
    }

    private static void awaitSave(RedisServer redis, String status) {
        Await.until(
                TO_LOAD,
                () -> redis.command("INFO", "persistence").contains("rdb_last_bgsave_status:" + status),
                () -> "a save with status " + status + ": " + redis.command("INFO", "persistence"));
    }

    private static boolean says(RedisServer redis, String code) {
        try {
            redis.command("GET", "ailment");
            return false;
        } catch (RedisException e) {
            return String.valueOf(e.getMessage()).startsWith(code);
        }
    }
}
