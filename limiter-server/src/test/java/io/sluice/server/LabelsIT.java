package io.sluice.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.sluice.Call;
import io.sluice.Permit;
import io.sluice.Project;
import io.sluice.Refusal;
import io.sluice.RefusedException;
import io.sluice.Sluice;
import io.sluice.Usage;
import io.sluice.testbed.redis.RedisServers;
import io.sluice.testbed.redis.WithRedis;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Callers choose names; what is measured does not grow by them. */
@WithRedis
@Timeout(300)
class LabelsIT {
    private static final int NAMES = 50_000;
    private static final int AT_ONCE = 500;
    private static final int OVER_HTTP = 500;
    private static final Pattern TEAM = Pattern.compile("team=\"([^\"]*)\"");

    private final Started server = Started.shared();
    private final Http http = server.http;
    private final String project = Policies.installed(http, "{concurrency: 2000}");
    private final Random random = new Random(11);

    /** Each call has an agent, a team, a run and a model that nobody has had: 50,000 by a Java client, and some over HTTP. */
    @Test
    void fiftyThousandNamesMakeNoSeries() {
        try (Sluice sluice = Sluice.connect(
                RedisServers.shared().uri(), Sluice.Options.DEFAULT.withCommandTimeout(Duration.ofSeconds(10)))) {
            calls(sluice, AT_ONCE);
            overHttp(20);
            sluice.admin().flush().toCompletableFuture().join();
            Set<String> before = series();
            assertThat(before).isNotEmpty();

            calls(sluice, NAMES - AT_ONCE);
            overHttp(OVER_HTTP);
            sluice.admin().flush().toCompletableFuture().join();
            Set<String> after = series();
            assertThat(after).containsExactlyInAnyOrderElementsOf(before);
            assertThat(granted()).isGreaterThanOrEqualTo(NAMES);
            assertThat(teams(after)).isSubsetOf("research", "other", "-");
            assertThat(http.get("/actuator/prometheus").body()).doesNotContain("zz-");
        }
    }

    private void calls(Sluice sluice, int howMany) {
        Project calls = sluice.project(project);
        for (int done = 0; done < howMany; done += AT_ONCE) {
            List<CompletableFuture<?>> batch = new ArrayList<>();
            for (int i = 0; i < AT_ONCE; i++) {
                Call call = Call.of("claude-sonnet-" + name())
                        .inputTokens(1)
                        .maxOutputTokens(1)
                        .agent(name())
                        .team(i % 10 == 0 ? "research" : name())
                        .run(name());
                batch.add(calls.acquireAsync(call, Duration.ofSeconds(60))
                        .thenCompose(LabelsIT::settled)
                        .toCompletableFuture());
            }
            CompletableFuture.allOf(batch.toArray(CompletableFuture[]::new))
                    .orTimeout(120, TimeUnit.SECONDS)
                    .join();
        }
        // And models that no class has.
        for (int i = 0; i < 100; i++) {
            assertThat(refusal(calls, Call.of(name()).agent(name())).kind().label())
                    .isEqualTo("unknown_model");
        }
    }

    private static Refusal refusal(Project calls, Call call) {
        try {
            calls.acquireAsync(call, Duration.ofSeconds(1))
                    .toCompletableFuture()
                    .join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof RefusedException refused) {
                return refused.refusal();
            }
            throw e;
        }
        throw new AssertionError("was granted");
    }

    private static CompletableFuture<Permit.Ending> settled(Permit permit) {
        return permit.settleAsync(new Usage(1, 0, 0, 1)).toCompletableFuture();
    }

    private void overHttp(int howMany) {
        for (int i = 0; i < howMany; i++) {
            Http.Reply reply = http.post(
                    "/v1/projects/" + project + "/permits",
                    "{\"model\": \"claude-sonnet-%s\", \"input_tokens\": 1, \"agent\": \"%s\", \"team\": \"%s\", \"run\": \"%s\"}"
                            .formatted(name(), name(), name(), name()));
            assertThat(reply.status()).as(reply.body()).isEqualTo(201);
            http.post(
                    "/v1/projects/" + project + "/permits/"
                            + reply.json().get("permit").asString() + "/settle",
                    "{\"usage\": {\"input_tokens\": 1, \"output_tokens\": 1}}");
        }
    }

    private String name() {
        return "zz-" + Long.toString(random.nextLong() & Long.MAX_VALUE, 36);
    }

    /** The names and labels of what is told of this project, once what is read each second is new. */
    private Set<String> series() {
        AtomicLong before = new AtomicLong(-1);
        await().atMost(Duration.ofSeconds(60))
                .pollInterval(Duration.ofMillis(2_500))
                .until(() -> {
                    long now = granted();
                    return before.getAndSet(now) == now;
                });
        return http.get("/actuator/prometheus")
                .body()
                .lines()
                .filter(line -> line.startsWith("sluice_") && line.contains("project=\"" + project + "\""))
                .map(line -> line.substring(0, line.indexOf('}') + 1))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private long granted() {
        return http.get("/actuator/prometheus")
                .body()
                .lines()
                .filter(line -> line.startsWith("sluice_permits_total{")
                        && line.contains("outcome=\"granted\"")
                        && line.contains("project=\"" + project + "\""))
                .mapToLong(line -> (long) Double.parseDouble(line.substring(line.indexOf('}') + 2)))
                .sum();
    }

    private static Set<String> teams(Set<String> series) {
        Set<String> teams = new TreeSet<>();
        for (String one : series) {
            Matcher team = TEAM.matcher(one);
            while (team.find()) {
                assertThat(one).startsWith("sluice_wait_seconds");
                teams.add(team.group(1));
            }
        }
        return teams;
    }
}
