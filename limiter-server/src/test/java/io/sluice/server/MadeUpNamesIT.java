package io.sluice.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.sluice.server.Http.Reply;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Callers may send any name they like, and as many as they like: nothing here grows with them. */
@WithRedis(own = true)
@ExtendWith(OutputCaptureExtension.class)
@Timeout(300)
class MadeUpNamesIT {
    private static final int PROJECTS = 4_000;
    private static final int CALLS = 1_000;
    private static final int AT_ONCE = 64;
    private static final String CALL = "\"model\":\"claude-sonnet-5-5\",\"input_tokens\":1";

    private final RedisServer redis;
    private final long seed = System.nanoTime();
    private final Random random = new Random(seed);

    MadeUpNamesIT(RedisServer redis) {
        this.redis = redis;
        System.out.println("seed " + seed);
    }

    /** The statuses of that many requests, some at a time. */
    private static Set<Integer> statuses(int number, IntFunction<CompletableFuture<Reply>> request) {
        Set<Integer> statuses = new TreeSet<>();
        for (int done = 0; done < number; done += AT_ONCE) {
            List<CompletableFuture<Reply>> some = new ArrayList<>();
            for (int i = done; i < Math.min(number, done + AT_ONCE); i++) {
                some.add(request.apply(i));
            }
            some.forEach(one ->
                    statuses.add(one.orTimeout(60, TimeUnit.SECONDS).join().status()));
        }
        return statuses;
    }

    private String word(String prefix) {
        return prefix + Long.toHexString(random.nextLong());
    }

    /** Channels that this server listens on: one for each project it knows. */
    private Set<String> channels() {
        return redis.command("PUBSUB", "SHARDCHANNELS")
                .lines()
                .filter(line -> !line.isBlank())
                .collect(Collectors.toSet());
    }

    private static Set<String> series(Http http) {
        return http.get("/actuator/prometheus")
                .body()
                .lines()
                .filter(line -> line.startsWith("sluice_"))
                .map(line -> line.substring(0, line.lastIndexOf(' ')))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    void idsOfNoProjectLeaveNothingAndOneThatLivesIsKept(CapturedOutput output) {
        try (Started server = Started.on(redis.uri())) {
            Http http = server.http;
            String project = Policies.installed(http, "{concurrency: 1}");
            String at = "/v1/projects/" + project;
            String permit = http.post(at + "/permits", "{" + CALL + ",\"lease_ms\":600000}")
                    .json()
                    .get("permit")
                    .asString();
            CompletableFuture<Reply> waits =
                    http.later(at + "/permits", "{" + CALL + ",\"id\":\"w\",\"max_wait_ms\":300000}");
            await().atMost(15, TimeUnit.SECONDS)
                    .until(() -> http.get(at + "/status").json().get("waiters").asInt() == 1);
            Set<String> listening = channels();
            assertThat(listening).as("for the one there is").hasSize(1);

            Set<Integer> answers = statuses(PROJECTS, i -> {
                String made = "/v1/projects/" + word("nobodys-");
                return switch (i % 4) {
                    case 0 -> http.later(made + "/permits", "{" + CALL + "}");
                    case 1 -> http.later(made + "/permits/AAAAAAAAAAAAAAAAAAAAAAAA.job/settle", "{}");
                    case 2 -> http.later(made + "/permits/AAAAAAAAAAAAAAAAAAAAAAAA.job/renew", "");
                    default -> http.later(made + "/hold", "{\"reason\":\"x\"}");
                };
            });
            assertThat(answers).containsExactly(404);
            for (String read :
                    new String[] {"", "/status", "/usage", "/versions", "/plan?requests_per_minute=1", "/events"}) {
                assertThat(http.get("/v1/projects/" + word("nobodys-") + read).kind())
                        .isEqualTo("no_project");
            }

            assertThat(output.getAll()).as("nor a line of the log").doesNotContain("nobodys-", " ERROR ", " WARN ");
            assertThat(channels()).isEqualTo(listening);
            assertThat(redis.command("KEYS", "*nobodys-*")).isEmpty();
            assertThat(series(http)).noneMatch(one -> one.contains("nobodys-"));
            assertThat(waits).isNotDone();
            http.post(at + "/permits/" + permit + "/settle", "{}");
            assertThat(waits.orTimeout(20, TimeUnit.SECONDS).join().status()).isEqualTo(201);
        }
    }

    /** A few thousand names that callers chose became labels, and the scraper ran out of memory (llm-d/llm-d-router#1625). */
    @Test
    void namesOfModelsAgentsRunsTeamsAndIdsAreNoLabelsAndNoLogLines(CapturedOutput output) {
        try (Started server = Started.on(redis.uri())) {
            Http http = server.http;
            String project = Policies.installed(http, "{concurrency: 10000}");
            String at = "/v1/projects/" + project + "/permits";
            http.post(at, "{" + CALL + ",\"team\":\"research\"}");
            http.post(at, "{" + CALL + ",\"team\":\"another\"}");
            http.post(at, "{\"model\":\"another\",\"input_tokens\":1}");
            await().atMost(15, TimeUnit.SECONDS)
                    .until(() -> series(http)
                                    .contains("sluice_permits_total{class=\"unknown\",outcome=\"refused\",project=\""
                                            + project + "\"}")
                            && series(http)
                                    .contains("sluice_wait_seconds_count{class=\"sonnet\",project=\"" + project
                                            + "\",team=\"other\"}"));
            Set<String> before = series(http);

            Set<Integer> answers = statuses(CALLS, i -> {
                String model = i % 2 == 0 ? word("made-up-") : "claude-sonnet-5-5";
                return http.later(
                        at,
                        "{\"model\":\"" + model + "\",\"input_tokens\":1,\"id\":\"" + word("made-up-")
                                + "\",\"agent\":\""
                                + word("made-up-") + "\",\"run\":\"" + word("made-up-") + "\",\"team\":\""
                                + word("made-up-")
                                + "\"}");
            });
            assertThat(answers).containsExactly(201, 422);
            long refused = CALLS / 2 + 1;
            await().atMost(20, TimeUnit.SECONDS)
                    .until(() -> http.get("/actuator/prometheus")
                            .body()
                            .contains("sluice_permits_total{class=\"unknown\",outcome=\"refused\",project=\"" + project
                                    + "\"} " + refused));

            assertThat(series(http)).isEqualTo(before);
            assertThat(output.getAll()).doesNotContain("made-up-");
        }
    }

    /** A name that somebody else chose stood in a key (steemit/wallet#319): each new one was a key more. */
    @Test
    void keysInRedisDoNotGrowWithNames() {
        try (Started server = Started.on(redis.uri())) {
            Http http = server.http;
            String project = Policies.installed(http, "{rpm: 1000000, concurrency: 10000}");
            String at = "/v1/projects/" + project + "/permits";
            IntFunction<CompletableFuture<Reply>> made = i -> http.later(
                    at,
                    "{\"model\":\"" + (i % 2 == 0 ? word("m-") : "claude-sonnet-5-5")
                            + "\",\"input_tokens\":1,\"agent\":\"" + word("a-") + "\",\"run\":\"" + word("r-") + "\"}");
            statuses(200, made);
            await().atMost(10, TimeUnit.SECONDS)
                    .until(() -> http.get("/v1/projects/" + project + "/usage?by=run")
                            .body()
                            .contains("r-"));
            long keys = Long.parseLong(redis.command("DBSIZE"));
            statuses(CALLS, made);

            await().during(2, TimeUnit.SECONDS)
                    .atMost(10, TimeUnit.SECONDS)
                    .until(() -> Long.parseLong(redis.command("DBSIZE")) <= keys + 4);
        }
    }
}
