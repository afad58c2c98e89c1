package io.sluice.testbed.redis;

import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * One running Redis. A server that was started here listens on 127.0.0.1 (or at its {@link Namespaces.Host host}), keeps
 * its ports through {@link #restart}, and leaves neither process nor file behind once closed, also when this JVM is
 * killed. One that was found running ({@link Backend#EXISTING}) is only talked to: what would disturb its other users
 * throws {@link UnsupportedOperationException}.
 *
 * <p>Calls block, each for ten seconds at most, and throw {@link IllegalStateException} with the server's last log
 * lines when it does not do as told. What else can be wrong with a Redis is in {@link Ailments}.
 */
public sealed interface RedisServer extends AutoCloseable permits RedisProcess, DockerRedis, ExistingRedis {

    /** Where it listens, as {@code 127.0.0.1}. */
    String address();

    int port();

    /** Where it listens for TLS; empty without {@link RedisOptions#withTls certificates}. */
    OptionalInt tlsPort();

    /** The password of whoever names no user. */
    Optional<String> password();

    /** The address for a client that may do everything: {@code redis://127.0.0.1:<port>}, with the password if there is one. */
    default String uri() {
        return "redis://" + credentials() + address() + ":" + port();
    }

    /** The address for a client that comes as this user. */
    default String uri(String user, String password) {
        return "redis://" + user + ":" + password + "@" + address() + ":" + port();
    }

    /**
     * The address for a client that speaks TLS and may do everything: {@code rediss://127.0.0.1:<port>}.
     *
     * @throws IllegalStateException it has no certificates
     */
    default String tlsUri() {
        int port = tlsPort().orElseThrow(() -> new IllegalStateException("this Redis speaks no TLS"));
        return "rediss://" + credentials() + address() + ":" + port;
    }

    private String credentials() {
        return password().map(password -> ":" + password + "@").orElse("");
    }

    /** The server's process id; empty where it is not a process of ours on this host. */
    OptionalLong pid();

    Backend backend();

    /** What the server says it is: {@code 7.0.15}. */
    String version();

    /** Whether the server is up; a paused one is. */
    boolean running();

    /**
     * Sends one command on a connection of its own and answers as {@code redis-cli} does into a pipe: text and numbers as
     * they are, the elements of a list one a line at any depth, nothing for nil.
     *
     * @throws io.lettuce.core.RedisException what the server answered, or no answer within five seconds
     */
    default String command(String... words) {
        return Commands.run(uri(), words);
    }

    /** Stops it in its tracks (SIGSTOP): connections stay open and get no answer. */
    void pause();

    /** Lets a paused server go on; nothing happens to one that is not paused. */
    void resume();

    /** Ends it at once, as a crash does (SIGKILL). */
    void kill();

    /**
     * Starts it again on the same ports and directory, after an orderly stop if it is up. It comes back empty unless it
     * is {@linkplain RedisOptions#persistent persistent}.
     */
    void restart();

    /** Kills it and starts it again on the same ports with nothing in it, persistent or not. */
    void restartEmpty();

    /** Ends the server and removes its files. May be called more than once. */
    @Override
    void close();
}
