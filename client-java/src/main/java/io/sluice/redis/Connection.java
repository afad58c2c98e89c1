package io.sluice.redis;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.SslOptions;
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
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.Delay;
import io.sluice.Sluice;
import io.sluice.Sluice.Options;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

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
        StatefulRedisPubSubConnection<String, String> messages,
        ClientResources resources) {
    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(3);
    private static final Duration SHORT_PAUSE = Duration.ofMillis(20);
    private static final Duration SHUTDOWN = Duration.ofSeconds(2);
    private static final int QUEUE = 10_000;
    private static final int CONNECT_TRIES = 10;

    /** A Redis that is back is found within a second, however long it was away. */
    private static final Duration RECONNECT_AT_MOST = Duration.ofSeconds(1);

    /** With the default options. */
    static Connection open(String address) {
        return open(address, Options.DEFAULT);
    }

    /** @throws io.lettuce.core.RedisException if nothing answers at the address */
    static Connection open(String address, Options options) {
        RedisURI uri = Address.of(address);
        uri.setTimeout(CONNECT_TIMEOUT);
        Supplier<Sluice.Credentials> credentials = options.credentials();
        if (credentials != null) {
            uri.setCredentialsProvider(
                    () -> Mono.fromSupplier(() -> of(credentials.get())).subscribeOn(Schedulers.boundedElastic()));
        }
        ClientResources.Builder building = ClientResources.builder()
                .reconnectDelay(Delay.exponential(Duration.ZERO, RECONNECT_AT_MOST, 2, TimeUnit.MILLISECONDS));
        if (options.loops() != null) {
            building.eventLoopGroupProvider(LentLoops.of(options.loops()));
        }
        ClientResources resources = building.build();
        try {
            return open(uri, options, resources);
        } catch (RuntimeException e) {
            resources.shutdown(0, SHUTDOWN.toMillis(), TimeUnit.MILLISECONDS);
            throw e;
        }
    }

    private static RedisCredentials of(Sluice.Credentials credentials) {
        return RedisCredentials.just(credentials.user(), credentials.password());
    }

    private static Connection open(RedisURI uri, Options options, ClientResources resources) {
        RedisClient client = RedisClient.create(resources, uri);
        try {
            client.setOptions(options(ClientOptions.builder(), options));
            StatefulRedisConnection<String, String> connection = connect(client::connect);
            if (!atStart(() -> connection.async().info("server")).contains("redis_mode:cluster")) {
                return new Connection(client, connection.async(), connect(client::connectPubSub), resources);
            }
        } catch (RuntimeException e) {
            end(client);
            throw e;
        }
        end(client);
        return openCluster(uri, options, resources);
    }

    /**
     * A connection, or why there is none. When Redis refuses (a wrong password), the driver's closing of the connection
     * races with what Redis said, and now and then only "closed" is left: asked again, it tells.
     */
    static <T> T connect(Supplier<T> connecting) {
        for (int tries = 1; ; tries++) {
            try {
                return connecting.get();
            } catch (RedisConnectionException e) {
                Throwable root = Outages.root(e);
                boolean ofTheDriver = root instanceof RedisConnectionException || root instanceof IllegalStateException;
                if (!ofTheDriver || tries == CONNECT_TRIES) {
                    throw e;
                }
                LockSupport.parkNanos(SHORT_PAUSE.toNanos());
            }
        }
    }

    /**
     * The answer to one of the first commands. The driver calls a connection ready a moment before it takes commands, in a cluster
     * each node has one, and one that is cut is made again by itself: the command is sent until it leaves.
     *
     * @throws RuntimeException as the driver says
     */
    static <T> T atStart(Supplier<? extends CompletionStage<T>> command) {
        long start = System.nanoTime();
        while (true) {
            try {
                return command.get().toCompletableFuture().join();
            } catch (CompletionException e) {
                if (!Outages.of(e).reason().equals("disconnected")
                        || System.nanoTime() - start > CONNECT_TIMEOUT.toNanos()) {
                    throw e.getCause() instanceof RuntimeException cause ? cause : e;
                }
                LockSupport.parkNanos(SHORT_PAUSE.toNanos());
            }
        }
    }

    private static Connection openCluster(RedisURI uri, Options from, ClientResources resources) {
        RedisClusterClient client = RedisClusterClient.create(resources, uri);
        try {
            ClusterTopologyRefreshOptions refresh = ClusterTopologyRefreshOptions.builder()
                    .adaptiveRefreshTriggersTimeout(Duration.ofSeconds(1))
                    .enablePeriodicRefresh(Duration.ofSeconds(30))
                    .build();
            ClusterClientOptions.Builder options =
                    ClusterClientOptions.builder().topologyRefreshOptions(refresh);
            options(options, from);
            client.setOptions(options.build());
            StatefulRedisClusterConnection<String, String> connection = connect(client::connect);
            return new Connection(client, connection.async(), connect(client::connectPubSub), resources);
        } catch (RuntimeException e) {
            end(client);
            throw e;
        }
    }

    private static ClientOptions options(ClientOptions.Builder builder, Options options) {
        Path authority = options.authority();
        if (authority != null) {
            builder.sslOptions(SslOptions.builder()
                    .jdkSslProvider()
                    .trustManager(authority.toFile())
                    .build());
        }
        return builder.disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
                .requestQueueSize(QUEUE)
                .replayFilter(command -> true)
                .timeoutOptions(TimeoutOptions.builder()
                        .timeoutSource(new Patience(options.commandTimeout()))
                        .build())
                .socketOptions(SocketOptions.builder()
                        .connectTimeout(CONNECT_TIMEOUT)
                        .keepAlive(true)
                        .build())
                .build();
    }

    /** What is only asked at start, where nobody waits for a permit yet, may take as long as the connection itself. */
    private static final class Patience extends TimeoutOptions.TimeoutSource {
        private static final Set<ProtocolKeyword> AT_START = Set.of(CommandType.INFO, CommandType.SCRIPT);

        private final Duration otherwise;

        Patience(Duration otherwise) {
            this.otherwise = otherwise;
        }

        @Override
        public long getTimeout(RedisCommand<?, ?, ?> command) {
            Duration timeout = AT_START.contains(command.getType()) ? CONNECT_TIMEOUT : otherwise;
            return timeout.toNanos();
        }

        @Override
        public TimeUnit getTimeUnit() {
            return TimeUnit.NANOSECONDS;
        }
    }

    /** In 2 s at most. Never throws, and an interrupt changes nothing: shutdown hooks come here with one. */
    void close() {
        end(client);
        resources.shutdown(0, SHUTDOWN.toMillis(), TimeUnit.MILLISECONDS);
    }

    private static void end(AbstractRedisClient client) {
        CompletableFuture.completedFuture(null)
                .thenCompose(now -> client.shutdownAsync(0, SHUTDOWN.toMillis(), TimeUnit.MILLISECONDS))
                .completeOnTimeout(null, SHUTDOWN.toMillis(), TimeUnit.MILLISECONDS)
                .exceptionally(e -> null)
                .join();
    }
}
