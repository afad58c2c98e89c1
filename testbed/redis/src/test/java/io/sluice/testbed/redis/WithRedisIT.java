package io.sluice.testbed.redis;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

@WithRedis
@Tag("smoke")
class WithRedisIT {
    private final RedisServer redis;

    WithRedisIT(RedisServer redis) {
        this.redis = redis;
    }

    @Test
    void sharesOneServerInTheWholeJvm(RedisServer parameter) {
        assertThat(redis).isSameAs(RedisServers.shared()).isSameAs(parameter);
        assertThat(redis.command("PING")).isEqualTo("PONG");
    }

    @Test
    @WithRedis(
            own = true,
            arguments = {"--maxmemory", "50mb"})
    void givesAMethodItsOwnServer(RedisServer own) {
        assertThat(own.port()).isNotEqualTo(redis.port());
        assertThat(own.command("CONFIG", "GET", "maxmemory")).isEqualTo("maxmemory\n52428800");
    }

    @Nested
    class InANestedClass {
        @Test
        void itIsTheOuterOne(RedisServer inner) {
            assertThat(inner).isSameAs(redis);
        }
    }

    @Nested
    @WithRedis(own = true, persistent = true)
    @TestMethodOrder(MethodOrderer.OrderAnnotation.class)
    class WithItsOwn {
        @Test
        @Order(1)
        void mayBeKilled(RedisServer own) {
            assertThat(own).isNotSameAs(redis);
            own.command("SET", "a", "1");
            own.kill();
        }

        @Test
        @Order(2)
        void isBackForTheNextTest(RedisServer own) {
            assertThat(own.command("GET", "a")).isEqualTo("1");
            own.pause();
        }

        @Test
        @Order(3)
        void isLetGoOnForTheNextTest(RedisServer own) {
            assertThat(own.command("GET", "a")).isEqualTo("1");
        }
    }
}
