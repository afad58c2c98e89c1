package io.sluice.testbed.redis;

import java.util.OptionalLong;

/**
 * One running Redis. A server that was started here listens on 127.0.0.1, keeps its port through {@link #restart}, and
 * leaves neither process nor file behind once closed, also when this JVM is killed. One that was found running
 * ({@link Backend#EXISTING}) is only talked to: what would disturb its other users throws
 * {@link UnsupportedOperationException}.
 *
 * <p>Calls block, each for ten seconds at most, and throw {@link IllegalStateException} with the server's last log
 * lines when it does not do as told.
 */
public sealed interface RedisServer extends AutoCloseable permits RedisProcess, DockerRedis, ExistingRedis {

    /** The address for a client: {@code redis://127.0.0.1:<port>}. */
    String uri();

    int port();

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
     * Starts it again on the same port and directory, after an orderly stop if it is up. It comes back empty unless it
     * is {@linkplain RedisOptions#persistent persistent}.
     */
    void restart();

    /** Ends the server and removes its files. May be called more than once. */
    @Override
    void close();
}
