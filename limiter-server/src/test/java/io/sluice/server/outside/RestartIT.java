package io.sluice.server.outside;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.sluice.Policy;
import io.sluice.Sluice;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import io.sluice.testbed.server.ServerOptions;
import io.sluice.testbed.server.ServerProcess;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.JsonNode;

/** A rolling restart under load: no permit is lost, none is charged twice. */
@WithRedis(own = true)
@Timeout(600)
class RestartIT {
    private static final String PROJECT = "rolling";
    private static final int AGENTS = 40;
    private static final int CALLS = 200;
    private static final long MONTH = 1_000_000;

    @Test
    void serversThatAreReplacedOneByOneLoseNoPermit(RedisServer redis)
            throws ExecutionException, InterruptedException, TimeoutException {
        try (Sluice sluice = Sluice.connect(redis.uri())) {
            // Five agents wait for each that runs; the month counts every call that was charged.
            sluice.install(Policy.parse("""
                    project: %s
                    provider: generic
                    classes:
                      - name: sonnet
                        models: ["claude-*"]
                        limits: {concurrency: 8}
                    limits: {calls: {amount: %d, per: month, of: requests}}
                    """.formatted(PROJECT, MONTH)));
        }
        List<ServerProcess> servers = start(redis, 4);
        ServerProcess a = servers.get(0);
        ServerProcess b = servers.get(1);
        ServerProcess c = servers.get(2);
        ServerProcess d = servers.get(3);
        try {
            HttpAgents agents = new HttpAgents(PROJECT, List.of(a.uri(), b.uri()));
            CompletableFuture<Void> all = agents.start(AGENTS);
            more(agents);
            replace(agents, a, b, c);
            replace(agents, b, c, d);
            agents.stop();
            all.get(120, TimeUnit.SECONDS);

            System.out.println("rolling restart: " + agents.done() + " calls, " + agents.retried()
                    + " requests sent again, " + agents.lost().size() + " permits lost");
            assertThat(agents.lost()).isEmpty();
            assertThat(agents.retried())
                    .as("both restarts were in somebody's way")
                    .isPositive();
            JsonNode status =
                    new Api(Api.client(), d.uri(), PROJECT).get("status").body();
            assertThat(Api.limit(status, "concurrency").path("in_flight").asLong(-1))
                    .as(status::toString)
                    .isZero();
            assertThat(MONTH - Api.limit(status, "calls").path("level").asLong(-1))
                    .as("charged once a call")
                    .isEqualTo(agents.done());
        } finally {
            servers.forEach(ServerProcess::close);
        }
    }

    /** One goes, while it is still asked; the next is there already. */
    private static void replace(HttpAgents agents, ServerProcess going, ServerProcess other, ServerProcess next) {
        agents.servers(List.of(going.uri(), other.uri(), next.uri()));
        more(agents);
        going.terminate();
        int exit = going.awaitEnd();
        assertThat(exit).as("ended by SIGTERM, in order").isEqualTo(143);
        agents.servers(List.of(other.uri(), next.uri()));
        more(agents);
    }

    private static void more(HttpAgents agents) {
        int enough = agents.done() + CALLS;
        await().atMost(Duration.ofSeconds(90))
                .until(() -> agents.done() >= enough || !agents.lost().isEmpty());
    }

    private static List<ServerProcess> start(RedisServer redis, int number)
            throws ExecutionException, InterruptedException {
        ServerOptions options = ServerOptions.of(ServerOptions.builtIn(Path.of("..")), redis.uri());
        ExecutorService threads = Executors.newFixedThreadPool(number);
        try {
            List<Callable<ServerProcess>> starts = Collections.nCopies(number, () -> ServerProcess.start(options));
            List<ServerProcess> started = new ArrayList<>();
            for (Future<ServerProcess> one : threads.invokeAll(starts)) {
                started.add(one.get());
            }
            return started;
        } finally {
            threads.shutdown();
        }
    }
}
