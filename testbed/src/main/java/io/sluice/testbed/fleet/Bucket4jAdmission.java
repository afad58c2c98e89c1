package io.sluice.testbed.fleet;

import io.github.bucket4j.Bandwidth;
import io.github.bucket4j.Bucket;
import io.github.bucket4j.BucketConfiguration;
import io.github.bucket4j.SchedulingBucket;
import io.github.bucket4j.distributed.AsyncBucketProxy;
import io.github.bucket4j.distributed.ExpirationAfterWriteStrategy;
import io.github.bucket4j.distributed.proxy.ProxyManager;
import io.github.bucket4j.redis.lettuce.Bucket4jLettuce;
import io.lettuce.core.RedisClient;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.codec.StringCodec;
import io.sluice.Usage;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * {@link Strategy#PER_PROCESS} and {@link Strategy#BUCKET4J}: one Bucket4j bucket a rate, taken one after the other,
 * output reserved at its cap and the rest added back. A call larger than a bucket takes all of it and leaves a debt.
 */
final class Bucket4jAdmission implements Admission {
    private static final CompletionStage<Void> NOTHING_TO_DO = CompletableFuture.completedFuture(null);

    private static final List<String> RATES =
            List.of(PolicyNumbers.RPM, PolicyNumbers.ITPM, PolicyNumbers.OTPM, PolicyNumbers.TPM);

    private final PolicyNumbers numbers;
    private final Map<String, Meter> meters;
    private final Map<String, Long> capacities;
    private final @Nullable Slots slots;
    private final Runnable close;
    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(task -> {
        Thread thread = new Thread(task, "bucket4j");
        thread.setDaemon(true);
        return thread;
    });

    private Bucket4jAdmission(
            PolicyNumbers numbers,
            double share,
            BiFunction<String, BucketConfiguration, Meter> meter,
            @Nullable Slots slots,
            Runnable close) {
        this.numbers = numbers;
        this.slots = slots;
        this.close = close;
        this.meters = new LinkedHashMap<>();
        this.capacities = new LinkedHashMap<>();
        for (String limit : RATES) {
            if (numbers.has(limit)) {
                long capacity = Math.max(1, (long) (numbers.burst(limit) * share));
                capacities.put(limit, capacity);
                meters.put(limit, meter.apply(limit, configuration(capacity, numbers.perSecond(limit) * share)));
            }
        }
    }

    /** A static share of every limit, slots included, kept in this process. */
    static Bucket4jAdmission perProcess(PolicyNumbers numbers, int processes) {
        Slots slots = numbers.has(PolicyNumbers.CONCURRENCY)
                ? new Slots((int) Math.max(1, numbers.amount(PolicyNumbers.CONCURRENCY) / processes))
                : null;
        return new Bucket4jAdmission(numbers, 1.0 / processes, (limit, c) -> local(c), slots, () -> {});
    }

    /** Buckets in Redis shared by the fleet. Calls in flight are nothing a bucket can count. */
    static Bucket4jAdmission shared(PolicyNumbers numbers, String redis, String keyPrefix) {
        RedisClient client = RedisClient.create(redis);
        var connection = client.connect(RedisCodec.of(StringCodec.UTF8, ByteArrayCodec.INSTANCE));
        ProxyManager<String> proxies = Bucket4jLettuce.casBasedBuilder(connection)
                .expirationAfterWrite(
                        ExpirationAfterWriteStrategy.basedOnTimeForRefillingBucketUpToMax(Duration.ofMinutes(1)))
                .build();
        return new Bucket4jAdmission(
                numbers,
                1,
                (limit, c) -> new Shared(proxies.asAsync()
                        .builder()
                        .build(keyPrefix + limit, () -> CompletableFuture.completedFuture(c))),
                null,
                client::shutdown);
    }

    /** Once it has its slot it goes on to the end, as a bucket takes before it waits; who cancels gives all of it back. */
    @Override
    public CompletableFuture<Ticket> admit(Work work) {
        CompletableFuture<Void> slot = slots == null ? CompletableFuture.completedFuture(null) : slots.take();
        CompletionStage<Ticket> ticket = slot.thenCompose(taken -> takeAll(work));
        return Linked.to(slot, ticket, Ticket::unsent);
    }

    private CompletionStage<Ticket> takeAll(Work work) {
        return take(PolicyNumbers.RPM, 1)
                .thenCompose(taken -> take(PolicyNumbers.ITPM, numbers.inputCost(work.input(), work.cacheRead(), 0)))
                .thenCompose(taken -> take(PolicyNumbers.OTPM, work.maxOutput()))
                .thenCompose(taken -> take(PolicyNumbers.TPM, tokens(work, work.maxOutput())))
                .whenComplete((taken, e) -> {
                    if (e != null) {
                        release();
                    }
                })
                .thenApply(taken -> new Held(work));
    }

    @Override
    public Duration pause(int rejections, @Nullable Duration retryAfter) {
        return Backoff.pause(rejections, retryAfter, ThreadLocalRandom.current()::nextDouble);
    }

    @Override
    public void close() {
        close.run();
    }

    private CompletionStage<Void> take(String limit, long units) {
        Meter meter = meters.get(limit);
        if (meter == null || units == 0) {
            return NOTHING_TO_DO;
        }
        long capacity = capacities.getOrDefault(limit, units);
        return meter.scheduling()
                .consume(Math.min(units, capacity), timer)
                .thenCompose(taken -> units > capacity ? meter.force(units - capacity) : NOTHING_TO_DO);
    }

    private CompletionStage<Void> giveBack(String limit, long units) {
        Meter meter = meters.get(limit);
        return meter == null || units <= 0 ? NOTHING_TO_DO : meter.add(units);
    }

    private long tokens(Work work, long output) {
        return numbers.tokenCost(work.input() + work.cacheRead(), work.maxOutput(), output);
    }

    private void release() {
        if (slots != null) {
            slots.give();
        }
    }

    private static Meter local(BucketConfiguration configuration) {
        return new Local(
                Bucket.builder().addLimit(configuration.getBandwidths()[0]).build());
    }

    /** Refills smoothly; over an hour, so that the rounding to whole tokens is nothing. */
    private static BucketConfiguration configuration(long capacity, double perSecond) {
        long anHour = Math.max(1, Math.round(perSecond * 3600));
        return BucketConfiguration.builder()
                .addLimit(Bandwidth.builder()
                        .capacity(capacity)
                        .refillGreedy(anHour, Duration.ofHours(1))
                        .build())
                .build();
    }

    private final class Held implements Ticket {
        private final Work work;

        Held(Work work) {
            this.work = work;
        }

        @Override
        public @Nullable String modelClass() {
            return null;
        }

        @Override
        public CompletionStage<Charge> settled(Usage usage) {
            Long output = usage.outputTokens();
            long used = output == null ? work.maxOutput() : output;
            // Input stays as it was taken.
            return ended(
                    giveBack(PolicyNumbers.OTPM, work.maxOutput() - used)
                            .thenCompose(given ->
                                    giveBack(PolicyNumbers.TPM, tokens(work, work.maxOutput()) - tokens(work, used))),
                    new Charge(1, work.input(), work.cacheRead(), 0, used));
        }

        @Override
        public CompletionStage<Charge> rejected(@Nullable Duration retryAfter) {
            return ended(giveBackTokens(), new Charge(1, 0, 0, 0, 0));
        }

        @Override
        public CompletionStage<Charge> unsent() {
            return ended(giveBack(PolicyNumbers.RPM, 1).thenCompose(given -> giveBackTokens()), Charge.NOTHING);
        }

        private CompletionStage<Charge> ended(CompletionStage<Void> given, Charge charge) {
            return given.whenComplete((ok, e) -> release()).thenApply(ok -> charge);
        }

        private CompletionStage<Void> giveBackTokens() {
            return giveBack(PolicyNumbers.ITPM, numbers.inputCost(work.input(), work.cacheRead(), 0))
                    .thenCompose(given -> giveBack(PolicyNumbers.OTPM, work.maxOutput()))
                    .thenCompose(given -> giveBack(PolicyNumbers.TPM, tokens(work, work.maxOutput())));
        }
    }

    /** A bucket here or in Redis. */
    private sealed interface Meter {
        SchedulingBucket scheduling();

        /** Takes whatever the level is. */
        CompletionStage<Void> force(long units);

        CompletionStage<Void> add(long units);
    }

    private record Local(Bucket bucket) implements Meter {
        @Override
        public SchedulingBucket scheduling() {
            return bucket.asScheduler();
        }

        @Override
        public CompletionStage<Void> force(long units) {
            bucket.consumeIgnoringRateLimits(units);
            return NOTHING_TO_DO;
        }

        @Override
        public CompletionStage<Void> add(long units) {
            bucket.addTokens(units);
            return NOTHING_TO_DO;
        }
    }

    private record Shared(AsyncBucketProxy bucket) implements Meter {
        @Override
        public SchedulingBucket scheduling() {
            return bucket.asScheduler();
        }

        @Override
        public CompletionStage<Void> force(long units) {
            return bucket.consumeIgnoringRateLimits(units).thenAccept(waitNs -> {});
        }

        @Override
        public CompletionStage<Void> add(long units) {
            return bucket.addTokens(units);
        }
    }
}
