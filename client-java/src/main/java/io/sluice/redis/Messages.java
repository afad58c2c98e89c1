package io.sluice.redis;

import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The hints that scripts publish, one sharded channel a project and host. Lettuce subscribes again after a reconnect. A lost
 * message only costs time, so a subscription that fails (a cluster node not connected yet, a slot on the move) is tried
 * again, and nobody waits for it.
 */
final class Messages {
    private static final Logger log = LoggerFactory.getLogger(Messages.class);

    private static final long RETRY_MS = 200;

    private final StatefulRedisPubSubConnection<String, String> connection;
    private final Map<String, Consumer<String>> listeners = new ConcurrentHashMap<>();

    /** So that each is told once. */
    private final Set<String> refused = ConcurrentHashMap.newKeySet();

    Messages(StatefulRedisPubSubConnection<String, String> connection) {
        this.connection = connection;
        connection.addListener(new RedisPubSubAdapter<>() {
            /** A node ends a subscription whose slot has moved on to another. */
            @Override
            public void sunsubscribed(String channel, long count) {
                if (listeners.containsKey(channel)) {
                    again(channel);
                }
            }

            @Override
            public void smessage(String channel, String message) {
                Consumer<String> listener = listeners.get(channel);
                if (listener != null) {
                    listener.accept(message);
                }
            }
        });
    }

    /** The ids in {@code g id id ...}; none in a message that is nothing of ours. */
    static List<String> granted(String message) {
        List<String> words = List.of(message.split(" ", -1));
        return words.get(0).equals("g") ? words.subList(1, words.size()) : List.of();
    }

    /** At most one listener a channel; closing it ends the subscription. */
    AutoCloseable listen(String channel, Consumer<String> listener) {
        listeners.put(channel, listener);
        subscribe(channel);
        return () -> {
            listeners.remove(channel);
            connection.async().sunsubscribe(channel);
        };
    }

    private void subscribe(String channel) {
        connection.async().ssubscribe(channel).whenComplete((ignored, e) -> {
            if (e == null) {
                refused.remove(channel);
                return;
            }
            String message = String.valueOf(e.getMessage());
            if (message.startsWith("NOPERM") && refused.add(channel)) {
                log.error(
                        "the Redis user may not listen on {}: waiting calls hear of their grants up to 250 ms late ({})",
                        channel,
                        message);
            } else {
                log.debug(
                        "no messages on {} yet, waiting calls hear of their grants by the next beat: {}",
                        channel,
                        message);
            }
            again(channel);
        });
    }

    private void again(String channel) {
        CompletableFuture.delayedExecutor(RETRY_MS, TimeUnit.MILLISECONDS).execute(() -> {
            if (listeners.containsKey(channel) && connection.isOpen()) {
                subscribe(channel);
            }
        });
    }
}
