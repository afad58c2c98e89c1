package io.sluice.server.outside;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.sluice.Policy;
import io.sluice.Sluice;
import io.sluice.testbed.redis.RedisCluster;
import io.sluice.testbed.redis.RedisSentinel;
import io.sluice.testbed.redis.WithCluster;
import io.sluice.testbed.redis.WithSentinel;
import io.sluice.testbed.server.ServerOptions;
import io.sluice.testbed.server.ServerProcess;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.JsonNode;

/** A server over a Sentinel set and over a cluster, whose primary is killed while agents call: none of them loses its permit. */
@Timeout(300)
class FailoverIT {
    private static final String PROJECT = "over";
    private static final int AGENTS = 20;
    private static final int CALLS = 200;
    private static final long MONTH = 1_000_000;

    @Test
    @WithSentinel
    void aServerOverSentinelsLosesNoPermitWhenThePrimaryIsKilled(RedisSentinel sentinel) throws Exception {
        underLoad(sentinel.uri(), sentinel::crash);
    }

    @Test
    @WithCluster(replicas = true)
    void aServerOverAClusterLosesNoPermitWhenANodeIsKilled(RedisCluster cluster) throws Exception {
        underLoad(cluster.uri(), () -> cluster.crash(cluster.ownerOf(RedisCluster.slotOf("{" + PROJECT + "}:levels"))));
    }

    private static void underLoad(String redis, Runnable failover) throws Exception {
        try (Sluice sluice = Sluice.connect(redis)) {
            sluice.install(Policy.parse("""
                    project: %s
                    provider: generic
                    classes:
                      - name: sonnet
                        models: ["claude-*"]
                        limits: {concurrency: 8}
                    limits: {calls: {amount: %d, per: month, of: requests}}
                    lease: 15s # longer than a failover takes, else leases run out while nobody can renew them
                    """.formatted(PROJECT, MONTH)));
        }
        try (ServerProcess server =
                ServerProcess.start(ServerOptions.of(ServerOptions.builtIn(Path.of("..")), redis))) {
            HttpAgents agents = new HttpAgents(PROJECT, List.of(server.uri()));
            CompletableFuture<Void> all = agents.start(AGENTS);
            more(agents);
            failover.run();
            more(agents);
            agents.stop();
            all.get(120, TimeUnit.SECONDS);

            System.out.println("failover under a server: " + agents.done() + " calls, " + agents.retried()
                    + " requests sent again, " + agents.lost().size() + " permits lost");
            assertThat(agents.lost()).isEmpty();
            Api api = new Api(Api.client(), server.uri(), PROJECT);
            // An ending that the old primary was the last to hear is lost with it: that permit ends with its lease.
            await().atMost(Duration.ofSeconds(30))
                    .until(() -> limit(api, "concurrency").path("in_flight").asLong(-1) == 0);
            assertThat(MONTH - limit(api, "calls").path("level").asLong(-1))
                    .as("charged; what the old primary took last is lost, or was taken twice")
                    .isBetween(agents.done() - 100L, agents.done() + 100L);
        }
    }

    private static void more(HttpAgents agents) {
        int enough = agents.done() + CALLS;
        await().atMost(Duration.ofSeconds(90))
                .until(() -> agents.done() >= enough || !agents.lost().isEmpty());
    }

    private static JsonNode limit(Api api, String name) {
        return Api.limit(api.get("status").body(), name);
    }
}
