package io.sluice.testbed.redis;

import io.lettuce.core.cluster.SlotHash;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntConsumer;
import java.util.stream.Stream;

/** A Redis Cluster of three primaries, each with a third of the slots, and with a replica or without. */
public final class RedisCluster implements AutoCloseable {
    private static final int PRIMARIES = 3;
    private static final Duration FORMS = Duration.ofSeconds(20);
    private static final String MIGRATE_TIMEOUT_MS = "5000";

    private static final Duration FAILS_OVER = Duration.ofSeconds(30);

    /** The primaries to begin with, then the replicas in the same order. */
    private final List<Node> nodes;

    private RedisCluster(List<Node> nodes) {
        this.nodes = List.copyOf(nodes);
    }

    /**
     * A cluster of the caller's own, which answers for all slots on return, after some two seconds.
     *
     * @throws NoRedisException there is no {@code redis-server} to run here
     * @throws IllegalStateException it did not form; the message says which node thinks what
     */
    public static RedisCluster start() {
        return start(PRIMARIES);
    }

    /** The same with a replica for each primary, which takes over when that is gone. */
    public static RedisCluster startWithReplicas() {
        return start(2 * PRIMARIES);
    }

    private static RedisCluster start(int count) {
        RedisBinary binary = RedisSource.fromEnvironment().binary();
        List<Node> started = new ArrayList<>();
        try {
            for (int i = 0; i < count; i++) {
                started.add(Node.start(binary, i));
            }
            RedisCluster cluster = new RedisCluster(started);
            cluster.form();
            cluster.replicate();
            return cluster;
        } catch (RuntimeException e) {
            started.forEach(node -> node.server.close());
            throw e;
        }
    }

    private void form() {
        for (int i = 0; i < nodes.size(); i++) {
            Node node = nodes.get(i);
            // Nodes of the same epoch would first have to agree whose comes first.
            node.command("CLUSTER", "SET-CONFIG-EPOCH", String.valueOf(i + 1));
            if (i < PRIMARIES) {
                node.command(
                        "CLUSTER",
                        "ADDSLOTSRANGE",
                        String.valueOf(i * SlotHash.SLOT_COUNT / PRIMARIES),
                        String.valueOf((i + 1) * SlotHash.SLOT_COUNT / PRIMARIES - 1));
            }
            nodes.get(0)
                    .command(
                            "CLUSTER",
                            "MEET",
                            "127.0.0.1",
                            String.valueOf(node.server.port()),
                            String.valueOf(node.busPort));
        }
        Await.until(
                FORMS,
                () -> nodes.stream().allMatch(node -> node.isReady(nodes.size())),
                () -> "the cluster did not form: "
                        + nodes.stream()
                                .map(node -> node.command("CLUSTER", "INFO"))
                                .toList());
    }

    private void replicate() {
        for (int i = PRIMARIES; i < nodes.size(); i++) {
            nodes.get(i)
                    .command("CLUSTER", "REPLICATE", nodes.get(i - PRIMARIES).id());
        }
        for (Node replica : nodes.subList(PRIMARIES, nodes.size())) {
            // All must know of it: who does not would not vote for it.
            Await.until(
                    FORMS,
                    () -> Replication.isUp(replica.server)
                            && nodes.stream().allMatch(node -> node.knowsForReplica(replica.id())),
                    () -> "the copy of a replica: " + replica.command("INFO", "replication"));
        }
    }

    /** The address of one node, from which a cluster client finds the others. */
    public String uri() {
        return nodes.get(0).server.uri();
    }

    /**
     * The primaries that there were at the start, in the order of their slots, then their replicas, if any, in the same
     * order. They may be paused, killed and restarted.
     */
    public List<RedisServer> nodes() {
        return nodes.stream().<RedisServer>map(node -> node.server).toList();
    }

    /**
     * The other server of a primary and its replica, whichever is which by now.
     *
     * @throws IllegalStateException this cluster has no replicas
     */
    public RedisServer twin(RedisServer server) {
        if (nodes.size() == PRIMARIES) {
            throw new IllegalStateException("a cluster without replicas");
        }
        return nodes.get((nodes.indexOf(node(server)) + PRIMARIES) % nodes.size()).server;
    }

    /** Kills a primary and returns its replica once all take that for the primary, after three to five seconds. */
    public RedisServer crash(RedisServer primary) {
        Replication.awaitCopy(primary, twin(primary));
        return kill(primary);
    }

    private RedisServer kill(RedisServer primary) {
        RedisServer replica = twin(primary);
        primary.kill();
        awaitPrimary(replica);
        return replica;
    }

    /**
     * As {@link #crash}, but all that was written to it in the last moments is lost: its replica got none of it.
     *
     * @param last how long they are cut off from each other before the kill; up to ten seconds, or the replica would be too
     *     old to take over
     */
    public RedisServer crashLosing(RedisServer primary, Duration last) {
        return crashLosing(primary, () -> Await.pass(last));
    }

    /** The same, where all that is done meanwhile is lost. */
    public RedisServer crashLosing(RedisServer primary, Runnable meanwhile) {
        Replication.cut(primary, twin(primary));
        meanwhile.run();
        return kill(primary);
    }

    /** Lets primary and replica change places with nothing lost, and returns the new primary. */
    public RedisServer failOver(RedisServer primary) {
        RedisServer replica = twin(primary);
        Replication.awaitCopy(primary, replica);
        replica.command("CLUSTER", "FAILOVER");
        awaitPrimary(replica);
        Await.until(
                FAILS_OVER,
                () -> Replication.isReplica(primary) && Replication.isUp(primary),
                () -> "the old primary as a replica: " + primary.command("INFO", "replication"));
        return replica;
    }

    private void awaitPrimary(RedisServer server) {
        String id = node(server).id();
        Await.until(
                FAILS_OVER,
                () -> nodes.stream()
                        .filter(node -> node.server.running())
                        .allMatch(node -> node.isWhole() && node.knowsForPrimary(id)),
                () -> "no failover to " + server.uri() + ": " + server.command("CLUSTER", "NODES"));
    }

    /** The slot of a key, by its hash tag if it has one: 0 to 16,383. */
    public static int slotOf(String key) {
        return SlotHash.getSlot(key);
    }

    /**
     * The node that answers for a slot, by its own account.
     *
     * @throws IllegalStateException none does
     */
    public RedisServer ownerOf(int slot) {
        return nodes.stream()
                .filter(node -> node.owns(slot))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("no node answers for slot " + slot))
                .server;
    }

    /** Moves a slot, with nothing done in between. */
    public void migrateSlot(int slot, RedisServer from, RedisServer to) {
        migrateSlot(slot, from, to, moved -> {});
    }

    /**
     * Moves a slot to another node, one key at a time. While it moves, keys that have moved are asked for with
     * {@code ASK}, and a command with keys on both sides is answered {@code TRYAGAIN}.
     *
     * @param betweenKeys called with the number of keys moved so far, the slot being in migration: before the first
     *     (0), between any two, and after the last
     */
    public void migrateSlot(int slot, RedisServer from, RedisServer to, IntConsumer betweenKeys) {
        String number = String.valueOf(slot);
        String target = node(to).id();
        to.command("CLUSTER", "SETSLOT", number, "IMPORTING", node(from).id());
        from.command("CLUSTER", "SETSLOT", number, "MIGRATING", target);
        int moved = 0;
        while (true) {
            betweenKeys.accept(moved);
            String key = from.command("CLUSTER", "GETKEYSINSLOT", number, "1");
            if (key.isEmpty()) {
                break;
            }
            from.command("MIGRATE", "127.0.0.1", String.valueOf(to.port()), key, "0", MIGRATE_TIMEOUT_MS);
            moved++;
        }
        // The new owner first: the other way round the slot would for a moment have none.
        to.command("CLUSTER", "SETSLOT", number, "NODE", target);
        for (Node node : nodes) {
            if (Replication.isPrimary(node.server)) {
                node.command("CLUSTER", "SETSLOT", number, "NODE", target);
            }
        }
    }

    private Node node(RedisServer server) {
        return nodes.stream()
                .filter(node -> node.server == server)
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no node of this cluster: " + server.uri()));
    }

    @Override
    public void close() {
        nodes.forEach(node -> node.server.close());
    }

    private record Node(RedisProcess server, int busPort) {

        static Node start(RedisBinary binary, int number) {
            // By default the bus is 10,000 above, which may lie outside the ports there are.
            int busPort = Ports.free();
            RedisOptions options = RedisOptions.DEFAULT.with(
                    "--cluster-enabled", "yes",
                    "--cluster-node-timeout", "2000",
                    "--cluster-port", String.valueOf(busPort));
            RedisProcess server = RedisProcess.start(
                    binary,
                    Place.HERE,
                    "cluster-" + number + "-",
                    options,
                    directory -> options.commandLine(Place.HERE.debug()));
            return new Node(server, busPort);
        }

        String command(String... words) {
            return server.command(words);
        }

        String id() {
            return command("CLUSTER", "MYID");
        }

        boolean isReady(int count) {
            return isWhole() && command("CLUSTER", "INFO").contains("cluster_known_nodes:" + count);
        }

        /** Whether to its knowledge every slot has a node that answers for it. */
        boolean isWhole() {
            return command("CLUSTER", "INFO").contains("cluster_state:ok");
        }

        boolean knowsForPrimary(String id) {
            return knows(id, "master");
        }

        boolean knowsForReplica(String id) {
            return knows(id, "slave");
        }

        /** A line of {@code CLUSTER NODES}: id, address, flags as {@code myself,master}, ... */
        private boolean knows(String id, String flag) {
            return command("CLUSTER", "NODES")
                    .lines()
                    .anyMatch(line -> line.startsWith(id)
                            && List.of(line.split(" ", 4)[2].split(",", -1)).contains(flag));
        }

        /** Its own line of {@code CLUSTER NODES} ends with the slots it has, as {@code 7} or {@code 0-5460}. */
        boolean owns(int slot) {
            return server.running()
                    && command("CLUSTER", "NODES")
                            .lines()
                            .filter(line -> line.contains("myself"))
                            .flatMap(line -> Stream.of(line.split(" ")).skip(8))
                            .anyMatch(range -> covers(range, slot));
        }

        private static boolean covers(String range, int slot) {
            if (range.startsWith("[")) {
                return false; // in migration: the owner has it in its ranges too
            }
            int dash = range.indexOf('-');
            int first = Integer.parseInt(dash < 0 ? range : range.substring(0, dash));
            int last = dash < 0 ? first : Integer.parseInt(range.substring(dash + 1));
            return first <= slot && slot <= last;
        }
    }
}
