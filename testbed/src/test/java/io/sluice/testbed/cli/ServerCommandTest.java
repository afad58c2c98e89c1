package io.sluice.testbed.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ServerCommandTest {
    /** {@code $SLUICE_REDIS}, {@code $SPRING_APPLICATION_JSON}; whether that names a Redis. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            redis://r | {}                              | true
            ``        | {"sluice.redis": "redis://r"}   | true
            ``        | {"sluice": {"redis": "r"}}      | true
            ` `       | {"sluice": {"policies": "p"}}   | false
            ``        | {"server.port": 1}              | false
            ``        | {no json                        | false
            """)
    void aRedisIsStartedOnlyWhereTheEnvironmentNamesNone(String redis, String json, boolean named) {
        assertThat(ServerCommand.redisIsNamed(Map.of("SLUICE_REDIS", redis, "SPRING_APPLICATION_JSON", json)))
                .isEqualTo(named);
        assertThat(ServerCommand.redisIsNamed(Map.of())).isFalse();
    }
}
