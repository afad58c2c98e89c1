package io.sluice;

import io.micrometer.core.instrument.MeterRegistry;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The front door: one connection to the Redis that holds the budgets, shared by everything in this process.
 *
 * <pre>{@code
 * try (Sluice sluice = Sluice.connect("redis://localhost:6379")) {
 *     Project project = sluice.project("acme-prod");
 *     try (Permit permit = project.acquire(call, Duration.ofSeconds(30))) {
 *         permit.settle(new Usage(900, 10_000, 0, 250));
 *     }
 * }
 * }</pre>
 */
public interface Sluice extends AutoCloseable {

    /**
     * Connects with the default options.
     *
     * @param uri {@code redis://}, {@code rediss://} or {@code redis-sentinel://}; a cluster is recognised by itself
     * @throws OutageException if Redis does not answer or is not fit for use, naming what is wrong
     */
    static Sluice connect(String uri) {
        return connect(uri, Options.DEFAULT);
    }

    /** Connects with options. */
    static Sluice connect(String uri, Options options) {
        return Connector.connect(uri, options);
    }

    /**
     * Sets a project's budget. The version goes up by one, or stays if the content is the same.
     *
     * @return the version now in force
     */
    long install(Policy policy);

    /**
     * Reads back the budget in force.
     *
     * @throws OutageException with reason {@code no_project} if none is installed
     * @throws IllegalArgumentException if the id is none a project can have
     */
    Installed installed(String project);

    /** A policy in force, with its version, from 1. */
    record Installed(long version, Policy policy) {}

    /** The project of this id. Costs nothing; the first call fails if no policy is installed for it. */
    Project project(String id);

    /**
     * The desk of this project: permits for calls that other processes make. Costs nothing.
     *
     * @param profiles how to read a provider's answers, such as {@code Profiles::of}
     */
    Desk desk(String project, Function<Provider, Profile> profiles);

    /** What an operator does and asks. */
    Admin admin();

    /**
     * Ends what is under way and closes the connection, within about 2 s also where Redis is gone. Close it after your calls; of those
     * that are not over:
     *
     * <ul>
     *   <li>calls that wait, and calls that begin from now on, are refused as {@code CANCELLED};
     *   <li>a {@link Project#call} under way is cancelled: the thread that sends is interrupted, or the sender's stage is cancelled. Its
     *       permit is settled with what is known of the answer so far, its caller gets the same refusal;
     *   <li>any other permit ends as by its own {@link Permit#close}: its slot is free at once and the estimate stands. Its
     *       {@link Permit#onLost} listeners are told. Whoever settles it afterwards changes nothing and is told that it had ended.
     * </ul>
     *
     * <p>So a process that ends in order leaves no slot in use. One that is killed, or cannot reach Redis, leaves its slots for one
     * lease. Permits of a {@link #desk} are their callers', and live on.
     */
    @Override
    void close();

    /**
     * Who connects.
     *
     * @param user of Redis's ACL, or {@code null} for the default one
     * @param password never shown
     */
    record Credentials(@Nullable String user, String password) {
        @Override
        public String toString() {
            return "Credentials[user=" + user + "]";
        }
    }

    /**
     * What a process can choose.
     *
     * @param host the name of this process in the fleet; {@code null} for a fresh one
     * @param listener hears of every wait, or {@code null}
     * @param meters where the client's meters go, or {@code null} for none
     * @param commandTimeout how long Redis may take to answer a command: 10 ms to 10 s, default 250 ms
     * @param credentials asked at each connection and each reconnection, so that a password can be changed while this runs; {@code null}
     *     for those in the URI
     * @param authority of {@code rediss://}: the certificates (PEM) that vouch for the server; {@code null} for those of the JDK
     * @param loops a Netty {@code EventLoopGroup}, on which the connections to Redis are to run; {@code null} for threads of their own
     */
    record Options(
            @Nullable String host,
            @Nullable WaitListener listener,
            @Nullable MeterRegistry meters,
            Duration commandTimeout,
            @Nullable Supplier<Credentials> credentials,
            @Nullable Path authority,
            @Nullable ScheduledExecutorService loops) {
        private static final Duration SHORTEST = Duration.ofMillis(10);
        private static final Duration LONGEST = Duration.ofSeconds(10);

        public static final Options DEFAULT = new Options(null, null, null, Duration.ofMillis(250), null, null, null);

        public Options {
            if (commandTimeout.compareTo(SHORTEST) < 0 || commandTimeout.compareTo(LONGEST) > 0) {
                throw new IllegalArgumentException("commandTimeout must be 10 ms to 10 s, got " + commandTimeout);
            }
        }

        public Options withHost(String host) {
            return new Options(
                    Names.name("host", host), listener, meters, commandTimeout, credentials, authority, loops);
        }

        public Options withListener(WaitListener listener) {
            return new Options(host, listener, meters, commandTimeout, credentials, authority, loops);
        }

        public Options withMeters(MeterRegistry meters) {
            return new Options(host, listener, meters, commandTimeout, credentials, authority, loops);
        }

        /** How long Redis may take to answer a command: what a call that does not wait costs at most while Redis hangs. */
        public Options withCommandTimeout(Duration commandTimeout) {
            return new Options(host, listener, meters, commandTimeout, credentials, authority, loops);
        }

        /**
         * Credentials that may change. The supplier is called at each connection and reconnection, on a thread that may block; when a
         * password is changed, set the new one beside the old one in Redis first.
         */
        public Options withCredentials(Supplier<Credentials> credentials) {
            return new Options(host, listener, meters, commandTimeout, credentials, authority, loops);
        }

        /** The certificates (PEM) that vouch for a {@code rediss://} server, where those of the JDK do not. */
        public Options withAuthority(Path authority) {
            return new Options(host, listener, meters, commandTimeout, credentials, authority, loops);
        }

        /**
         * Threads that are there already, such as those of an HTTP server, as Netty's {@code EventLoopGroup}: a call that came on one of them is asked and answered there,
         * which saves four changes of threads. Whatever else runs on them must not take long: Redis is not heard meanwhile. Native, where
         * Netty's native transport is on the class path. They are left running when the client is closed.
         */
        public Options withLoops(ScheduledExecutorService loops) {
            return new Options(host, listener, meters, commandTimeout, credentials, authority, loops);
        }
    }
}
