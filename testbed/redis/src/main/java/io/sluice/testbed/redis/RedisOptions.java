package io.sluice.testbed.redis;

import java.util.List;
import java.util.stream.Stream;

/**
 * How a server is started.
 *
 * @param persistent whether it keeps its data through {@link RedisServer#kill} and {@link RedisServer#restart} (an
 *     append-only file); otherwise nothing is written to disk
 * @param arguments further arguments of {@code redis-server}, such as {@code --maxmemory 10mb}; they win over ours
 */
public record RedisOptions(boolean persistent, List<String> arguments) {

    /** Nothing kept, nothing special. */
    public static final RedisOptions DEFAULT = new RedisOptions(false, List.of());

    public RedisOptions {
        arguments = List.copyOf(arguments);
    }

    /** The same, with its data kept. */
    public RedisOptions keepingData() {
        return new RedisOptions(true, arguments);
    }

    /** The same, with further arguments. */
    public RedisOptions with(String... more) {
        return new RedisOptions(
                persistent, Stream.concat(arguments.stream(), Stream.of(more)).toList());
    }

    /** The whole command line after the binary's name, but for what says where: port, address and directory. */
    List<String> commandLine() {
        // A limiter whose counters are evicted forgets what was spent, so Sluice wants noeviction.
        return Stream.of(
                        List.of("--maxmemory-policy", "noeviction", "--daemonize", "no", "--save", ""),
                        List.of("--appendonly", persistent ? "yes" : "no"),
                        arguments)
                .flatMap(List::stream)
                .toList();
    }
}
