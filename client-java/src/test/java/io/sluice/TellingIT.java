package io.sluice;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.sluice.Counters.Labels;
import io.sluice.redis.Documented;
import io.sluice.testbed.redis.Fault;
import io.sluice.testbed.redis.FaultyProxy;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The sum of what hosts did is what the project's counters say, whatever happens on the way. */
@WithRedis(own = true)
@Timeout(120)
class TellingIT {
    private static final String LIMITS = "concurrency: 3, " + Budget.THOUSAND;

    /** Who asks for much at once on a busy machine. */
    private static final Sluice.Options PATIENT = Sluice.Options.DEFAULT.withCommandTimeout(Duration.ofSeconds(5));

    private final RedisServer redis;
    private Budget budget;
    private Admin admin;

    TellingIT(RedisServer redis) {
        this.redis = redis;
    }

    @BeforeEach
    void project() {
        budget = Budget.of(redis.uri(), PATIENT, LIMITS);
        admin = budget.sluice.admin();
    }

    @AfterEach
    void close() {
        budget.close();
    }

    /** What the meters of the hosts say together. */
    private static final class Did {
        final Map<Labels, Long> permits = new HashMap<>();
        final Map<Labels, Long> tokens = new HashMap<>();
        final Map<Labels, Long> rejections = new HashMap<>();
        long missing;

        void add(SimpleMeterRegistry meters) {
            for (Counter counter : meters.find("sluice.permits").counters()) {
                add(permits, counter, "outcome");
            }
            for (Counter counter : meters.find("sluice.tokens").counters()) {
                add(tokens, counter, "type");
            }
            for (Counter counter : meters.find("sluice.rejections").counters()) {
                add(rejections, counter, "kind");
            }
            Counter usageMissing = meters.find("sluice.usage.missing").counter();
            missing += usageMissing == null ? 0 : (long) usageMissing.count();
        }

        private static void add(Map<Labels, Long> sums, Counter counter, String tag) {
            String modelClass = String.valueOf(counter.getId().getTag("class"));
            String name = String.valueOf(counter.getId().getTag(tag));
            if (counter.count() > 0) {
                sums.merge(new Labels(modelClass, name), (long) counter.count(), Long::sum);
            }
        }
    }

    private void areCounted(Did did, long seed) {
        Counters counters = AdminIT.get(admin.counters(budget.id));
        // Of leases that ran out Redis alone knows, and hosts hear of some.
        Map<Labels, Long> permits = new HashMap<>(counters.permits());
        permits.keySet().removeIf(labels -> labels.name().equals("expired"));
        did.permits.keySet().removeIf(labels -> labels.name().equals("expired"));
        assertThat(permits).as("seed " + seed).isEqualTo(did.permits);
        assertThat(counters.tokens()).as("seed " + seed).isEqualTo(did.tokens);
        assertThat(counters.rejections()).as("seed " + seed).isEqualTo(did.rejections);
        assertThat(counters.usageMissing()).as("seed " + seed).isEqualTo(did.missing);
        long granted = did.permits.getOrDefault(new Labels("m", "granted"), 0L);
        assertThat(counters.waits().values().stream()
                        .mapToLong(Counters.Waits::count)
                        .sum())
                .as("seed " + seed)
                .isEqualTo(granted);
        Instant now = Instant.now();
        List<Admin.Used> used = AdminIT.get(admin.usage(
                budget.id, now.minusSeconds(7_200), now.plusSeconds(7_200), Admin.Step.HOUR, Admin.By.AGENT));
        assertThat(used.stream().mapToLong(Admin.Used::output).sum())
                .as("seed " + seed)
                .isEqualTo(did.tokens.getOrDefault(new Labels("m", "output"), 0L));
        assertThat(used.stream().mapToLong(Admin.Used::rejections).sum())
                .as("seed " + seed)
                .isEqualTo(did.rejections.values().stream()
                        .mapToLong(Long::longValue)
                        .sum());
    }

    /** Hosts that come and go, and replies that are lost just when something was told. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void theSumOfWhatHostsDidIsWhatIsCounted(long seed) {
        Random random = new Random(seed);
        Did did = new Did();
        try (FaultyProxy wire = FaultyProxy.to(redis)) {
            for (int life = 0; life < 4; life++) {
                SimpleMeterRegistry meters = new SimpleMeterRegistry();
                Sluice.Options options = Sluice.Options.DEFAULT
                        .withHost("host-" + life % 2) // the same name, another life
                        .withMeters(meters);
                try (Sluice host = Sluice.connect(wire.uri(), options)) {
                    Project project = host.project(budget.id);
                    for (int call = 0; call < 30; call++) {
                        if (random.nextInt(5) == 0) {
                            wire.set(new Fault.CutBeforeReply(random.nextBoolean() ? "host-" : "p|m|"));
                        }
                        step(host, project, random);
                    }
                    wire.heal();
                    await().atMost(Duration.ofSeconds(20))
                            .ignoreExceptionsInstanceOf(OutageException.class)
                            .until(() -> AdminIT.get(host.admin().flush()) == null);
                    await().atMost(Duration.ofSeconds(20))
                            .until(() -> AdminIT.get(admin.status(budget.id))
                                            .inFlight()
                                            .get("p")
                                    == 0);
                }
                did.add(meters);
            }
        }
        areCounted(did, seed);
    }

    /** One call, ended in one of the ways in which calls end; or an outage, which leaves what was under way to the host. */
    private static void step(Sluice host, Project project, Random random) {
        try {
            Call call = Budget.CALL.agent("agent-" + random.nextInt(3)).team("team-" + random.nextInt(2));
            if (!(project.tryAcquire(call) instanceof Decision.Granted granted)) {
                return;
            }
            try (Permit permit = granted.permit()) {
                end(host, permit, random);
            }
        } catch (OutageException e) {
            assertThat(e.reason()).isIn("timeout", "disconnected", "breaker");
        }
    }

    private static void end(Sluice host, Permit permit, Random random) {
        switch (random.nextInt(5)) {
            case 0 -> permit.cancel();
            case 1 ->
                permit.throttled(
                        new Rejection(Rejection.Kind.SERVER, Rejection.Scope.REQUEST, true, Duration.ofMillis(1)));
            case 2 -> permit.settle(new Usage(7L, null, 0L, 3L));
            case 3 -> AdminIT.get(host.admin().flush());
            default -> permit.settle(new Usage(random.nextInt(10), 0, 0, random.nextInt(50)));
        }
    }

    @Test
    void whatIsToldAndNotAnsweredIsToldAgainAsItWas() {
        try (FaultyProxy wire = FaultyProxy.to(redis);
                Sluice host = Sluice.connect(wire.uri())) {
            Project project = host.project(budget.id);
            Budget.take(project, Budget.CALL).settle(new Usage(1, 0, 0, 1));
            wire.set(new Fault.CutBeforeReply("p|m|granted"));
            assertThatThrownBy(() -> AdminIT.get(host.admin().flush())).isInstanceOf(OutageException.class);
            assertThat(wire.cuts()).isEqualTo(1);
            await().ignoreExceptionsInstanceOf(OutageException.class)
                    .until(() -> Budget.take(project, Budget.CALL), permit -> true)
                    .settle(new Usage(1, 0, 0, 1));
            await().ignoreExceptionsInstanceOf(OutageException.class)
                    .until(() -> AdminIT.get(host.admin().flush()) == null);
            assertThat(AdminIT.get(admin.counters(budget.id)).permits())
                    .containsEntry(new Labels("m", "settled"), 2L)
                    .containsEntry(new Labels("m", "granted"), 2L);
        }
    }

    /** Nobody has to ask: a second later all can see it, and closing is telling. */
    @Test
    void whatAHostDidIsToldWithinAboutASecondAndWhenItCloses() {
        budget.take().settle(new Usage(1, 0, 0, 1));
        await().atMost(Duration.ofSeconds(10))
                .untilAsserted(
                        () -> assertThat(AdminIT.get(admin.counters(budget.id)).permits())
                                .containsEntry(new Labels("m", "settled"), 1L));
        try (Sluice host = Sluice.connect(redis.uri())) {
            Budget.take(host.project(budget.id), Budget.CALL).settle(new Usage(1, 0, 0, 1));
        }
        assertThat(AdminIT.get(admin.counters(budget.id)).permits()).containsEntry(new Labels("m", "settled"), 2L);
    }

    /** A dead host tells nothing; what Redis saw of it is there all the same. */
    @Test
    void theLeasesOfADeadHostCountAsExpired() {
        try (FaultyProxy wire = FaultyProxy.to(redis);
                Sluice host = Sluice.connect(wire.uri())) {
            Budget.take(host.project(budget.id), Budget.CALL);
            wire.set(new Fault.Hold(true, true));
            await().atMost(Duration.ofSeconds(20)).untilAsserted(() -> {
                budget.take().cancel();
                assertThat(AdminIT.get(admin.counters(budget.id)).permits())
                        .containsEntry(new Labels("m", "expired"), 1L);
            });
            wire.cut();
            wire.heal();
        }
    }

    /** A thousand calls a second are a few commands more, and none of them in what each call waits for. */
    @Test
    void acquireAndSettleGotNoCommandMore() {
        for (int i = 0; i < 10; i++) {
            budget.take().settle(new Usage(1, 0, 0, 1));
        }
        AdminIT.get(admin.flush());
        Map<String, Long> before = calls();
        long pairs = 50;
        for (int i = 0; i < pairs; i++) {
            budget.take().settle(new Usage(1, 0, 0, 1));
        }
        Map<String, Long> after = calls();
        Set<String> eachTime = after.keySet().stream()
                .filter(command -> more(before, after, command) >= pairs)
                .collect(Collectors.toSet());
        assertThat(eachTime)
                .as("what an uncontended pair runs")
                .containsExactlyInAnyOrder("evalsha", "time", "hmget", "hget", "hset", "hlen", "zadd");
        assertThat(more(before, after, "evalsha")).isBetween(2 * pairs, 2 * pairs + 20);
        assertThat(more(before, after, "hmget")).isBetween(3 * pairs, 3 * pairs + 40);
        assertThat(more(before, after, "hset")).isBetween(4 * pairs, 4 * pairs + 40);
        assertThat(more(before, after, "zadd")).isBetween(2 * pairs, 2 * pairs + 40);
    }

    private static long more(Map<String, Long> before, Map<String, Long> after, String command) {
        return after.getOrDefault(command, 0L) - before.getOrDefault(command, 0L);
    }

    private Map<String, Long> calls() {
        Map<String, Long> calls = new HashMap<>();
        for (String line : redis.command("INFO", "commandstats").toString().split("\r\n", -1)) {
            if (line.startsWith("cmdstat_")) {
                String name = line.substring("cmdstat_".length(), line.indexOf(':'));
                String count = line.substring(line.indexOf("calls=") + 6, line.indexOf(','));
                calls.put(name, Long.parseLong(count));
            }
        }
        return calls;
    }

    // ---- users of Redis

    private static Sluice patient(String uri) {
        return Sluice.connect(uri, PATIENT);
    }

    @Test
    void documentedUsersTellAndSee() {
        try (LogLines log = LogLines.record();
                Sluice agents = patient(Documented.user(redis, "agents", budget.id));
                Sluice viewer = patient(Documented.user(redis, "viewer", budget.id));
                Sluice platform = patient(Documented.user(redis, "platform", budget.id))) {
            Budget.take(agents.project(budget.id), Budget.CALL.agent("ann")).settle(new Usage(1, 0, 0, 1));
            AdminIT.get(agents.admin().flush());
            Admin sees = viewer.admin();
            assertThat(AdminIT.get(sees.counters(budget.id)).permits()).containsEntry(new Labels("m", "settled"), 1L);
            assertThat(AdminIT.get(sees.status(budget.id)).agents()).hasSize(1);
            assertThat(AdminIT.get(sees.events(budget.id, null, 10))).isNotEmpty();
            assertThat(AdminIT.get(sees.projects()))
                    .extracting(Admin.Listed::project)
                    .contains(budget.id);
            assertThat(AdminIT.get(sees.versions(budget.id))).hasSize(1);
            Instant now = Instant.now();
            assertThat(AdminIT.get(sees.usage(
                            budget.id, now.minusSeconds(60), now.plusSeconds(60), Admin.Step.DAY, Admin.By.AGENT)))
                    .hasSize(1);
            Admin does = platform.admin();
            AdminIT.get(does.install(Budget.policy(budget.id, "rpm: 90"), 1L, "ann", false));
            AdminIT.get(does.level(budget.id, "c:m", "rpm", 1, "ann", "a test"));
            assertThat(AdminIT.get(does.remove(budget.id, false, "ann"))).isTrue();
            assertThat(log.lines()).as("who only looks on lacks nothing").noneMatch(line -> line.contains("may not"));
        }
    }

    /** Rules from before anything was counted: what calls need they have, and the log says once what is missing. */
    @Test
    void whoMayNotTellStillCalls() {
        String uri = Documented.user(redis, "agents", budget.id);
        redis.command("ACL", "SETUSER", "agents-" + budget.id, "-xadd");
        try (LogLines log = LogLines.record();
                Sluice agents = Sluice.connect(uri)) {
            for (int i = 0; i < 2; i++) {
                Budget.take(agents.project(budget.id), Budget.CALL).settle(new Usage(1, 0, 0, 1));
                assertThatThrownBy(() -> AdminIT.get(agents.admin().flush()))
                        .isInstanceOfSatisfying(
                                OutageException.class,
                                e -> assertThat(e.reason()).isEqualTo("noperm"));
            }
            assertThat(log.lines().stream().filter(line -> line.contains("is not counted")))
                    .singleElement()
                    .asString()
                    .contains("XADD {" + budget.id + "}:events");
        }
        assertThat(AdminIT.get(admin.counters(budget.id)).permits()).isEmpty();
    }

    @Test
    void whoMayNotWriteTheIndexInstallsAllTheSame() {
        String uri = Documented.user(redis, "platform", budget.id);
        redis.command("ACL", "SETUSER", "platform-" + budget.id, "resetkeys", "~{" + budget.id + "}:*");
        try (LogLines log = LogLines.record();
                Sluice platform = Sluice.connect(uri)) {
            assertThat(platform.install(Budget.policy(budget.id, "rpm: 90"))).isEqualTo(2);
            assertThat(platform.install(Budget.policy(budget.id, "rpm: 91"))).isEqualTo(3);
            assertThat(log.lines().stream().filter(line -> line.contains("{sluice}:projects")))
                    .hasSize(1);
        }
    }

    @Test
    void itIsToldOnceASecondNotOnceACall() {
        long before = calls().getOrDefault("xlen", 0L);
        long start = System.nanoTime();
        for (int call = 0; call < 900; call++) {
            budget.take().settle(new Usage(1, 0, 0, 1));
        }
        AdminIT.get(admin.flush());
        long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start);
        assertThat(calls().getOrDefault("xlen", 0L) - before).isBetween(1L, seconds + 3);
    }
}
