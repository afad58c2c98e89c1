package io.sluice.redis;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.ProtocolKeyword;
import io.lettuce.core.protocol.RedisCommand;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * One process's way to Redis: one shared connection for commands and one for messages, to a single node, a Sentinel set
 * or a cluster, whichever answers at the address.
 *
 * <p>Set so that trouble is an answer and not a pile-up: a bounded queue, commands refused while disconnected, nothing
 * replayed after a reconnect (a replayed script would charge twice: redis/lettuce#1310), short time-outs.
 */
record Connection(
        AbstractRedisClient client,
        RedisClusterAsyncCommands<String, String> commands,
        StatefulRedisPubSubConnection<String, String> messages) {
    static final Duration COMMAND_TIMEOUT = Duration.ofMillis(250);
    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(3);
    private static final int QUEUE = 10_000;

    /** @throws io.lettuce.core.RedisException if nothing answers at the address */
    static Connection open(String address) {
        RedisURI uri = RedisURI.create(address);
        uri.setTimeout(CONNECT_TIMEOUT);
        RedisClient client = RedisClient.create(uri);
        try {
            client.setOptions(options(ClientOptions.builder()));
            StatefulRedisConnection<String, String> connection = client.connect();
            if (!connection.sync().info("server").contains("redis_mode:cluster")) {
                return new Connection(client, connection.async(), client.connectPubSub());
            }
        } catch (RuntimeException e) {
            client.shutdown(Duration.ZERO, Duration.ofSeconds(1));
            throw e;
        }
        client.shutdown(Duration.ZERO, Duration.ofSeconds(1));
        return openCluster(uri);
    }

    private static Connection openCluster(RedisURI uri) {
        RedisClusterClient client = RedisClusterClient.create(uri);
        try {
            ClusterTopologyRefreshOptions refresh = ClusterTopologyRefreshOptions.builder()
                    .adaptiveRefreshTriggersTimeout(Duration.ofSeconds(1))
                    .enablePeriodicRefresh(Duration.ofSeconds(30))
                    .build();
            ClusterClientOptions.Builder options =
                    ClusterClientOptions.builder().topologyRefreshOptions(refresh);
            options(options);
            client.setOptions(options.build());
            StatefulRedisClusterConnection<String, String> connection = client.connect();
            return new Connection(client, connection.async(), client.connectPubSub());
        } catch (RuntimeException e) {
            client.shutdown(Duration.ZERO, Duration.ofSeconds(1));
            throw e;
        }
    }

    private static ClientOptions options(ClientOptions.Builder builder) {
        return builder.disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
                .requestQueueSize(QUEUE)
                .replayFilter(command -> true)
                .timeoutOptions(
                        TimeoutOptions.builder().timeoutSource(new Patience()).build())
                .socketOptions(SocketOptions.builder()
                        .connectTimeout(CONNECT_TIMEOUT)
                        .keepAlive(true)
                        .build())
                .build();
    }

    /** What is only asked at start, where nobody waits for a permit yet, may take as long as the connection itself. */
    private static final class Patience extends TimeoutOptions.TimeoutSource {
        private static final Set<ProtocolKeyword> AT_START = Set.of(CommandType.INFO, CommandType.SCRIPT);

        @Override
        public long getTimeout(RedisCommand<?, ?, ?> command) {
            Duration timeout = AT_START.contains(command.getType()) ? CONNECT_TIMEOUT : COMMAND_TIMEOUT;
            return timeout.toNanos();
        }

        @Override
        public TimeUnit getTimeUnit() {
            return TimeUnit.NANOSECONDS;
        }
    }

    void close() {
        client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
    }
}
