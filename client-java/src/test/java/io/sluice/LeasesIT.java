package io.sluice;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A permit lives as long as its process gives signs of life, and a lease longer at most. Leases of 1 s. */
@WithRedis(own = true)
@Tag("contract")
@Timeout(60)
class LeasesIT {
    private static final int SLOTS = 3;
    private static final String LIMITS = "concurrency: " + SLOTS + ", " + Budget.THOUSAND;
    private static final Pattern CALLS = Pattern.compile("cmdstat_eval(?:sha)?:calls=(\\d+)");

    private final RedisServer redis;

    LeasesIT(RedisServer redis) {
        this.redis = redis;
    }

    /** A beat is one command, however many permits it renews. */
    @Test
    void aHeldPermitOutlivesItsLeaseAtTheCostOfThreeCommandsALease() {
        try (Budget budget = Budget.of(redis, "concurrency: 200")) {
            List<Permit> permits =
                    IntStream.range(0, 200).mapToObj(i -> budget.take()).toList();
            long start = System.nanoTime();
            long before = scriptCalls();

            await().atMost(Duration.ofSeconds(10))
                    .pollInterval(Duration.ofMillis(100))
                    .until(() -> Budget.since(start).toMillis() > 3_200);
            long calls = scriptCalls() - before;
            double leases = Budget.since(start).toMillis() / 1_000.0;

            assertThat(calls).as("commands in %s leases", leases).isBetween(3L, Math.round(4 * leases));
            assertThat(permits.stream().map(permit -> permit.settle(Usage.UNKNOWN)))
                    .allMatch(ending -> ending.ended() == Permit.How.SETTLED && !ending.already());
            assertThat(budget.levels().used()).isZero();
        }
    }

    @Test
    void theSlotsOfAKilledProcessComeBackWithinALeaseAndItsCallsStayCharged() throws IOException {
        try (Budget budget = Budget.of(redis, LIMITS);
                Holder holder = new Holder(budget.id, SLOTS)) {
            assertThat(budget.refusal(Budget.CALL).limit()).isEqualTo("concurrency");

            long killed = System.nanoTime();
            holder.process.destroyForcibly();
            await().pollInterval(Duration.ofMillis(20))
                    .atMost(Duration.ofSeconds(5))
                    .until(() -> budget.project.tryAcquire(Budget.CALL) instanceof Decision.Granted);

            assertThat(Budget.since(killed)).isLessThan(Duration.ofMillis(1_500));
            assertThat(budget.levels().left()).containsEntry("calls", 1_000L - SLOTS - 1);
        }
    }

    /** A process that slept through its lease must learn that its slot belongs to another (a zombie's settle frees nothing). */
    @Test
    void aProcessThatSleptThroughItsLeaseIsToldAndChangesNobodysSlot() throws Exception {
        try (Budget budget = Budget.of(redis, LIMITS);
                Holder holder = new Holder(budget.id, SLOTS)) {
            holder.signal("STOP");
            Permit mine = budget.project.acquire(Budget.CALL, Duration.ofSeconds(10));
            holder.signal("CONT");

            await().atMost(Duration.ofSeconds(5)).until(() -> holder.said("lost") == SLOTS);
            holder.say("settle");
            await().atMost(Duration.ofSeconds(5)).until(() -> holder.said("EXPIRED") == SLOTS);

            assertThat(budget.levels().used()).isEqualTo(1);
            assertThat(mine.settle(Usage.UNKNOWN).ended()).isEqualTo(Permit.How.SETTLED);
            assertThat(budget.levels().used()).isZero();
            assertThat(budget.levels().left()).containsEntry("calls", 1_000L - SLOTS - 1);
        }
    }

    private long scriptCalls() {
        Matcher matcher = CALLS.matcher(redis.command("INFO", "commandstats"));
        long calls = 0;
        while (matcher.find()) {
            calls += Long.parseLong(matcher.group(1));
        }
        return calls;
    }

    /** A {@link LeaseHolder} that holds its permits. */
    private final class Holder implements AutoCloseable {
        final Process process;
        private final Queue<String> lines = new ConcurrentLinkedQueue<>();

        Holder(String project, int permits) throws IOException {
            process = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "-Xshare:auto",
                            "-XX:TieredStopAtLevel=1",
                            "-cp",
                            System.getProperty("java.class.path"),
                            LeaseHolder.class.getName(),
                            redis.uri(),
                            project,
                            String.valueOf(permits))
                    .redirectErrorStream(true)
                    .start();
            InputStream out = process.getInputStream();
            Thread reader = new Thread(() -> read(out));
            reader.setDaemon(true);
            reader.start();
            await().atMost(Duration.ofSeconds(20)).until(() -> said("holding") == 1 || !process.isAlive());
            assertThat(process.isAlive()).as("%s", lines).isTrue();
        }

        private void read(InputStream out) {
            new BufferedReader(new InputStreamReader(out, StandardCharsets.UTF_8))
                    .lines()
                    .forEach(lines::add);
        }

        long said(String line) {
            return lines.stream().filter(line::equals).count();
        }

        void say(String line) {
            try {
                process.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
                process.getOutputStream().flush();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        void signal(String name) throws Exception {
            int exit = new ProcessBuilder("kill", "-" + name, String.valueOf(process.pid()))
                    .inheritIO()
                    .start()
                    .waitFor();
            assertThat(exit).isZero();
        }

        @Override
        public void close() {
            process.destroyForcibly();
        }
    }
}
