package io.sluice.testbed.bench;

import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import java.util.stream.IntStream;

/** The least any script can cost: two EVALSHA that return at once, with as many keys as a real one. */
final class NoOp implements Contender {
    static final String LABEL = "no-op";

    static final String SCRIPT = "#!lua\nreturn 1";
    private static final String[] KEYS =
            IntStream.rangeClosed(1, 8).mapToObj(i -> "{bench}:" + i).toArray(String[]::new);

    private final RedisClient client;
    private final StatefulRedisConnection<String, String> connection;
    private final String sha;

    NoOp(String redis) {
        client = RedisClient.create(redis);
        connection = client.connect();
        sha = connection.sync().scriptLoad(SCRIPT);
    }

    @Override
    public String label() {
        return LABEL;
    }

    @Override
    public Runnable acquire() {
        roundTrip();
        return this::roundTrip;
    }

    @Override
    public void close() {
        client.shutdown();
    }

    private void roundTrip() {
        connection
                .async()
                .evalsha(sha, ScriptOutputType.INTEGER, KEYS)
                .toCompletableFuture()
                .join();
    }
}
