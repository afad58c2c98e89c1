package io.sluice;

import io.micrometer.core.instrument.MeterRegistry;
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

    /** Ends what is under way and closes the connection. Permits still open end by their lease. */
    @Override
    void close();

    /**
     * What a process can choose.
     *
     * @param host the name of this process in the fleet; {@code null} for a fresh one
     * @param listener hears of every wait, or {@code null}
     * @param meters where the client's meters go, or {@code null} for none
     */
    record Options(
            @Nullable String host,
            @Nullable WaitListener listener,
            @Nullable MeterRegistry meters) {
        public static final Options DEFAULT = new Options(null, null, null);

        public Options withHost(String host) {
            return new Options(Names.name("host", host), listener, meters);
        }

        public Options withListener(WaitListener listener) {
            return new Options(host, listener, meters);
        }

        public Options withMeters(MeterRegistry meters) {
            return new Options(host, listener, meters);
        }
    }
}
