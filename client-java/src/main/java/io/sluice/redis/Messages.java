package io.sluice.redis;

import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The hints that scripts publish, one sharded channel a project. Lettuce subscribes again after a reconnect. A lost
 * message only costs time, so a subscription that fails is told in the log and nothing more.
 */
final class Messages {
    private static final Logger log = LoggerFactory.getLogger(Messages.class);

    private static final int ATTEMPTS = 5;

    private final StatefulRedisPubSubConnection<String, String> connection;
    private final Map<String, Consumer<String>> listeners = new ConcurrentHashMap<>();

    Messages(StatefulRedisPubSubConnection<String, String> connection) {
        this.connection = connection;
        connection.addListener(new RedisPubSubAdapter<>() {
            @Override
            public void smessage(String channel, String message) {
                Consumer<String> listener = listeners.get(channel);
                if (listener != null) {
                    listener.accept(message);
                }
            }
        });
    }

    /** At most one listener a channel; closing it ends the subscription. */
    AutoCloseable listen(String channel, Consumer<String> listener) {
        listeners.put(channel, listener);
        subscribe(channel, 1);
        return () -> {
            listeners.remove(channel);
            connection.async().sunsubscribe(channel);
        };
    }

    /** A cluster connects to a node when it is first asked for, and refuses until it has: worth another try. */
    private void subscribe(String channel, int attempt) {
        connection.async().ssubscribe(channel).whenComplete((ignored, e) -> {
            if (e == null || !listeners.containsKey(channel)) {
                return;
            }
            if (attempt < ATTEMPTS) {
                CompletableFuture.delayedExecutor(attempt * 100L, TimeUnit.MILLISECONDS)
                        .execute(() -> subscribe(channel, attempt + 1));
            } else {
                log.warn("no messages on {}, waiting calls notice free slots later: {}", channel, e.getMessage());
            }
        });
    }
}
