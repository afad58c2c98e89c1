package io.sluice;

import static io.sluice.Budget.CALL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Calls that wait while the policy changes around them. */
@WithRedis
@Tag("contract")
@Timeout(60)
class ChangingPolicyIT {
    private static final Duration LONG = Duration.ofSeconds(40);

    private final RedisServer redis;

    ChangingPolicyIT(RedisServer redis) {
        this.redis = redis;
    }

    /** It stood in both classes' lines, left one of them, and whoever stood behind it in the other was never asked again. */
    @Test
    void aModelThatMovesToAnotherClassTakesItsWaitersAlong() {
        try (Budget budget = Budget.of(redis, "concurrency: 1");
                Sluice other = Sluice.connect(redis.uri())) {
            budget.sluice.install(classes(budget.id, "{name: m, models: ['m-*']}", "{name: a, models: ['a-*']}"));
            budget.take();
            Permit first = Budget.take(other.project(budget.id), Call.of("a-1"));
            List<CompletableFuture<Permit>> waiting = waiting(budget, 3);

            List<CompletableFuture<Void>> served = new ArrayList<>();
            for (CompletableFuture<Permit> one : waiting) {
                served.add(one.thenAccept(permit -> {
                    assertThat(permit.modelClass()).isEqualTo("a");
                    permit.cancel();
                }));
            }

            other.install(classes(budget.id, "{name: a, models: ['m-*']}"));
            await().atMost(Duration.ofSeconds(5))
                    .until(() -> budget.sluice.installed(budget.id).version() == 3);
            first.cancel();

            assertThat(served).allSatisfy(one -> assertThat(one).succeedsWithin(Duration.ofSeconds(10)));
        }
    }

    /** It was refused at the ninth change, minutes after the first. */
    @Test
    void aCallOutlivesAnyNumberOfChanges() {
        SimpleMeterRegistry meters = new SimpleMeterRegistry();
        try (Budget budget = Budget.of(redis.uri(), Sluice.Options.DEFAULT.withMeters(meters), "concurrency: 1");
                Sluice other = Sluice.connect(redis.uri())) {
            Permit first = budget.take();
            List<CompletableFuture<Permit>> waiting = waiting(budget, 1);
            for (int version = 2; version <= 14; version++) {
                long before = asked(meters);
                other.install(Budget.policy(budget.id, "concurrency: 1, rpm: " + 1_000 * version));
                await().pollInterval(Duration.ofMillis(5))
                        .until(() -> asked(meters) > before || waiting.get(0).isDone());
            }
            first.cancel();
            assertThat(waiting.get(0)).succeedsWithin(Duration.ofSeconds(10));
        }
    }

    private static long asked(SimpleMeterRegistry meters) {
        return meters.get("sluice.script").tag("script", "acquire").timer().count();
    }

    private static Policy classes(String project, String... classes) {
        return Policy.parse("project: " + project + "\nprovider: generic\nlease: 1s\nclasses:\n"
                + Stream.of(classes)
                        .map(one -> "  - " + one.replace("}", ", limits: {concurrency: 1}}\n"))
                        .collect(Collectors.joining()));
    }

    private static List<CompletableFuture<Permit>> waiting(Budget budget, int calls) {
        List<CompletableFuture<Permit>> waiting = new ArrayList<>();
        for (int i = 1; i <= calls; i++) {
            int standing = i;
            waiting.add(budget.project.acquireAsync(CALL, LONG).toCompletableFuture());
            await().until(() -> ((ProjectClient) budget.project).waiting() == standing);
        }
        return waiting;
    }
}
