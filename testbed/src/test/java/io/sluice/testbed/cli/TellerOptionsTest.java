package io.sluice.testbed.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.testbed.cli.TellerOptions.Whom;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TellerOptionsTest {
    /** {@code --server}, {@code --redis}, {@code $SLUICE_SERVER}, {@code $SLUICE_REDIS}; who is asked. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                     |           |          |           | http://localhost:8080
            http://s |           | http://e | redis://e | http://s
                     | redis://r | http://e | redis://e | redis://r
                     |           | http://e | redis://e | http://e
                     |           | ' '      | redis://e | redis://e
                     |           |          | ''        | http://localhost:8080
            """)
    void theCommandLineGoesBeforeTheEnvironmentAndAServerBeforeRedis(
            String server, String redis, String exportedServer, String exportedRedis, String asked) {
        Map<String, String> environment = new HashMap<>();
        if (exportedServer != null) {
            environment.put("SLUICE_SERVER", exportedServer);
        }
        if (exportedRedis != null) {
            environment.put("SLUICE_REDIS", exportedRedis);
        }
        assertThat(Whom.of(server, redis, environment)).isEqualTo(new Whom(asked.startsWith("http"), asked));
    }
}
