package io.sluice.testbed.emulator;

import java.time.Duration;
import java.time.InstantSource;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * How an {@link Emulator} behaves.
 *
 * @param provider whose HTTP it speaks: {@code anthropic}
 * @param host address to listen on; loopback unless said otherwise
 * @param port 0 takes a free one
 * @param limits what each pool of models may use
 * @param counting how limits given per minute are counted
 * @param burst capacity of a bucket, or length of a quantised window, in time: 1 ms to 1 h. {@code ROLLING} ignores it
 * @param countRejected whether a rejected request counts toward {@code rpm}; by default not
 * @param tokensPerSecond how fast a call that names no duration produces output
 * @param pools models that share limits: pool name to glob ({@code *} and {@code ?}, case-insensitive). The first match
 *     in iteration order wins; a model that matches none is in the pool {@code default}
 * @param logCapacity decisions kept; beyond it the oldest go and the stats say how many
 * @param time the clock of every decision. It should never step back; if it does, time stands still meanwhile. Pacing of
 *     answers runs on real timers
 */
public record EmulatorOptions(
        String provider,
        String host,
        int port,
        Limits limits,
        Counting counting,
        Duration burst,
        boolean countRejected,
        int tokensPerSecond,
        Map<String, String> pools,
        int logCapacity,
        InstantSource time) {

    /** @throws IllegalArgumentException if a value is out of range, naming it */
    public EmulatorOptions {
        pools = Collections.unmodifiableMap(new LinkedHashMap<>(pools));
        check(port >= 0 && port <= 65_535, "port must be 0 to 65535: " + port);
        check(
                burst.compareTo(Duration.ofMillis(1)) >= 0 && burst.compareTo(Duration.ofHours(1)) <= 0,
                "burst must be 1 ms to 1 h: " + burst);
        check(tokensPerSecond > 0, "tokens per second must be above 0: " + tokensPerSecond);
        check(logCapacity > 0, "log capacity must be above 0: " + logCapacity);
    }

    /** A provider with these limits: buckets of a minute, loopback, a free port, one pool for all models. */
    public static EmulatorOptions of(String provider, Limits limits) {
        return new EmulatorOptions(
                provider,
                "127.0.0.1",
                0,
                limits,
                Counting.BUCKET,
                Duration.ofSeconds(60),
                false,
                80,
                Map.of(),
                1_000_000,
                new MonotonicTime());
    }

    /** The same, counting differently. */
    public EmulatorOptions counting(Counting counting, Duration burst) {
        return new EmulatorOptions(
                provider,
                host,
                port,
                limits,
                counting,
                burst,
                countRejected,
                tokensPerSecond,
                pools,
                logCapacity,
                time);
    }

    /** The same, listening elsewhere. */
    public EmulatorOptions listen(String host, int port) {
        return new EmulatorOptions(
                provider,
                host,
                port,
                limits,
                counting,
                burst,
                countRejected,
                tokensPerSecond,
                pools,
                logCapacity,
                time);
    }

    /** The same, with another choice about rejected requests. */
    public EmulatorOptions countRejected(boolean countRejected) {
        return new EmulatorOptions(
                provider,
                host,
                port,
                limits,
                counting,
                burst,
                countRejected,
                tokensPerSecond,
                pools,
                logCapacity,
                time);
    }

    /** The same, with models that share limits. */
    public EmulatorOptions pools(Map<String, String> pools) {
        return new EmulatorOptions(
                provider,
                host,
                port,
                limits,
                counting,
                burst,
                countRejected,
                tokensPerSecond,
                pools,
                logCapacity,
                time);
    }

    /** The same, with another pace of output. */
    public EmulatorOptions tokensPerSecond(int tokensPerSecond) {
        return new EmulatorOptions(
                provider,
                host,
                port,
                limits,
                counting,
                burst,
                countRejected,
                tokensPerSecond,
                pools,
                logCapacity,
                time);
    }

    /** The same, keeping another number of decisions. */
    public EmulatorOptions logCapacity(int logCapacity) {
        return new EmulatorOptions(
                provider,
                host,
                port,
                limits,
                counting,
                burst,
                countRejected,
                tokensPerSecond,
                pools,
                logCapacity,
                time);
    }

    /** The same, on another clock. */
    public EmulatorOptions time(InstantSource time) {
        return new EmulatorOptions(
                provider,
                host,
                port,
                limits,
                counting,
                burst,
                countRejected,
                tokensPerSecond,
                pools,
                logCapacity,
                time);
    }

    private static void check(boolean good, String message) {
        if (!good) {
            throw new IllegalArgumentException(message);
        }
    }
}
