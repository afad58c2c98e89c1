package io.sluice;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.sluice.http.HttpSender;
import io.sluice.provider.Anthropic;
import io.sluice.redis.Levels;
import io.sluice.testbed.redis.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.awaitility.core.ConditionFactory;

/** A project of a test's own, a provider that answers as it is told, and what a listener hears. */
final class CallFixture implements AutoCloseable {
    /** An estimate of 10 input and 5 output tokens. */
    static final Call CALL = Call.of("m-1").inputTokens(10).maxOutputTokens(5);

    static final Profile PROFILE = Anthropic.PROFILE;

    final String id = "c-" + UUID.randomUUID();
    final SimpleMeterRegistry meters = new SimpleMeterRegistry();
    final ProviderStub provider = new ProviderStub();
    final List<WaitListener.Retrying> retries = new CopyOnWriteArrayList<>();
    final HttpSender http = HttpSender.of(ProviderStub.client());
    final String uri;
    final Sluice sluice;
    final Project project;
    private final long full;
    private boolean closed;

    /** What {@link #call} and the others call. */
    Call call = CALL;

    CallFixture(RedisServer redis) {
        this(redis.uri(), redis.uri());
    }

    /** Connected by one address, looked at by another. */
    CallFixture(String connect, String look) {
        uri = look;
        sluice = Sluice.connect(
                connect, Sluice.Options.DEFAULT.withMeters(meters).withListener(new WaitListener() {
                    @Override
                    public void retrying(Retrying retrying) {
                        retries.add(retrying);
                    }
                }));
        project = sluice.project(id);
        sluice.install(policy("enforce"));
        full = levels().left().get("calls");
    }

    /** Buckets of 500 that refill by one in three minutes: what a test takes can be counted. Leases so long that nothing comes back by itself. */
    Policy policy(String mode) {
        String year = "{amount: 182500, per: 365d, window: refill, burst: 1d, weights: {%s: 1}}";
        return Policy.parse(
                """
                project: %s
                provider: generic
                lease: 15m
                mode: %s
                queue: {max_wait: 2m}
                classes:
                  - name: m
                    models: ["m-*"]
                    limits:
                      concurrency: 4
                      calls: %s
                      in: %s
                      out: %s
                """.formatted(id, mode, year.formatted("requests"), year.formatted("input"), year.formatted("output")));
    }

    /** Asks the provider over HTTP. */
    Sender sends() {
        return http.sends(attempt -> provider.request());
    }

    Response call(CallOptions options) throws InterruptedException {
        return project.call(call, PROFILE, options, sends());
    }

    Response call() throws InterruptedException {
        return call(CallOptions.DEFAULT);
    }

    CompletableFuture<Response> callAsync() {
        return project.callAsync(call, PROFILE, http.sendsAsync(attempt -> provider.request()))
                .toCompletableFuture();
    }

    /** The call is not served, and why. */
    ProviderException unserved(CallOptions options) {
        return unserved(options, PROFILE, sends());
    }

    ProviderException unserved(CallOptions options, Profile profile, Sender sender) {
        return catchThrowableOfType(ProviderException.class, () -> project.call(call, profile, options, sender));
    }

    /** How many requests were charged, and how many tokens: {@code 2 requests, 7 in, 3 out}. */
    String charged() {
        Map<String, Long> left = levels().left();
        return (full - left.get("calls")) + " requests, " + (full - left.get("in")) + " in, " + (full - left.get("out"))
                + " out";
    }

    private Levels levels() {
        return Levels.of(uri, id, "c:m");
    }

    /** Slots in use now. */
    long used() {
        return levels().used();
    }

    double permits(String outcome) {
        return count("sluice.permits", "outcome", outcome);
    }

    double count(String meter, String... tags) {
        return meters.find(meter).tags(tags).counters().stream()
                .mapToDouble(Counter::count)
                .sum();
    }

    /** No permit, no waiter, no slot. */
    void nothingIsLeft() {
        soon().untilAsserted(() -> {
            Levels levels = levels();
            assertThat(levels.used()).as("slots in use").isZero();
            assertThat(levels.waiters()).as("calls in line").isZero();
            assertThat(((ProjectClient) project).waiting()).isZero();
            assertThat(((ProjectClient) project).held()).isZero();
            assertThat(((ProjectClient) project).calls).isEmpty();
        });
    }

    static ConditionFactory soon() {
        return await().pollInterval(Duration.ofMillis(5)).atMost(Duration.ofSeconds(10));
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            sluice.close();
        }
        provider.close();
    }
}
