package io.sluice.testbed.emulator;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * What happened since the start or the last reset. {@code requests} is what was counted toward {@code rpm}; the tokens
 * are what was accepted and produced. {@code worst_minute} holds, for each limit by itself, the largest sum any one pool
 * reached over any 60 s, in what the limit counts.
 */
final class Stats {
    private final Map<Kind, Long> rejected = new EnumMap<>(Kind.class);
    private final Map<Pool, Worst> worst = new HashMap<>();
    private long accepted;
    private long finished;
    private long aborted;
    private long failed;
    private long requests;
    private long input;
    private long cacheRead;
    private long cacheWrite;
    private long output;
    private int inFlight;
    private int peakInFlight;

    void accepted(Pool pool, Call call, long nowUs) {
        accepted++;
        input += call.input();
        cacheRead += call.cacheRead();
        cacheWrite += call.cacheWrite();
        inFlight++;
        peakInFlight = Math.max(peakInFlight, pool.inFlight);
        requestCounted(pool, nowUs);
        worst(pool).input.add(call.counted(), nowUs);
        worst(pool).tokens.add(call.charged(), nowUs);
    }

    void requestCounted(Pool pool, long nowUs) {
        requests++;
        worst(pool).requests.add(1, nowUs);
    }

    void rejected(Kind kind) {
        rejected.merge(kind, 1L, Long::sum);
    }

    /** @param asTokens whether output counts toward {@code tpm} as it is produced */
    void produced(Pool pool, long tokens, boolean asTokens, long nowUs) {
        output += tokens;
        if (asTokens) {
            worst(pool).tokens.add(tokens, nowUs);
        }
        worst(pool).output.add(tokens, nowUs);
    }

    void ended(DecisionLog.Event how) {
        inFlight--;
        switch (how) {
            case FINISHED -> finished++;
            case FAILED -> failed++;
            default -> aborted++;
        }
    }

    int inFlight() {
        return inFlight;
    }

    ObjectNode toJson(EmulatorOptions options, Account account, Instant startedAt, long nowMs, long logDropped) {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.put("provider", options.provider());
        json.put("counting", options.counting().word());
        json.put("burst_ms", options.burst().toMillis());
        ObjectNode limits = json.putObject("limits");
        options.limits().byName().forEach(limits::putPOJO);
        ArrayNode behaviour = json.putArray("behaviour");
        account.behaviour().on().forEach(behaviour::add);
        json.put("started_at", startedAt.toString());
        json.put("now_ms", nowMs);
        json.put("accepted", accepted);
        ObjectNode kinds = json.putObject("rejected");
        rejected.forEach((kind, count) ->
                kinds.put(kind.word(), count + kinds.path(kind.word()).asLong(0)));
        json.put("finished", finished);
        json.put("aborted", aborted);
        json.put("failed", failed);
        json.put("requests", requests);
        json.put("input_tokens", input);
        json.put("cache_read_tokens", cacheRead);
        json.put("cache_write_tokens", cacheWrite);
        json.put("output_tokens", output);
        json.put("usd", BigDecimal.valueOf(account.spentNanos(), 9).stripTrailingZeros());
        json.put("in_flight", inFlight);
        json.put("peak_in_flight", peakInFlight);
        ObjectNode minute = json.putObject("worst_minute");
        minute.put(
                "requests",
                worst.values().stream().mapToLong(w -> w.requests.most).max().orElse(0));
        minute.put(
                "input",
                worst.values().stream().mapToLong(w -> w.input.most).max().orElse(0));
        minute.put(
                "output",
                worst.values().stream().mapToLong(w -> w.output.most).max().orElse(0));
        minute.put(
                "tokens",
                worst.values().stream().mapToLong(w -> w.tokens.most).max().orElse(0));
        json.put("log_dropped", logDropped);
        return json;
    }

    private Worst worst(Pool pool) {
        return worst.computeIfAbsent(pool, p -> new Worst());
    }

    private static final class Worst {
        private final Peak requests = new Peak();
        private final Peak input = new Peak();
        private final Peak output = new Peak();
        private final Peak tokens = new Peak();
    }

    /** The largest sum over 60 s. It can only be reached right after something was added. */
    private static final class Peak {
        private final Window window = new Window();
        private long most;

        void add(long amount, long nowUs) {
            window.add(amount, nowUs);
            most = Math.max(most, window.sum(nowUs));
        }
    }
}
