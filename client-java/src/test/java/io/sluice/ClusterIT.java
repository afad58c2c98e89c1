package io.sluice;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.testbed.redis.RedisCluster;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithCluster;
import java.util.HashSet;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** The same client and scripts on three primaries. */
@WithCluster
class ClusterIT {
    private final RedisCluster cluster;

    ClusterIT(RedisCluster cluster) {
        this.cluster = cluster;
    }

    /** Keys without a common tag were refused: BerriAI/litellm#14968. */
    @Test
    void projectsOnEveryNodeWorkAlike() {
        Set<Integer> owners = new HashSet<>();
        try (Sluice sluice = Sluice.connect(cluster.uri())) {
            for (int i = 0; i < 50; i++) {
                String id = "c" + i + "-" + UUID.randomUUID();
                owners.add(cluster.ownerOf(RedisCluster.slotOf("{" + id + "}")).port());
                sluice.install(Faults.policy(id, 2));
                Project project = sluice.project(id);
                Permit permit = ((Decision.Granted) project.tryAcquire(Faults.CALL)).permit();
                assertThat(permit.settle(Usage.UNKNOWN).ended()).isEqualTo(Permit.How.SETTLED);
                assertThat(Faults.allSlotsFree(project, 2)).isTrue();
            }
        }
        assertThat(owners).hasSize(3);
    }

    /** On a slot that moves, a script with a key missing would fail after its first writes. */
    @Test
    void aProjectThatMovesKeyByKeyUnderLoadLosesNothing() throws Exception {
        String id = "m-" + UUID.randomUUID();
        int slot = RedisCluster.slotOf("{" + id + "}");
        RedisServer from = cluster.ownerOf(slot);
        RedisServer to = cluster.nodes().stream()
                .filter(node -> node.port() != from.port())
                .findFirst()
                .orElseThrow();
        try (Sluice sluice = Sluice.connect(cluster.uri())) {
            sluice.install(Faults.policy(id, 4));
            Project project = sluice.project(id);
            long pairs = Faults.load(project, 4, () -> cluster.migrateSlot(slot, from, to));
            assertThat(cluster.ownerOf(slot).port()).isEqualTo(to.port());
            assertThat(pairs).isPositive();
            assertThat(Charged.of(cluster.uri(), id)).isEqualTo(pairs);
            assertThat(Faults.allSlotsFree(project, 4)).isTrue();
        }
    }
}
