package io.sluice.testbed.redis;

import io.lettuce.core.RedisCommandExecutionException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * A primary, its replica, and three Sentinels that make the replica primary when the primary has not answered for a
 * second.
 */
public final class RedisSentinel implements AutoCloseable {
    /** The name under which the Sentinels know the primary. */
    public static final String NAME = "sluice";

    private static final int SENTINELS = 3;
    private static final Duration FORMS = Duration.ofSeconds(20);
    private static final Duration FAILS_OVER = Duration.ofSeconds(20);

    private final List<RedisServer> servers;
    private final List<RedisProcess> sentinels;

    private RedisSentinel(List<RedisServer> servers, List<RedisProcess> sentinels) {
        this.servers = List.copyOf(servers);
        this.sentinels = List.copyOf(sentinels);
    }

    /**
     * A set of the caller's own, ready to fail over on return, after some two seconds.
     *
     * @throws NoRedisException there is no {@code redis-server} to run here
     * @throws IllegalStateException the Sentinels did not find each other and the replica
     */
    public static RedisSentinel start() {
        RedisBinary binary = RedisSource.fromEnvironment().binary();
        List<RedisServer> servers = new ArrayList<>();
        List<RedisProcess> sentinels = new ArrayList<>();
        try {
            RedisServer primary = RedisProcess.start(binary, RedisOptions.DEFAULT);
            servers.add(primary);
            servers.add(RedisProcess.start(binary, RedisOptions.DEFAULT.asReplicaOf(primary)));
            for (int i = 0; i < SENTINELS; i++) {
                sentinels.add(sentinel(binary, "sentinel-" + i + "-", primary));
            }
            RedisSentinel set = new RedisSentinel(servers, sentinels);
            set.form();
            return set;
        } catch (RuntimeException e) {
            servers.forEach(RedisServer::close);
            sentinels.forEach(RedisServer::close);
            throw e;
        }
    }

    private static RedisProcess sentinel(RedisBinary binary, String name, RedisServer primary) {
        RedisProcess sentinel = RedisProcess.start(
                binary, Place.HERE, name, RedisOptions.DEFAULT, directory -> arguments(directory, primary));
        // They meet, and see an old primary come back, after several of these periods, which are seconds otherwise.
        sentinel.command("SENTINEL", "DEBUG", "publish-period", "200", "info-period", "500", "ask-period", "200");
        return sentinel;
    }

    private static List<String> arguments(Path directory, RedisServer primary) throws IOException {
        // A Sentinel writes what it learns into its file.
        Path file = directory.resolve("sentinel.conf");
        Files.writeString(file, """
                sentinel monitor %1$s 127.0.0.1 %2$d 2
                sentinel down-after-milliseconds %1$s 1000
                sentinel failover-timeout %1$s 3000
                """.formatted(NAME, primary.port()));
        return List.of(file.toString(), "--sentinel");
    }

    private void form() {
        Await.until(
                FORMS,
                () -> sentinels.stream().allMatch(RedisSentinel::isReady),
                () -> "the Sentinels did not find each other and the replica: "
                        + sentinels.stream()
                                .map(sentinel -> sentinel.command("SENTINEL", "MASTER", NAME))
                                .toList());
    }

    private static boolean isReady(RedisServer sentinel) {
        String primary = sentinel.command("SENTINEL", "MASTER", NAME);
        return primary.contains("num-slaves\n1")
                && primary.contains("num-other-sentinels\n" + (SENTINELS - 1))
                && sentinel.command("SENTINEL", "REPLICAS", NAME).contains("master-link-status\nok");
    }

    /** The address for a client: {@code redis-sentinel://host:port,host:port,host:port#sluice}. */
    public String uri() {
        return sentinels.stream()
                .map(sentinel -> "127.0.0.1:" + sentinel.port())
                .collect(Collectors.joining(",", "redis-sentinel://", "#" + NAME));
    }

    /** The server that the first Sentinel holds for the primary, whether or not it is up. */
    public RedisServer primary() {
        return holdsForPrimary(sentinels.get(0), servers.get(0)) ? servers.get(0) : servers.get(1);
    }

    /** The server that is not the {@link #primary}. */
    public RedisServer replica() {
        return other(primary());
    }

    /**
     * Waits until all Sentinels hold the other server for the primary, and it does so too: some two to three seconds
     * after the primary was killed or paused.
     *
     * @param from the primary until now
     * @return the primary from now on
     * @throws IllegalStateException nothing of the kind happened within twenty seconds
     */
    public RedisServer awaitFailover(RedisServer from) {
        RedisServer to = other(from);
        Await.until(
                FAILS_OVER,
                () -> sentinels.stream().allMatch(sentinel -> holdsForPrimary(sentinel, to))
                        && Replication.isPrimary(to),
                () -> "no failover from " + from.uri() + " to " + to.uri());
        return to;
    }

    /** Kills the primary and returns the one that took over, after two to three seconds. */
    public RedisServer crash() {
        Replication.awaitCopy(primary(), replica());
        return kill(primary());
    }

    private RedisServer kill(RedisServer primary) {
        primary.kill();
        return awaitFailover(primary);
    }

    /**
     * As {@link #crash}, but all that was written in the last moments is lost: the replica got none of it, and nobody
     * noticed.
     *
     * @param last how long it is cut off before the kill; up to ten seconds, or it would be too old to take over
     */
    public RedisServer crashLosing(Duration last) {
        return crashLosing(() -> Await.pass(last));
    }

    /** The same, where all that is done meanwhile is lost. */
    public RedisServer crashLosing(Runnable meanwhile) {
        Replication.cut(primary(), replica());
        meanwhile.run();
        return kill(primary());
    }

    /**
     * Has the Sentinels make the replica the primary while all is well, and returns it once the old one has become its
     * replica. The old primary takes writes until then, some of which may be lost.
     */
    public RedisServer failOver() {
        RedisServer from = primary();
        RedisServer to = other(from);
        Replication.awaitCopy(from, to);
        Await.until(
                FAILS_OVER,
                () -> holdsForPrimary(sentinels.get(0), to) || isBegun(sentinels.get(0)),
                () -> "no Sentinel that fails over from " + from.uri() + " to " + to.uri());
        awaitFailover(from);
        Await.until(
                FAILS_OVER,
                () -> Replication.isReplica(from) && Replication.isUp(from),
                () -> "the old primary as a replica: " + from.command("INFO", "replication"));
        return to;
    }

    /** A Sentinel that has not heard from the replica of late, or is not done with the last one, says no for now. */
    private static boolean isBegun(RedisServer sentinel) {
        try {
            sentinel.command("SENTINEL", "FAILOVER", NAME);
            return true;
        } catch (RedisCommandExecutionException e) {
            String said = String.valueOf(e.getMessage());
            if (said.startsWith("NOGOODSLAVE") || said.startsWith("INPROG")) {
                return false;
            }
            throw e;
        }
    }

    private RedisServer other(RedisServer server) {
        int index = servers.indexOf(server);
        if (index < 0) {
            throw new IllegalArgumentException("no server of this set: " + server.uri());
        }
        return servers.get(1 - index);
    }

    private static boolean holdsForPrimary(RedisServer sentinel, RedisServer server) {
        return sentinel.command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", NAME).equals("127.0.0.1\n" + server.port());
    }

    @Override
    public void close() {
        sentinels.forEach(RedisServer::close);
        servers.forEach(RedisServer::close);
    }
}
