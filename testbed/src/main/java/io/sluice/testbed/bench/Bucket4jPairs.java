package io.sluice.testbed.bench;

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
import java.time.Duration;

/**
 * The common way to share a rate in Java: three Bucket4j buckets by compare and swap, taken one after the other, then
 * given back. Calls in flight, leases and half-taken triples are not guarded.
 */
final class Bucket4jPairs implements Contender {
    static final String LABEL = "Bucket4j";

    private final RedisClient client;
    private final Bucket requests;
    private final Bucket input;
    private final Bucket output;

    Bucket4jPairs(String redis) {
        client = RedisClient.create(redis);
        ProxyManager<String> proxies = Bucket4jLettuce.casBasedBuilder(
                        client.connect(RedisCodec.of(StringCodec.UTF8, ByteArrayCodec.INSTANCE)))
                .expirationAfterWrite(
                        ExpirationAfterWriteStrategy.basedOnTimeForRefillingBucketUpToMax(Duration.ofMinutes(1)))
                .build();
        requests = bucket(proxies, "rpm", CallSize.RPM);
        input = bucket(proxies, "itpm", CallSize.TPM);
        output = bucket(proxies, "otpm", CallSize.TPM);
    }

    @Override
    public String label() {
        return LABEL;
    }

    @Override
    public Runnable acquire() {
        take(requests, 1);
        take(input, CallSize.INPUT);
        take(output, CallSize.OUTPUT_CAP);
        return this::giveBack;
    }

    /** A bucket is read by GET, then written by EVAL of a script that does one GET of its own. */
    @Override
    public double commandMicros(CommandStats stats) {
        return stats.scriptMicros() + stats.microsOutsideScripts("get");
    }

    @Override
    public void close() {
        client.shutdown();
    }

    private void giveBack() {
        requests.addTokens(1);
        input.addTokens(CallSize.INPUT);
        output.addTokens(CallSize.OUTPUT_CAP);
    }

    private static void take(Bucket bucket, long units) {
        if (!bucket.tryConsume(units)) {
            throw new IllegalStateException("refused by a bucket that should never be empty");
        }
    }

    private static Bucket bucket(ProxyManager<String> proxies, String limit, long perMinute) {
        BucketConfiguration configuration = BucketConfiguration.builder()
                .addLimit(Bandwidth.builder()
                        .capacity(perMinute)
                        .refillGreedy(perMinute, Duration.ofMinutes(1))
                        .build())
                .build();
        return proxies.builder().build("{bench}:" + limit, () -> configuration);
    }
}
