package io.sluice.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.sluice.Policy;
import io.sluice.Sluice;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Two hundred projects in a Redis that others use too. A page that ran {@code KEYS} every few seconds stopped the server
 * (hibiken/asynq#254); one that read with {@code SCAN} found nothing among other data (kkoomen/nestjs-throttler-storage-redis#1040).
 */
@WithRedis(own = true)
@Timeout(300)
class CrowdedRedisIT {
    private static final int PROJECTS = 200;
    private static final int STRANGERS = 300_000;
    private static final String CALL = "{\"model\":\"claude-sonnet-5-5\",\"input_tokens\":10}";
    private static final Pattern CALLS = Pattern.compile("cmdstat_([^:]+):calls=(\\d+)");

    private final RedisServer redis;
    private Started server;

    CrowdedRedisIT(RedisServer redis) {
        this.redis = redis;
    }

    @BeforeEach
    void fill() {
        redis.command("FLUSHALL");
        redis.command("DEBUG", "POPULATE", String.valueOf(STRANGERS), "stranger", "8");
        try (Sluice sluice =
                Sluice.connect(redis.uri(), Sluice.Options.DEFAULT.withCommandTimeout(Duration.ofSeconds(5)))) {
            for (int i = 0; i < PROJECTS; i++) {
                sluice.install(Policy.parse(Policies.of(name(i), "{rpm: 6000, itpm: 100000, concurrency: 50}")));
            }
        }
        server = Started.on(redis.uri());
    }

    @AfterEach
    void stop() {
        server.close();
    }

    private static String name(int i) {
        return "crowd-" + i;
    }

    /** What was asked of Redis meanwhile, by command. */
    private Map<String, Long> askedIn(Runnable what) {
        redis.command("CONFIG", "RESETSTAT");
        what.run();
        String stats = redis.command("INFO", "commandstats");
        return CALLS.matcher(stats)
                .results()
                .collect(Collectors.toMap(found -> found.group(1), found -> Long.parseLong(found.group(2))));
    }

    private static long all(Map<String, Long> asked) {
        // Each script is one question; what it does inside is counted beside it.
        return asked.getOrDefault("evalsha", 0L)
                + asked.getOrDefault("evalsha_ro", 0L)
                + asked.getOrDefault("eval", 0L);
    }

    private static Duration timed(Supplier<Integer> request) {
        long started = System.nanoTime();
        assertThat(request.get()).isEqualTo(200);
        return Duration.ofNanos(System.nanoTime() - started);
    }

    @Test
    void listMetricsAndReadinessAskForWhatIsOursAlone() {
        server.http.get("/actuator/prometheus"); // the policies are read once
        long read = System.nanoTime();
        await().until(() ->
                System.nanoTime() - read > Duration.ofMillis(1_100).toNanos()); // a reading is good for a second
        List<Duration> scrapes = new ArrayList<>();
        List<Duration> others = new ArrayList<>();

        Map<String, Long> asked = askedIn(() -> {
            scrapes.add(timed(() -> server.http.get("/actuator/prometheus").status()));
            for (int i = 0; i < 5; i++) {
                others.add(timed(() -> server.http.get("/v1/projects").status()));
                others.add(timed(
                        () -> server.http.get("/actuator/health/readiness").status()));
            }
        });
        System.out.println("of " + PROJECTS + " projects beside " + STRANGERS + " other keys: scrape " + scrapes
                + ", list and readiness " + others + ", asked of Redis " + asked);

        assertThat(asked).doesNotContainKeys("keys", "scan", "randomkey", "dbsize");
        assertThat(all(asked))
                .as("of one scrape at most ten a project, and one a list or readiness")
                .isBetween((long) PROJECTS, 10L * PROJECTS + 30);
        assertThat(scrapes).allMatch(took -> took.compareTo(Duration.ofSeconds(4)) < 0);
        assertThat(others).allMatch(took -> took.compareTo(Duration.ofSeconds(2)) < 0);
        assertThat(server.http
                        .get("/v1/projects")
                        .json()
                        .get("projects")
                        .valueStream()
                        .map(one -> one.get("project").asString()))
                .hasSize(PROJECTS)
                .contains(name(0), name(PROJECTS - 1));
        assertThat(server.http
                        .get("/actuator/prometheus")
                        .body()
                        .lines()
                        .filter(line -> line.startsWith("sluice_in_flight{") && line.contains("scope=\"p\"")))
                .as("every project is told")
                .hasSize(PROJECTS);
    }

    @Test
    void tenPagesAskWhatOneAsksAndNoPermitWaitsForThem() {
        String at = "/v1/projects/" + name(7);
        assertThat(server.http.post(at + "/permits", CALL).status()).isEqualTo(201);
        List<Http.Events> pages = new ArrayList<>();
        try {
            pages.add(page(at));
            long ofOne = all(askedIn(() -> threeMore(pages)));
            for (int i = 1; i < 10; i++) {
                pages.add(page(at));
            }
            List<Duration> permits = new ArrayList<>();
            Map<String, Long> asked = askedIn(() -> threeMore(pages));
            long ofTen = all(asked);
            for (int i = 0; i < 20; i++) {
                long started = System.nanoTime();
                assertThat(server.http.post(at + "/permits", CALL).status()).isEqualTo(201);
                permits.add(Duration.ofNanos(System.nanoTime() - started));
            }
            System.out.println("questions of three seconds: one page " + ofOne + ", ten " + ofTen
                    + "; permits meanwhile " + permits);

            assertThat(ofTen).as("%s", asked).isLessThanOrEqualTo(2 * ofOne + 20);
            assertThat(asked).doesNotContainKeys("keys", "scan");
            assertThat(permits).allMatch(took -> took.compareTo(Duration.ofSeconds(1)) < 0);
        } finally {
            pages.forEach(Http.Events::close);
        }
    }

    private Http.Events page(String at) {
        Http.Events page = server.http.events("GET", at + "/status", null, "Accept", "text/event-stream");
        await().atMost(Duration.ofSeconds(15)).until(() -> !page.named("status").isEmpty());
        return page;
    }

    private static void threeMore(List<Http.Events> pages) {
        int enough = pages.get(0).named("status").size() + 3;
        await().atMost(Duration.ofSeconds(20))
                .until(() -> pages.get(0).named("status").size() >= enough);
    }
}
