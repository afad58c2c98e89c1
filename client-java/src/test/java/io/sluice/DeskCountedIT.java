package io.sluice;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.sluice.Counters.Labels;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A permit of the desk is asked for here and ends there: it counts once, as whose it is. */
@WithRedis
@Timeout(60)
class DeskCountedIT {
    private final RedisServer redis;

    DeskCountedIT(RedisServer redis) {
        this.redis = redis;
    }

    @Test
    void aPermitThatEndsElsewhereCountsOnceAndByItsNames() {
        try (Desks desks = new Desks(redis.uri()).with("concurrency: 2, " + Budget.THOUSAND)) {
            Call call = Desks.CALL.team("red").run("r-1");
            Desk.Handout permit =
                    Desks.get(Desks.ask(desks.here, new Desk.Asking(call, "token/bot", Duration.ZERO, null)));
            Desks.get(desks.there.settle(permit.permit(), Desks.used(7, 3)));
            Desks.get(desks.here.settle(permit.permit(), Desks.used(7, 3)));
            Desks.get(desks.first.admin().flush());
            Desks.get(desks.second.admin().flush());

            Admin admin = desks.first.admin();
            assertThat(Desks.get(admin.counters(desks.id)).permits())
                    .containsEntry(new Labels("m", "granted"), 1L)
                    .containsEntry(new Labels("m", "settled"), 1L);
            Instant now = Instant.now();
            for (Admin.By by : EnumSet.complementOf(EnumSet.of(Admin.By.KIND))) {
                assertThat(Desks.get(
                                admin.usage(desks.id, now.minusSeconds(60), now.plusSeconds(60), Admin.Step.DAY, by)))
                        .as(by.name())
                        .singleElement()
                        .satisfies(row -> {
                            assertThat(row.name()).isIn("red", "bot", "m-1", "r-1");
                            assertThat(row.requests()).isEqualTo(1);
                            assertThat(row.input()).isEqualTo(7);
                            assertThat(row.output()).isEqualTo(3);
                        });
            }
        }
    }

    /** Their leases ran out, and two desks hear at once what they used: Redis books it once, and so it is told. */
    @Test
    void whatComesAfterTheLeaseCountsOnceHoweverManyDesksHearIt() {
        try (Desks desks = new Desks(redis.uri()).with("concurrency: 50, " + Budget.THOUSAND)) {
            List<String> permits = new ArrayList<>();
            for (int i = 0; i < 30; i++) {
                Desk.Asking asking = new Desk.Asking(Desks.CALL, "token/bot", Duration.ZERO, Duration.ofSeconds(1));
                permits.add(Desks.get(Desks.ask(desks.here, asking)).permit());
            }
            Admin admin = desks.first.admin();
            Labels expired = new Labels("m", "expired");
            await().atMost(Duration.ofSeconds(20)).until(() -> {
                Desks.get(admin.status(desks.id));
                return Desks.get(admin.counters(desks.id)).permits().getOrDefault(expired, 0L) == 30;
            });
            List<CompletionStage<Desk.Outcome>> ended = new ArrayList<>();
            for (String permit : permits) {
                ended.add(desks.there.settle(permit, Desks.used(7, 3)));
                ended.add(desks.here.settle(permit, Desks.used(7, 3)));
            }
            assertThat(ended)
                    .allSatisfy(
                            one -> assertThat(Desks.get(one).ending().ended()).isEqualTo(Permit.How.EXPIRED));
            Desks.get(desks.first.admin().flush());
            Desks.get(desks.second.admin().flush());

            Instant now = Instant.now();
            assertThat(Desks.get(admin.usage(
                            desks.id, now.minusSeconds(60), now.plusSeconds(60), Admin.Step.DAY, Admin.By.AGENT)))
                    .singleElement()
                    .satisfies(row -> assertThat(row.requests()).isEqualTo(30));
            assertThat(Desks.get(admin.counters(desks.id)).permits())
                    .containsEntry(expired, 30L)
                    .doesNotContainKey(new Labels("m", "settled"));
        }
    }
}
