package io.sluice;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.sluice.testbed.redis.Fault;
import io.sluice.testbed.redis.FaultyProxy;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A Redis that takes its time. */
@WithRedis
@Tag("contract")
@Timeout(60)
class SlowStartIT {
    private final RedisServer redis;

    SlowStartIT(RedisServer redis) {
        this.redis = redis;
    }

    /** A process that starts on a busy machine was told that Redis is not fit for use. */
    @Test
    void connectingMayTakeLongerThanACallMayWait() {
        try (FaultyProxy cable = FaultyProxy.to(redis)) {
            cable.set(new Fault.Delay(Duration.ofMillis(200), Duration.ofMillis(200)));
            try (Sluice sluice = Sluice.connect(cable.uri())) {
                OutageException late = catchThrowableOfType(OutageException.class, () -> sluice.installed("nobodys"));
                assertThat(late.reason()).isEqualTo("timeout");
                cable.heal();
                OutageException thrown = catchThrowableOfType(OutageException.class, () -> sluice.installed("nobodys"));
                assertThat(thrown.reason()).isEqualTo("no_project");
            }
        }
    }
}
