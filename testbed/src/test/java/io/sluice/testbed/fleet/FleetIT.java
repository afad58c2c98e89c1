package io.sluice.testbed.fleet;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.Assertions.within;

import io.sluice.Policy;
import io.sluice.Provider;
import io.sluice.testbed.emulator.Counting;
import io.sluice.testbed.emulator.Emulator;
import io.sluice.testbed.emulator.EmulatorOptions;
import io.sluice.testbed.emulator.Limits;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.RedisServers;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;

/** Real processes against a real emulator: what the report says must be what the emulator logged. */
@Tag("smoke")
@Timeout(60)
class FleetIT {
    private static final Limits LIMITS = new Limits(600L, 1_200_000L, 300_000L, 4L);
    private static final Policy POLICY = Policy.parse("""
            project: fleet-it
            provider: anthropic
            classes:
              - {name: sonnet, models: ["claude-sonnet-*"], limits: {rpm: 600, itpm: 1200000, otpm: 300000, concurrency: 4}}
            """);

    private static final Policy TEAMS = Policy.parse("""
            project: fleet-it-teams
            provider: anthropic
            classes:
              - {name: sonnet, models: ["claude-sonnet-*"], limits: {rpm: 600, itpm: 1200000, otpm: 300000, concurrency: 4}}
            teams: [{name: core, weight: 3}, {name: lab}]
            """);
    private static final String PROFILE = """
            think_ms: 20
            sizes: [{name: one, share: 1, input: 500, output: 50, max_output: 80, duration_ms: 60}]
            groups:
              - {share: 1, team: core, priority: interactive}
              - {share: 1, team: core, priority: normal}
              - {share: 1, team: core, priority: batch, bursts: {calls: 12, every: 1}}
              - {share: 1, team: lab, priority: interactive}
              - {share: 1, team: lab, priority: normal}
              - {share: 1, team: lab, priority: batch}
            stagger: {process_ms: 200, agent_ms: 10}
            """;

    private final List<String> progress = new ArrayList<>();

    @Test
    void withoutALimiterTheTableAndTheLogAgree() throws Exception {
        try (Emulator emulator = emulator()) {
            FleetReport report = Fleet.run(options(Strategy.NONE, emulator, null), progress::add);

            JsonNode stats = new TargetLog(emulator.uri()).stats();
            assertThat(report.rejected()).isPositive();
            assertThat(report.accepted()).isEqualTo(stats.path("accepted").asLong());
            assertThat(report.completed()).isEqualTo(stats.path("finished").asLong());
            stats.path("rejected")
                    .properties()
                    .forEach(kind -> assertThat(report.rejections().getOrDefault(kind.getKey(), 0L))
                            .isEqualTo(kind.getValue().asLong()));
            assertThat(stats.path("in_flight").asInt()).isZero();
            assertThat(report.tried()).isEqualTo(report.completed() + report.givenUp() + report.cutOff());
            assertThat(report.limits())
                    .extracting(FleetReport.LimitUse::limit)
                    .containsExactly("rpm", "itpm", "otpm", "concurrency");
            assertThat(report.judgedSeconds()).isBetween(3.0, 5.5);
            assertThat(progress).hasSizeGreaterThan(4);
            assertThat(ProcessHandle.current().children().filter(FleetIT::isAgentProcess))
                    .isEmpty();
        }
    }

    @Test
    void withSluiceNothingIsRejected() throws Exception {
        try (RedisServer redis = RedisServers.start();
                Emulator emulator = emulator()) {
            FleetReport report = Fleet.run(options(Strategy.SLUICE, emulator, redis.uri()), progress::add);

            assertThat(report.rejected()).isZero();
            assertThat(report.givenUpBecause()).isEmpty();
            assertThat(report.completed()).isPositive();
        }
    }

    /** 5 s of a fleet whose agents stand for two teams and three priorities, with bursts, one start after the other. */
    @ParameterizedTest
    @EnumSource(Strategy.class)
    void everyStrategyTellsWaitsAndSharesOfTeamsAndPriorities(Strategy strategy) throws Exception {
        try (RedisServer redis = RedisServers.start();
                Emulator emulator = emulator()) {
            FleetReport report = Fleet.run(
                    new FleetOptions(
                            redis.uri(),
                            TEAMS,
                            emulator.uri(),
                            2,
                            6,
                            Duration.ofSeconds(5),
                            strategy,
                            ProfileFile.parse("profile", PROFILE),
                            1),
                    progress::add);

            assertThat(report.byTeam()).containsOnlyKeys("core", "lab");
            assertThat(report.byPriority()).containsOnlyKeys("interactive", "normal", "batch");
            assertThat(report.flows())
                    .extracting(Flow::name, Flow::weight)
                    .containsExactlyInAnyOrder(
                            tuple("core interactive", 48),
                            tuple("core normal", 12),
                            tuple("core batch", 3),
                            tuple("lab interactive", 16),
                            tuple("lab normal", 4),
                            tuple("lab batch", 1));
            assertThat(report.flows()).extracting(Flow::modelClass).containsOnly("sonnet");
            assertThat(sum(report.byTeam(), part -> part.waits().calls()))
                    .isEqualTo(report.waits().calls())
                    .isEqualTo(report.completed() + report.givenUp());
            assertThat(sum(report.byPriority(), part -> part.waits().calls()))
                    .isEqualTo(report.waits().calls());
            assertThat(sum(report.byTeam(), Part::rejected)).isEqualTo(report.rejected());
            assertThat(report.byTeam().values().stream()
                            .mapToDouble(Part::sharePercent)
                            .sum())
                    .isCloseTo(100, within(1e-6));
            assertThat(report.flows()).allSatisfy(flow -> {
                assertThat(flow.part().granted()).isPositive();
                assertThat(flow.part().charge().input()).isPositive();
            });
            // A burst of 12 stood in line for 4 slots; who was still waiting at the end counts too.
            assertThat(report.starvation().longestMs())
                    .isGreaterThanOrEqualTo(report.waits().maxMs());
            assertThat(report.tried()).isGreaterThan(12);
            if (strategy == Strategy.SLUICE) {
                assertThat(report.rejected()).isZero();
            }
        }
    }

    private static long sum(Map<String, Part> parts, ToLongFunction<Part> number) {
        return parts.values().stream().mapToLong(number).sum();
    }

    @Test
    void sharedBucketsKeepToTheRates() throws Exception {
        try (RedisServer redis = RedisServers.start();
                Emulator emulator = emulator()) {
            FleetReport report = Fleet.run(options(Strategy.BUCKET4J, emulator, redis.uri()), progress::add);

            // Slots are nothing a bucket counts.
            assertThat(report.rejections().keySet()).isSubsetOf("concurrency");
            assertThat(report.completed()).isPositive();
        }
    }

    @Test
    void aTargetThatDoesNotAnswerIsSaidBeforeAnythingStarts() {
        FleetOptions options = new FleetOptions(
                null,
                POLICY,
                URI.create("http://127.0.0.1:1"),
                2,
                3,
                Duration.ofSeconds(5),
                Strategy.NONE,
                Profile.DEFAULT,
                1);

        assertThatThrownBy(() -> Fleet.run(options, progress::add))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("127.0.0.1:1");
        assertThat(progress).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(
            value = Provider.class,
            names = {"OPENAI", "GEMINI", "OPENROUTER"})
    void aFleetSpeaksTheApiOfItsPolicysProvider(Provider provider) throws Exception {
        Policy policy = Policy.parse("""
                project: fleet-it
                provider: %s
                classes: [{name: all, models: ["*"], limits: {rpm: 600}}]
                """.formatted(provider.label()));
        EmulatorOptions provided = EmulatorOptions.of(provider.label(), Limits.parse("rpm=600"))
                .counting(Counting.BUCKET, Duration.ofSeconds(5));
        try (Emulator emulator = Emulator.start(provided)) {
            FleetReport report = Fleet.run(
                    new FleetOptions(
                            null,
                            policy,
                            emulator.uri(),
                            1,
                            4,
                            Duration.ofSeconds(2),
                            Strategy.NONE,
                            Profile.DEFAULT,
                            1),
                    progress::add);

            JsonNode stats = new TargetLog(emulator.uri()).stats();
            assertThat(report.completed())
                    .isPositive()
                    .isEqualTo(stats.path("finished").asLong());
            assertThat(report.rejected())
                    .isEqualTo(stats.at("/rejected/requests").asLong(0));
        }
    }

    @Test
    void aProcessOfTheFleetEndsWithTheOneThatStartedIt() throws Exception {
        try (Emulator emulator = emulator()) {
            AgentConfig config = new AgentConfig(
                    0,
                    1,
                    1,
                    "it",
                    Strategy.NONE,
                    null,
                    null,
                    POLICY.project(),
                    PolicyNumbers.of(POLICY.toJson(), Profile.DEFAULT.model()),
                    emulator.uri(),
                    Wire.ANTHROPIC,
                    Profile.DEFAULT,
                    1,
                    1_000);
            Process process = new ProcessBuilder(Child.command()).start();
            process.getOutputStream().write((Json.MAPPER.writeValueAsString(config) + "\ngo\n").getBytes(UTF_8));
            process.getOutputStream().flush();
            assertThat(process.inputReader().readLine()).contains("ready");
            assertThat(process.inputReader().readLine()).contains("\"event\":\"call\"");

            process.getOutputStream().close();

            assertThat(process.waitFor(10, TimeUnit.SECONDS)).isTrue();
        }
    }

    private static FleetOptions options(Strategy strategy, Emulator emulator, @Nullable String redis) {
        return new FleetOptions(
                redis, POLICY, emulator.uri(), 2, 3, Duration.ofSeconds(5), strategy, Profile.DEFAULT, 1);
    }

    /** Narrow enough that six agents run into its slots. */
    private static Emulator emulator() {
        return Emulator.start(
                EmulatorOptions.of("anthropic", LIMITS).counting(Counting.BUCKET, Duration.ofSeconds(10)));
    }

    private static boolean isAgentProcess(ProcessHandle process) {
        return process.isAlive()
                && process.info().commandLine().orElse("").contains(AgentProcess.class.getSimpleName());
    }
}
