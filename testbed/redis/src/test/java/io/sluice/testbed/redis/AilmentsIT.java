package io.sluice.testbed.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lettuce.core.RedisCommandExecutionException;
import io.sluice.testbed.redis.Ailments.Ailment;
import java.time.Duration;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Each state is what it says, and leaves with nothing behind. */
@WithRedis(own = true, persistent = true)
@Timeout(60)
class AilmentsIT {
    private final RedisServer redis;

    AilmentsIT(RedisServer redis) {
        this.redis = redis;
    }

    static Stream<Arguments> refusals() {
        return Stream.of(
                refusal("OOM", Ailments::outOfMemory),
                refusal("READONLY", Ailments::replica),
                refusal("MASTERDOWN", Ailments::replicaWithoutData),
                refusal("MISCONF", Ailments::cannotSave),
                refusal("NOREPLICAS", Ailments::withoutReplicas),
                refusal("BUSY", Ailments::busy));
    }

    private static Arguments refusal(String code, Function<RedisServer, Ailment> ailment) {
        return Arguments.of(code, Named.of(code, ailment));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("refusals")
    void aWriteIsRefusedWithItsCodeUntilItIsOver(String code, Function<RedisServer, Ailment> ailment) {
        redis.command("SET", "a", "before");
        try (Ailment now = ailment.apply(redis)) {
            assertThat(now).isNotNull();
            assertThatThrownBy(() -> redis.command("SET", "a", "under"))
                    .isInstanceOf(RedisCommandExecutionException.class)
                    .hasMessageStartingWith(code);
        }
        assertThat(redis.command("GET", "a")).isEqualTo("before");
        assertThat(redis.command("SET", "a", "after")).isEqualTo("OK");
    }

    @Test
    void whileItLoadsNothingIsAnswered() {
        try (RedisServer slow = RedisServers.startProcess(RedisOptions.DEFAULT.keepingData())) {
            slow.command("SET", "a", "kept");
            try (Ailment loading = Ailments.loading(slow, Duration.ofSeconds(1))) {
                assertThat(loading).isNotNull();
                assertThatThrownBy(() -> slow.command("GET", "a")).hasMessageStartingWith("LOADING");
            }
            assertThat(slow.command("GET", "a")).isEqualTo("kept");
            assertThat(slow.command("DBSIZE")).isEqualTo("1");
        }
    }

    @Test
    void aStalledOneAnswersLate() {
        long start = System.nanoTime();
        try (Ailment stalled = Ailments.stalled(redis, Duration.ofMillis(400))) {
            assertThat(stalled).isNotNull();
            assertThat(redis.command("PING")).isEqualTo("PONG");
        }
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThan(Duration.ofMillis(390));
    }

    @Test
    void anAsleepOneIsBackInTime() {
        long start = System.nanoTime();
        Ailments.asleep(redis, Duration.ofMillis(400)).close();
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThan(Duration.ofMillis(390));
        assertThat(redis.command("PING")).isEqualTo("PONG");
    }

    @Test
    void aRestartCanForgetWhatWouldBeKept() {
        redis.command("SET", "a", "1");
        redis.restart();
        assertThat(redis.command("GET", "a")).isEqualTo("1");
        int port = redis.port();
        redis.restartEmpty();
        assertThat(redis.port()).isEqualTo(port);
        assertThat(redis.command("DBSIZE")).isEqualTo("0");
        redis.command("SET", "a", "2");
        redis.restart();
        assertThat(redis.command("GET", "a")).as("persistent as before").isEqualTo("2");
    }
}
