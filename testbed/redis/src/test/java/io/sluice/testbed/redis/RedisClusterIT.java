package io.sluice.testbed.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.api.sync.RedisAdvancedClusterCommands;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@WithCluster
@Timeout(30)
class RedisClusterIT {
    private final RedisCluster cluster;

    RedisClusterIT(RedisCluster cluster) {
        this.cluster = cluster;
    }

    @Test
    void eachThirdOfTheSlotsHasItsNode() {
        assertThat(cluster.nodes()).hasSize(3);
        assertThat(IntStream.of(0, 5_460, 5_461, 10_921, 10_922, 16_383)
                        .mapToObj(cluster::ownerOf)
                        .map(cluster.nodes()::indexOf))
                .containsExactly(0, 0, 1, 1, 2, 2);
    }

    @Test
    void aClientFindsEveryKey() {
        RedisClusterClient client = RedisClusterClient.create(cluster.uri());
        try (var connection = client.connect()) {
            RedisAdvancedClusterCommands<String, String> commands = connection.sync();
            List<RedisServer> used = new ArrayList<>();
            for (int i = 0; i < 30; i++) {
                commands.set("key" + i, "value" + i);
                assertThat(commands.get("key" + i)).isEqualTo("value" + i);
                used.add(cluster.ownerOf(RedisCluster.slotOf("key" + i)));
            }
            assertThat(used).containsAll(cluster.nodes());
        } finally {
            client.shutdown();
        }
    }

    @Test
    void aSlotMigratesKeyByKey() {
        int slot = RedisCluster.slotOf("{move}");
        RedisServer from = cluster.ownerOf(slot);
        RedisServer to = cluster.nodes().get((cluster.nodes().indexOf(from) + 1) % 3);
        IntStream.range(0, 3).forEach(i -> from.command("SET", "{move}" + i, String.valueOf(i)));
        List<String> seen = new ArrayList<>();

        cluster.migrateSlot(slot, from, to, moved -> {
            seen.add(moved + ": " + from.command("CLUSTER", "COUNTKEYSINSLOT", String.valueOf(slot)) + " + "
                    + to.command("CLUSTER", "COUNTKEYSINSLOT", String.valueOf(slot)));
            if (moved == 1) {
                assertThatThrownBy(() -> from.command("MGET", "{move}0", "{move}1", "{move}2"))
                        .isInstanceOf(RedisCommandExecutionException.class)
                        .hasMessageContaining("TRYAGAIN");
            }
        });

        assertThat(seen).containsExactly("0: 3 + 0", "1: 2 + 1", "2: 1 + 2", "3: 0 + 3");
        assertThat(cluster.ownerOf(slot)).isSameAs(to);
        assertThat(to.command("MGET", "{move}0", "{move}1", "{move}2")).isEqualTo("0\n1\n2");
        assertThatThrownBy(() -> from.command("GET", "{move}0")).hasMessageContaining("MOVED " + slot);
        cluster.migrateSlot(slot, to, from);
        assertThat(cluster.ownerOf(slot)).isSameAs(from);
        assertThat(from.command("GET", "{move}2")).isEqualTo("2");
    }

    @Test
    void withoutReplicasNoneHasATwin() {
        assertThatThrownBy(() -> cluster.twin(cluster.nodes().get(0))).hasMessage("a cluster without replicas");
    }

    @Test
    void onlyItsOwnNodesMigrate() {
        assertThatThrownBy(() -> cluster.migrateSlot(1, cluster.ownerOf(1), RedisServers.shared()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("no node of this cluster");
    }
}
