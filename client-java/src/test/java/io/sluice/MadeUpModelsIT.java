package io.sluice;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Names that callers make up stand in no key (steemit/wallet#319), and none can make two things one (parse-community/parse-server#10624). */
@WithRedis
@Timeout(120)
class MadeUpModelsIT {
    private static final int MODELS = 100_000;
    private static final int AT_ONCE = 500;

    private final RedisServer redis;

    MadeUpModelsIT(RedisServer redis) {
        this.redis = redis;
    }

    @Test
    void aHundredThousandModelsThatNobodyKnowsLeaveNoKeyNoMeterAndNoCharge() {
        SimpleMeterRegistry meters = new SimpleMeterRegistry();
        try (Budget budget = Budget.of(redis.uri(), Sluice.Options.DEFAULT.withMeters(meters), Budget.THOUSAND)) {
            budget.take().cancel();
            refused(budget, 0, AT_ONCE);
            told(budget);
            List<String> keys = keys(budget);
            Set<String> series = series(meters);
            long counters = counters(budget);

            for (int from = AT_ONCE; from < MODELS; from += AT_ONCE) {
                refused(budget, from, from + AT_ONCE);
            }
            told(budget);

            assertThat(keys(budget))
                    .hasSizeLessThanOrEqualTo(keys.size() + 2)
                    .noneMatch(key -> key.contains("made-up"));
            assertThat(series(meters)).isEqualTo(series);
            assertThat(counters(budget)).isLessThanOrEqualTo(counters);
            assertThat(budget.levels().left().get("calls")).isEqualTo(1_000);
            assertThat(budget.levels().permits()).isLessThanOrEqualTo(1);
            ProjectClient client = (ProjectClient) budget.project;
            assertThat(client.held() + client.waiting()).isZero();
        }
    }

    private static void refused(Budget budget, int from, int to) {
        List<CompletionStage<Decision>> asked = new ArrayList<>();
        for (int i = from; i < to; i++) {
            asked.add(budget.project.tryAcquireAsync(Call.of("made-up-" + i)));
        }
        for (CompletionStage<Decision> one : asked) {
            assertThat(one.toCompletableFuture().join())
                    .isInstanceOfSatisfying(
                            Decision.Refused.class,
                            no -> assertThat(no.refusal().kind()).isEqualTo(Refusal.Kind.UNKNOWN_MODEL));
        }
    }

    private static void told(Budget budget) {
        ((SluiceClient) budget.sluice).flush().join();
    }

    /** But those of scripts: a beat comes when it is due. */
    private static Set<String> series(SimpleMeterRegistry meters) {
        return meters.getMeters().stream()
                .map(meter -> meter.getId().toString())
                .filter(id -> !id.contains("sluice.script"))
                .collect(Collectors.toSet());
    }

    /** Those of this project. */
    private List<String> keys(Budget budget) {
        return redis.command("KEYS", "{" + budget.id + "}:*")
                .lines()
                .filter(line -> !line.isBlank())
                .toList();
    }

    private long counters(Budget budget) {
        return Long.parseLong(
                redis.command("HLEN", "{" + budget.id + "}:counters").strip());
    }

    @Test
    void noProjectCanBeNamedSoThatItsKeysAreAnothers() {
        try (Budget budget = Budget.of(redis, "concurrency: 1")) {
            for (String id : List.of(budget.id + ":levels", "{" + budget.id + "}", "a:b", "a}b", "A", "")) {
                assertThatThrownBy(() -> budget.sluice.project(id)).isInstanceOf(IllegalArgumentException.class);
            }
            Call call = Call.of("m-b:c").inputTokens(1);
            Permit permit = Budget.take(budget.project, call);
            try (Budget other = Budget.of(redis, "concurrency: 1")) {
                Budget.take(other.project, Call.of("m-c").inputTokens(1)).cancel();
            }
            assertThat(Budget.refusal(budget.project, Call.of("m-b").inputTokens(1))
                            .kind())
                    .isEqualTo(Refusal.Kind.WAIT);
            permit.cancel();
        }
    }
}
