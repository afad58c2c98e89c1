package io.sluice;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.sluice.Desk.Handout;
import io.sluice.provider.Profiles;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Thousands of calls wait at one desk, in a process with 64 MB of heap and few threads. */
@WithRedis(own = true)
@Timeout(240)
class DeskCrowdIT {
    private static final int CROWD = 5_000;
    private static final int THREADS = 40;

    private final RedisServer redis;

    DeskCrowdIT(RedisServer redis) {
        this.redis = redis;
    }

    @Test
    void fiveThousandWaitInSixtyFourMegabytesWithoutAThreadEach() throws Exception {
        try (Budget budget = Budget.of(redis, "concurrency: 1")) {
            budget.installWithALongLease("concurrency: 1");
            Permit running = budget.take();
            Process process = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "-Xmx64m",
                            "-XX:+ExitOnOutOfMemoryError",
                            "-cp",
                            System.getProperty("java.class.path"),
                            Crowd.class.getName(),
                            redis.uri(),
                            budget.id)
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            try (BufferedReader out = process.inputReader(StandardCharsets.UTF_8)) {
                String line = out.readLine();
                assertThat(line).matches("waiting 5000, \\d+ threads, \\d+ MB");
                System.getLogger(DeskCrowdIT.class.getName()).log(System.Logger.Level.INFO, line);
                assertThat(Integer.parseInt(line.split(" ", -1)[2])).isLessThan(THREADS);
                assertThat(budget.levels().waiters()).isEqualTo(CROWD);

                process.outputWriter(StandardCharsets.UTF_8).append('\n').flush();
                assertThat(out.readLine()).isEqualTo("ended 5000, still few threads: true");
                assertThat(budget.levels().waiters()).isZero();
                assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
                assertThat(process.exitValue()).isZero();
            } finally {
                process.destroyForcibly();
            }
            running.cancel();
            assertThat(budget.levels().used()).isZero();
        }
    }

    /** That process. */
    static final class Crowd {
        private Crowd() {}

        public static void main(String[] args) throws Exception {
            Sluice.Options patient = Sluice.Options.DEFAULT.withCommandTimeout(Duration.ofSeconds(10));
            try (Sluice sluice = Sluice.connect(args[0], patient)) {
                Desk desk = sluice.desk(args[1], Profiles::of);
                List<CompletableFuture<Handout>> waits = new ArrayList<>();
                for (int i = 0; i < CROWD; i++) {
                    Call call = Budget.CALL.agent("agent-" + i % 100);
                    waits.add(desk.acquire(
                                    new Desk.Asking(call, "token/agent-" + i % 100, Duration.ofMinutes(9), null),
                                    waiting -> {})
                            .toCompletableFuture());
                }
                ProjectClient project = (ProjectClient) sluice.project(args[1]);
                await().atMost(Duration.ofMinutes(2)).until(() -> project.waiting() == CROWD);
                System.gc();
                int threads = ManagementFactory.getThreadMXBean().getThreadCount();
                long heap = Runtime.getRuntime().totalMemory()
                        - Runtime.getRuntime().freeMemory();
                say("waiting " + project.waiting() + ", " + threads + " threads, " + (heap >> 20) + " MB");
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)).readLine();

                desk.closeLine().toCompletableFuture().get(1, TimeUnit.MINUTES);
                await().until(() -> waits.stream().allMatch(CompletableFuture::isDone));
                long ended = waits.stream()
                        .filter(CompletableFuture::isCompletedExceptionally)
                        .count();
                say("ended " + ended + ", still few threads: "
                        + (ManagementFactory.getThreadMXBean().getPeakThreadCount() < THREADS));
            }
        }

        @SuppressWarnings("SystemOut")
        private static void say(String line) {
            System.out.println(line);
            System.out.flush();
        }
    }
}
