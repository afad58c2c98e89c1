package io.sluice.testbed.redis;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * How a server is started.
 *
 * @param persistent whether it keeps its data through {@link RedisServer#kill} and {@link RedisServer#restart} (an
 *     append-only file); otherwise nothing is written to disk
 * @param arguments further arguments of {@code redis-server}, such as {@code --maxmemory 10mb}; they win over ours
 * @param certificates what it shows on a second, encrypted port; {@code null} for none
 */
public record RedisOptions(
        boolean persistent,
        List<String> arguments,
        @Nullable Certificates certificates) {

    /** Nothing kept, nothing special. */
    public static final RedisOptions DEFAULT = new RedisOptions(false, List.of(), null);

    private static final String PASSWORD = "--requirepass";

    public RedisOptions {
        arguments = List.copyOf(arguments);
    }

    /** The same, with its data kept. */
    public RedisOptions keepingData() {
        return new RedisOptions(true, arguments, certificates);
    }

    /** The same, with further arguments. */
    public RedisOptions with(String... more) {
        return new RedisOptions(
                persistent, Stream.concat(arguments.stream(), Stream.of(more)).toList(), certificates);
    }

    /** The same, with a password for whoever names no user; {@link RedisServer#uri} has it. */
    public RedisOptions withPassword(String password) {
        return with(PASSWORD, password);
    }

    /**
     * The same, with a user more, who is there again after a restart.
     *
     * @param rules as for {@code ACL SETUSER}, one a word; a selector in brackets is one word
     */
    public RedisOptions withUser(String name, String password, List<String> rules) {
        List<String> words = new ArrayList<>(List.of("--user", name, "on", ">" + password));
        words.addAll(rules);
        return with(words.toArray(String[]::new));
    }

    /** The same, holding this much and no more, as {@code 10mb}. */
    public RedisOptions withMaxMemory(String amount) {
        return with("--maxmemory", amount);
    }

    /** The same, as a copy of another server. */
    public RedisOptions asReplicaOf(RedisServer primary) {
        return with(
                "--replicaof", primary.address(), String.valueOf(primary.port()), "--repl-diskless-sync-delay", "0");
    }

    /** The same, with a second, encrypted port. */
    public RedisOptions withTls(Certificates shown) {
        return new RedisOptions(persistent, arguments, shown);
    }

    /** The password of whoever names no user. */
    Optional<String> password() {
        int at = arguments.lastIndexOf(PASSWORD);
        return at < 0 ? Optional.empty() : Optional.of(arguments.get(at + 1));
    }

    /**
     * The whole command line after the binary's name, but for what says where: ports, address and directories.
     *
     * @param debug who may send {@code DEBUG} and change what is protected: {@code local} or {@code yes}
     */
    List<String> commandLine(String debug) {
        // A limiter whose counters are evicted forgets what was spent, so Sluice wants noeviction.
        return Stream.of(
                        List.of("--maxmemory-policy", "noeviction", "--daemonize", "no", "--save", ""),
                        List.of("--appendonly", persistent ? "yes" : "no"),
                        // Otherwise a first copy waits five seconds for others that might want one too.
                        List.of("--repl-diskless-sync-delay", "0"),
                        List.of("--enable-debug-command", debug, "--enable-protected-configs", debug),
                        arguments)
                .flatMap(List::stream)
                .toList();
    }
}
