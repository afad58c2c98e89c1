package io.sluice.testbed.fleet;

import io.github.bucket4j.Bandwidth;
import io.github.bucket4j.Bucket;
import io.github.bucket4j.BucketConfiguration;
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
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * {@link Strategy#PER_PROCESS} and {@link Strategy#BUCKET4J}: one Bucket4j bucket a rate, taken one after the other,
 * output reserved at its cap and the rest added back. A call larger than a bucket takes all of it and leaves a debt.
 */
final class Bucket4jAdmission implements Admission {
    private final PolicyNumbers numbers;
    private final Map<String, Bucket> buckets;
    private final Map<String, Long> capacities;
    private final @Nullable Semaphore slots;
    private final Runnable close;

    private Bucket4jAdmission(
            PolicyNumbers numbers,
            double share,
            BiFunction<String, BucketConfiguration, Bucket> bucket,
            @Nullable Semaphore slots,
            Runnable close) {
        this.numbers = numbers;
        this.slots = slots;
        this.close = close;
        this.buckets = new LinkedHashMap<>();
        this.capacities = new LinkedHashMap<>();
        for (String limit : new String[] {PolicyNumbers.RPM, PolicyNumbers.ITPM, PolicyNumbers.OTPM}) {
            if (numbers.has(limit)) {
                long capacity = Math.max(1, (long) (numbers.burst(limit) * share));
                capacities.put(limit, capacity);
                buckets.put(limit, bucket.apply(limit, configuration(capacity, numbers.perSecond(limit) * share)));
            }
        }
    }

    /** A static share of every limit, slots included, kept in this process. */
    static Bucket4jAdmission perProcess(PolicyNumbers numbers, int processes) {
        Semaphore slots = numbers.has(PolicyNumbers.CONCURRENCY)
                ? new Semaphore((int) Math.max(1, numbers.amount(PolicyNumbers.CONCURRENCY) / processes), true)
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
                numbers, 1, (limit, c) -> proxies.builder().build(keyPrefix + limit, () -> c), null, client::shutdown);
    }

    @Override
    public Ticket admit(Work work) throws InterruptedException {
        if (slots != null) {
            slots.acquire();
        }
        try {
            take(PolicyNumbers.RPM, 1);
            take(PolicyNumbers.ITPM, numbers.inputCost(work.input(), work.cacheRead(), 0));
            take(PolicyNumbers.OTPM, work.maxOutput());
        } catch (InterruptedException | RuntimeException e) {
            release();
            throw e;
        }
        return new Held(work);
    }

    @Override
    public Duration pause(int rejections, @Nullable Duration retryAfter) {
        return Backoff.pause(rejections, retryAfter, ThreadLocalRandom.current()::nextDouble);
    }

    @Override
    public void close() {
        close.run();
    }

    private void take(String limit, long units) throws InterruptedException {
        Bucket bucket = buckets.get(limit);
        if (bucket == null || units == 0) {
            return;
        }
        long capacity = capacities.getOrDefault(limit, units);
        bucket.asBlocking().consume(Math.min(units, capacity));
        if (units > capacity) {
            bucket.consumeIgnoringRateLimits(units - capacity);
        }
    }

    private void giveBack(String limit, long units) {
        Bucket bucket = buckets.get(limit);
        if (bucket != null && units > 0) {
            bucket.addTokens(units);
        }
    }

    private void release() {
        if (slots != null) {
            slots.release();
        }
    }

    private static Bucket local(BucketConfiguration configuration) {
        return Bucket.builder().addLimit(configuration.getBandwidths()[0]).build();
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
        public void settled(Usage usage) {
            Long output = usage.outputTokens();
            giveBack(PolicyNumbers.OTPM, output == null ? 0 : work.maxOutput() - output);
            release();
        }

        @Override
        public void rejected(@Nullable Duration retryAfter) {
            giveBackTokens();
            release();
        }

        @Override
        public void unsent() {
            giveBack(PolicyNumbers.RPM, 1);
            giveBackTokens();
            release();
        }

        private void giveBackTokens() {
            giveBack(PolicyNumbers.ITPM, numbers.inputCost(work.input(), work.cacheRead(), 0));
            giveBack(PolicyNumbers.OTPM, work.maxOutput());
        }
    }
}
