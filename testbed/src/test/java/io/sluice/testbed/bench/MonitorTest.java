package io.sluice.testbed.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class MonitorTest {
    @Test
    void whatAScriptDoesIsNotWhatAClientSent() {
        Monitor.Seen seen = new Monitor.Seen(0, 0);
        List<String> lines = """
                +OK\r
                +1796033093.106740 [0 127.0.0.1:60866] "EVALSHA" "4eb8" "8" "{x}:policy"\r
                +1796033093.106750 [0 lua] "HMGET" "{x}:levels" "!" "!due"\r
                +1796033093.106760 [0 lua] "ZADD" "{x}:hosts" "1" "] \\"a host\\" lua] "\r
                +1796033093.206740 [0 127.0.0.1:60867] "PING"\r
                """.lines().toList();
        for (String line : lines) {
            seen = seen.with(line);
        }

        assertThat(seen).isEqualTo(new Monitor.Seen(2, 2));
    }
}
