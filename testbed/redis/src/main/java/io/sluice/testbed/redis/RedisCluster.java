package io.sluice.testbed.redis;

import io.lettuce.core.cluster.SlotHash;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntConsumer;
import java.util.stream.Stream;

/** A Redis Cluster of three primaries, without replicas, each with a third of the slots. */
public final class RedisCluster implements AutoCloseable {
    private static final int PRIMARIES = 3;
    private static final Duration FORMS = Duration.ofSeconds(20);
    private static final String MIGRATE_TIMEOUT_MS = "5000";

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
        RedisBinary binary = RedisSource.fromEnvironment().binary();
        List<Node> started = new ArrayList<>();
        try {
            for (int i = 0; i < PRIMARIES; i++) {
                started.add(Node.start(binary, i));
            }
            RedisCluster cluster = new RedisCluster(started);
            cluster.form();
            return cluster;
        } catch (RuntimeException e) {
            started.forEach(node -> node.server.close());
            throw e;
        }
    }

    private void form() {
        for (int i = 0; i < PRIMARIES; i++) {
            Node node = nodes.get(i);
            // Nodes of the same epoch would first have to agree whose comes first.
            node.command("CLUSTER", "SET-CONFIG-EPOCH", String.valueOf(i + 1));
            node.command(
                    "CLUSTER",
                    "ADDSLOTSRANGE",
                    String.valueOf(i * SlotHash.SLOT_COUNT / PRIMARIES),
                    String.valueOf((i + 1) * SlotHash.SLOT_COUNT / PRIMARIES - 1));
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
                () -> nodes.stream().allMatch(Node::isReady),
                () -> "the cluster did not form: "
                        + nodes.stream()
                                .map(node -> node.command("CLUSTER", "INFO"))
                                .toList());
    }

    /** The address of one node, from which a cluster client finds the others. */
    public String uri() {
        return nodes.get(0).server.uri();
    }

    /** The nodes, in the order of the slots that they start with. They may be paused, killed and restarted. */
    public List<RedisServer> nodes() {
        return nodes.stream().<RedisServer>map(node -> node.server).toList();
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
            node.command("CLUSTER", "SETSLOT", number, "NODE", target);
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

        boolean isReady() {
            String info = command("CLUSTER", "INFO");
            return info.contains("cluster_state:ok") && info.contains("cluster_known_nodes:" + PRIMARIES);
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
