package io.sluice.testbed.redis;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisCredentialsProvider;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.NestedMultiOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.ProtocolKeyword;
import io.lettuce.core.protocol.ProtocolVersion;
import io.lettuce.core.resource.ClientResources;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Any Redis command as words, its reply as text. A connection a command: slower than keeping one, but nothing to mend
 * after the kills and pauses that these servers are for.
 */
final class Commands {
    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    private Commands() {}

    static String run(String uri, String... words) {
        return run(TIMEOUT, uri, words);
    }

    static String run(Duration timeout, String uri, String... words) {
        if (words.length == 0) {
            throw new IllegalArgumentException("a command has at least its name");
        }
        RedisURI target = RedisURI.create(uri);
        target.setTimeout(timeout);
        CommandArgs<String, String> arguments = new CommandArgs<>(StringCodec.UTF8);
        Arrays.stream(words).skip(1).forEach(arguments::add);
        RedisCredentials credentials = target.getCredentialsProvider()
                .resolveCredentials()
                .blockOptional()
                .orElseThrow();
        target.setCredentialsProvider(RedisCredentialsProvider.from(() -> RedisCredentials.just(null, (char[]) null)));
        try (StatefulRedisConnection<String, String> connection = Client.SHARED.connect(target)) {
            // As a command: a driver that is refused while it connects sometimes loses the reason.
            if (credentials.hasPassword()) {
                authenticate(connection.sync(), credentials);
            }
            List<Object> reply = connection
                    .sync()
                    .dispatch(new Name(words[0]), new NestedMultiOutput<>(StringCodec.UTF8), arguments);
            return flat(reply).collect(Collectors.joining("\n"));
        }
    }

    private static void authenticate(RedisCommands<String, String> redis, RedisCredentials credentials) {
        String password = new String(credentials.getPassword());
        if (credentials.hasUsername()) {
            redis.auth(credentials.getUsername(), password);
        } else {
            redis.auth(password);
        }
    }

    private static Stream<String> flat(@Nullable Object reply) {
        return reply instanceof List<?> list
                ? list.stream().flatMap(Commands::flat)
                : Stream.of(reply == null ? "" : reply.toString());
    }

    private record Name(String text) implements ProtocolKeyword {
        @Override
        public byte[] getBytes() {
            return text.toUpperCase(Locale.ROOT).getBytes(StandardCharsets.US_ASCII);
        }

        @Override
        public String toString() {
            return text;
        }
    }

    /** Made at first use. Its threads are daemons, so it needs no end of its own. */
    private static final class Client {
        static final RedisClient SHARED = create();

        private static RedisClient create() {
            RedisClient client = RedisClient.create(ClientResources.builder()
                    .ioThreadPoolSize(2)
                    .computationThreadPoolSize(2)
                    .build());
            client.setOptions(ClientOptions.builder()
                    .autoReconnect(false)
                    .protocolVersion(ProtocolVersion.RESP2)
                    .pingBeforeActivateConnection(false)
                    // A connection is called ready a moment before it takes commands.
                    .disconnectedBehavior(ClientOptions.DisconnectedBehavior.ACCEPT_COMMANDS)
                    .build());
            return client;
        }
    }
}
