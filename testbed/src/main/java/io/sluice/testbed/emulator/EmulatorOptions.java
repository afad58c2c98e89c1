package io.sluice.testbed.emulator;

import java.time.Duration;
import java.time.InstantSource;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How an {@link Emulator} behaves.
 *
 * @param provider whose HTTP it speaks: {@code anthropic}, {@code openai}, {@code gemini} or {@code openrouter}
 * @param host address to listen on; loopback unless said otherwise
 * @param port 0 takes a free one
 * @param limits what each pool of models may use
 * @param counting how limits given per minute are counted
 * @param burst capacity of a bucket, or length of a quantised window, in time: 1 ms to 1 h. {@code ROLLING} ignores it
 * @param countRejected whether a rejected request counts toward {@code rpm}; {@code null} as the provider does
 * @param tokensPerSecond how fast a call that names no duration produces output
 * @param pools models that share limits: pool name to glob ({@code *} and {@code ?}, case-insensitive). The first match
 *     in iteration order wins; a model that matches none is in the pool {@code default}
 * @param prices what tokens cost
 * @param behaviour what it does beside keeping its limits, at the start and after a reset
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
        @Nullable Boolean countRejected,
        int tokensPerSecond,
        Map<String, String> pools,
        Prices prices,
        Behaviour behaviour,
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
                null,
                80,
                Map.of(),
                Prices.DEFAULT,
                Behaviour.NONE,
                1_000_000,
                new MonotonicTime());
    }

    /** The same, counting differently. */
    public EmulatorOptions counting(Counting counting, Duration burst) {
        Draft draft = new Draft(this);
        draft.counting = counting;
        draft.burst = burst;
        return draft.options();
    }

    /** The same, listening elsewhere. */
    public EmulatorOptions listen(String host, int port) {
        Draft draft = new Draft(this);
        draft.host = host;
        draft.port = port;
        return draft.options();
    }

    /** The same, with another choice about rejected requests; {@code null} as the provider does. */
    public EmulatorOptions countRejected(@Nullable Boolean countRejected) {
        Draft draft = new Draft(this);
        draft.countRejected = countRejected;
        return draft.options();
    }

    /** The same, with models that share limits. */
    public EmulatorOptions pools(Map<String, String> pools) {
        Draft draft = new Draft(this);
        draft.pools = pools;
        return draft.options();
    }

    /** The same, with another pace of output. */
    public EmulatorOptions tokensPerSecond(int tokensPerSecond) {
        Draft draft = new Draft(this);
        draft.tokensPerSecond = tokensPerSecond;
        return draft.options();
    }

    /** The same, at other prices. */
    public EmulatorOptions prices(Prices prices) {
        Draft draft = new Draft(this);
        draft.prices = prices;
        return draft.options();
    }

    /** The same, behaving otherwise. */
    public EmulatorOptions behaviour(Behaviour behaviour) {
        Draft draft = new Draft(this);
        draft.behaviour = behaviour;
        return draft.options();
    }

    /** The same, keeping another number of decisions. */
    public EmulatorOptions logCapacity(int logCapacity) {
        Draft draft = new Draft(this);
        draft.logCapacity = logCapacity;
        return draft.options();
    }

    /** The same, on another clock. */
    public EmulatorOptions time(InstantSource time) {
        Draft draft = new Draft(this);
        draft.time = time;
        return draft.options();
    }

    private static void check(boolean good, String message) {
        if (!good) {
            throw new IllegalArgumentException(message);
        }
    }

    /** The same options, to change one or two of. */
    private static final class Draft {
        private final String provider;
        private String host;
        private int port;
        private final Limits limits;
        private Counting counting;
        private Duration burst;
        private @Nullable Boolean countRejected;
        private int tokensPerSecond;
        private Map<String, String> pools;
        private Prices prices;
        private Behaviour behaviour;
        private int logCapacity;
        private InstantSource time;

        Draft(EmulatorOptions of) {
            provider = of.provider;
            host = of.host;
            port = of.port;
            limits = of.limits;
            counting = of.counting;
            burst = of.burst;
            countRejected = of.countRejected;
            tokensPerSecond = of.tokensPerSecond;
            pools = of.pools;
            prices = of.prices;
            behaviour = of.behaviour;
            logCapacity = of.logCapacity;
            time = of.time;
        }

        EmulatorOptions options() {
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
                    prices,
                    behaviour,
                    logCapacity,
                    time);
        }
    }
}
