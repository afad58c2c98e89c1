package io.sluice.testbed.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code ./sluice demo} as a process, short: what a newcomer runs first. */
@Timeout(240)
class DemoCommandIT {
    @TempDir
    private Path directory;

    @Test
    void passesTellsTheDashboardAndThatAPartAsksTheServer() throws Exception {
        try (Launched demo = Launched.start(
                directory,
                Map.of(),
                "demo",
                "--seconds",
                "5",
                "--processes",
                "2",
                "--agents",
                "20",
                // One run: that a fleet without Sluice is rejected is proven elsewhere.
                "--compare",
                "sluice")) {
            demo.awaitErr("dashboard at http://127\\.0\\.0\\.1:[1-9]\\d*/ until the demo ends", Duration.ofMinutes(3));
            List<ProcessHandle> children = demo.children();
            demo.awaitErr("1 of 2 processes ask the server over HTTP, the others Redis", Duration.ofMinutes(1));

            assertThat(demo.awaitEnd(Duration.ofMinutes(2)))
                    .as("%s%n%s", demo.err(), demo.out())
                    .isZero();
            assertThat(demo.out()).contains("PASSED: with Sluice the provider rejected 0 of ");
            assertThat(children).isNotEmpty();
            await().atMost(Duration.ofSeconds(20)).until(() -> children.stream().noneMatch(ProcessHandle::isAlive));
        }
    }
}
