package io.sluice;

import io.sluice.Records.Amounts;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What this process did in one project, for all to see: counters, who used what, what happened. {@link Telling} brings it to Redis. */
final class Counting {
    private static final Logger log = LoggerFactory.getLogger(Counting.class);

    private static final long NOTICEABLE_US = 1_000_000;

    private final String project;
    private final Telling telling;

    /** By scope, until when it was told to be on hold, by our clock. There are as many as scopes of the policy. */
    private final Map<String, Long> heldUntilUs = new ConcurrentHashMap<>();

    Counting(SluiceClient client, String project) {
        this.project = project;
        this.telling = new Telling(client, project);
    }

    // ---- calls

    /** A call got its permit. */
    void granted(Who who, String id, Duration waited, boolean degraded) {
        long ms = waited.toMillis();
        telling.count(batch -> {
            permit(batch, who, "granted");
            String waits = CountingNames.of(CountingNames.WAITS, who.modelClass(), who.label()) + "|";
            batch.count(waits + CountingNames.partOf(ms), 1);
            batch.count(waits + CountingNames.SUM, ms);
            batch.used(who, new Amounts(0, 0, 0, 0, 0, 0, ms, 0));
            batch.happened("permit", () -> {
                Map<String, Object> data = data(who, "granted", id);
                data.put("waited_ms", ms);
                if (degraded) {
                    data.put("degraded", true);
                }
                return data;
            });
        });
    }

    /** A permit ended, for the first time. */
    void ended(Who who, String id, Permit.How how, Permit.Reserved charged) {
        String outcome = how.name().toLowerCase(Locale.ROOT);
        telling.count(batch -> {
            permit(batch, who, outcome);
            batch.happened("permit", () -> {
                Map<String, Object> data = data(who, outcome, id);
                data.put("input", charged.input() + charged.cacheRead() + charged.cacheWrite());
                data.put("output", charged.output());
                return data;
            });
        });
    }

    /** What a permit was charged at its end, be it late. */
    void used(Who who, Permit.Reserved charged, long microUsd) {
        telling.count(batch -> {
            tokens(batch, who, "input", charged.input());
            tokens(batch, who, "cache_read", charged.cacheRead());
            tokens(batch, who, "cache_write", charged.cacheWrite());
            tokens(batch, who, "output", charged.output());
            batch.used(
                    who,
                    new Amounts(
                            charged.requests(),
                            charged.input(),
                            charged.cacheRead(),
                            charged.cacheWrite(),
                            charged.output(),
                            microUsd,
                            0,
                            0));
        });
    }

    /** A permit that was given up at the very moment it was granted. */
    void cancelled(Who who) {
        telling.count(batch -> permit(batch, who, "cancelled"));
    }

    void usageMissing() {
        telling.count(batch -> batch.count(CountingNames.USAGE_MISSING, 1));
    }

    /** A call was refused. */
    void refused(Who who, Refusal refusal) {
        telling.count(batch -> {
            permit(batch, who, "refused");
            batch.happened("permit", () -> {
                Map<String, Object> data = data(who, "refused", null);
                data.put("kind", refusal.kind().label());
                data.put("limit", or(refusal.limit()));
                return data;
            });
        });
    }

    /** A call waits, or waits for another reason. */
    void waits(Who who, Store.PermitName name, Store.Queued why) {
        telling.count(batch -> {
            batch.happened("wait", () -> {
                Map<String, Object> data = data(who, "waiting", name.id());
                data.put("scope", why.scope());
                data.put("limit", why.limit());
                data.put("position", why.position());
                data.put("wait_ms", (why.waitUs() + 999) / 1_000);
                return data;
            });
        });
    }

    /** The provider said no. */
    void rejected(Who who, Rejection rejection) {
        telling.count(batch -> {
            batch.count(
                    CountingNames.of(
                            CountingNames.REJECTIONS,
                            who.modelClass(),
                            rejection.kind().label()),
                    1);
            batch.rejected(who, rejection.kind().label());
            batch.happened("rejection", () -> {
                Map<String, Object> data = data(who, "rejected", null);
                data.put("kind", rejection.kind().label());
                data.put("scope", rejection.scope().label());
                data.put("retryable", rejection.retryable());
                return data;
            });
        });
    }

    /** The holder of a permit was told that its lease is lost. That it ran out Redis counts. */
    void lost(Who who, String id) {
        telling.count(batch -> {
            batch.count(CountingNames.LEASE_LOST, 1);
            batch.happened("lost", () -> data(who, "lost", id));
        });
    }

    // ---- what is done to the project

    /** A scope is on hold because of a provider's answer. */
    void held(String scope, String kind, long leftUs) {
        long until = leftUs == Store.UNTIL_RELEASED ? Long.MAX_VALUE : System.nanoTime() / 1_000 + leftUs;
        Long told = heldUntilUs.get(scope);
        if (leftUs == 0 || (told != null && until - told < NOTICEABLE_US)) {
            return; // each host that is refused says the same
        }
        heldUntilUs.put(scope, until);
        Map<String, Object> data = new LinkedHashMap<>();
        data.put("scope", scope);
        data.put("kind", kind);
        if (leftUs != Store.UNTIL_RELEASED) {
            data.put("left_ms", (leftUs + 999) / 1_000);
        }
        telling.count(batch -> batch.happened("hold", () -> data));
    }

    void heldBy(String scope, @Nullable Duration left, String who, String reason) {
        Map<String, Object> data = new LinkedHashMap<>();
        data.put("scope", scope);
        data.put("kind", Refusals.OPERATOR);
        if (left != null) {
            data.put("left_ms", left.toMillis());
        }
        data.put("by", who);
        data.put("reason", reason);
        audited("hold", data);
    }

    void releasedBy(String scope, String who) {
        heldUntilUs.clear();
        Map<String, Object> data = new LinkedHashMap<>();
        data.put("scope", scope);
        data.put("released", true);
        data.put("by", who);
        audited("hold", data);
    }

    void policy(long version, String who) {
        Map<String, Object> data = new LinkedHashMap<>();
        data.put("version", version);
        data.put("by", who);
        audited("policy", data);
    }

    /** A level was set. Done when that is told: nobody forgives a debt in silence. */
    CompletionStage<Void> corrected(
            String scope, String limit, double before, double after, String who, String reason) {
        Map<String, Object> data = new LinkedHashMap<>();
        data.put("scope", scope);
        data.put("limit", limit);
        data.put("from", before);
        data.put("to", after);
        data.put("by", who);
        data.put("reason", reason);
        audited("policy", data);
        return flush().exceptionally(e -> {
            log.warn("{}: nobody was told but this log that a level was set: {}", project, data, e);
            return null;
        });
    }

    private void audited(String type, Map<String, Object> data) {
        log.info("{}: {} {}", project, type, data);
        telling.count(batch -> batch.happened(type, () -> data));
        flush().exceptionally(e -> null);
    }

    // ----

    CompletionStage<Void> flush() {
        return telling.flush();
    }

    CompletableFuture<Void> close() {
        return telling.close();
    }

    private static void permit(Batch batch, Who who, String outcome) {
        batch.count(CountingNames.of(CountingNames.PERMITS, who.modelClass(), outcome), 1);
    }

    private static void tokens(Batch batch, Who who, String type, long count) {
        batch.count(CountingNames.of(CountingNames.TOKENS, who.modelClass(), type), count);
    }

    private static Map<String, Object> data(Who who, String outcome, @Nullable String id) {
        Map<String, Object> data = new LinkedHashMap<>();
        data.put("outcome", outcome);
        if (id != null) {
            data.put("id", id);
        }
        data.put("class", who.modelClass());
        data.put("agent", who.agent());
        data.put("team", who.team());
        data.put("model", who.model());
        return data;
    }

    private static String or(@Nullable String text) {
        return text == null ? Policy.NO_NAME : text;
    }
}
