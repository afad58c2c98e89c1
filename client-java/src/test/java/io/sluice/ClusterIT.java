package io.sluice;

import static io.sluice.Budget.CALL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.sluice.redis.Levels;
import io.sluice.testbed.redis.RedisCluster;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithCluster;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The same promises where the projects live on several nodes, and while one of them moves. */
@WithCluster
@Tag("contract")
@Timeout(90)
class ClusterIT {
    /** Windows that end while a test runs. */
    private static final String WINDOWS =
            "turns: {amount: 100000, per: minute, window: calendar, zone: UTC, of: requests},"
                    + " lately: {amount: 100000, per: 10s, window: rolling, of: requests}";

    private static final String LIMITS = "concurrency: 2, " + WINDOWS + ", " + Budget.THOUSAND;

    private final RedisCluster cluster;

    ClusterIT(RedisCluster cluster) {
        this.cluster = cluster;
    }

    /** Keys of one script on different nodes failed every call (BerriAI/litellm#14968). */
    @Test
    void theContractHoldsOnEveryNode() throws InterruptedException {
        Set<Integer> nodes = new HashSet<>();
        try (Sluice sluice = Sluice.connect(cluster.uri())) {
            for (int i = 0; i < 30; i++) {
                String id = "project-" + i;
                sluice.install(Budget.policy(id, LIMITS));
                Project project = sluice.project(id);
                Permit first = Budget.take(project, CALL.id("a"));
                Permit second = project.acquire(CALL, Duration.ofSeconds(1));

                assertThat(Budget.refusal(project, CALL).limit()).isEqualTo("concurrency");
                assertThat(Budget.take(project, CALL.id("a")).handle()).isEqualTo(first.handle());
                assertThat(first.settle(new Usage(1, 0, 0, 1)).ended()).isEqualTo(Permit.How.SETTLED);
                assertThat(second.cancel().ended()).isEqualTo(Permit.How.CANCELLED);

                Levels levels = Levels.of(owner(id).uri(), id, "c:m");
                assertThat(levels.used()).isZero();
                assertThat(levels.left()).containsEntry("calls", 999L);
                nodes.add(owner(id).port());
            }
        }
        assertThat(nodes).as("nodes with projects").hasSize(3);
    }

    /** The news comes from the node that has the project: a call that waits need not sleep its second. */
    @Test
    void aFreeSlotIsHeardOfOnEveryNode() {
        try (Sluice sluice = Sluice.connect(cluster.uri())) {
            for (int i = 0; i < 6; i++) {
                String id = "news-" + i;
                sluice.install(Budget.policy(id, "concurrency: 1"));
                await().atMost(Duration.ofSeconds(5)).until(() -> waitForASlot(sluice, id) < 400);
            }
        }
    }

    @Test
    void aProjectThatMovesUnderLoadLosesNothing() throws Exception {
        String id = "moving";
        int slot = RedisCluster.slotOf("{" + id + "}:levels");
        RedisServer from = cluster.ownerOf(slot);
        RedisServer to = cluster.nodes().stream()
                .filter(node -> node != from)
                .findFirst()
                .orElseThrow();
        // One call comes back in 0.8 s, so no more than a few while it moves: the level tells what was charged.
        String limits = "calls: {amount: 100000, per: 1d, burst: 1d, window: refill, of: requests}, " + WINDOWS;
        try (Sluice sluice = Sluice.connect(cluster.uri())) {
            sluice.install(Budget.policy(id, limits));
            Project project = sluice.project(id);
            Permit held = Budget.take(project, CALL);
            AtomicBoolean moved = new AtomicBoolean();
            List<CompletableFuture<Integer>> callers = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                callers.add(CompletableFuture.supplyAsync(() -> settledUntil(project, moved)));
            }

            long start = System.nanoTime();
            cluster.migrateSlot(slot, from, to);
            moved.set(true);
            int settled = 1;
            for (CompletableFuture<Integer> caller : callers) {
                settled += caller.get(30, TimeUnit.SECONDS);
            }
            assertThat(held.settle(Usage.UNKNOWN).ended()).isEqualTo(Permit.How.SETTLED);

            assertThat(cluster.ownerOf(slot)).isSameAs(to);
            Levels levels = Levels.of(to.uri(), id, "c:m");
            assertThat(levels.used()).isZero();
            long cameBack = 2 + Budget.since(start).toMillis() / 864;
            assertThat(levels.left().get("calls")).isBetween(100_000L - settled, 100_000L - settled + cameBack);
            assertThat(settled).isGreaterThan(1);
            sluice.install(Budget.policy(id, "concurrency: 1"));
            await().atMost(Duration.ofSeconds(10)).until(() -> waitForASlot(sluice, id) < 400);
        }
    }

    /** How long a call waits, in ms, for the one slot that another process holds and gives back now. */
    private long waitForASlot(Sluice sluice, String id) {
        try (Sluice other = Sluice.connect(cluster.uri())) {
            Permit held = Budget.take(other.project(id), CALL);
            Project project = sluice.project(id);
            CompletableFuture<Permit> waiting =
                    project.acquireAsync(CALL, Duration.ofSeconds(10)).toCompletableFuture();
            await().until(() -> ((ProjectClient) project).waiting() == 1);
            long freed = System.nanoTime();
            held.cancel();
            Permit permit = waiting.join();
            long waited = Budget.since(freed).toMillis();
            permit.cancel();
            return waited;
        }
    }

    private static int settledUntil(Project project, AtomicBoolean end) {
        int settled = 0;
        while (!end.get()) {
            Budget.take(project, CALL).settle(Usage.UNKNOWN);
            settled++;
        }
        return settled;
    }

    private RedisServer owner(String project) {
        return cluster.ownerOf(RedisCluster.slotOf("{" + project + "}:levels"));
    }
}
