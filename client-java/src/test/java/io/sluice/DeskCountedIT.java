package io.sluice;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.Counters.Labels;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.time.Duration;
import java.time.Instant;
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
            for (Admin.By by : Admin.By.values()) {
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
}
