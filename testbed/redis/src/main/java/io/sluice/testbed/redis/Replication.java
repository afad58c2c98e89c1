package io.sluice.testbed.redis;

import io.lettuce.core.RedisException;
import java.time.Duration;
import java.util.function.Predicate;

/** What is done to the link between a primary and its replica, for the topologies that have one. */
final class Replication {
    private static final Duration COPIES = Duration.ofSeconds(10);

    private Replication() {}

    /**
     * From now on nothing that is written to the primary reaches its replica, and both look well to everybody else: the
     * replica is thrown out, and may no longer ask to be let in. What was written before has arrived.
     */
    static void cut(RedisServer primary, RedisServer replica) {
        awaitCopy(primary, replica);
        primary.command("ACL", "SETUSER", "default", "-psync", "-sync");
        primary.command("CLIENT", "KILL", "TYPE", "replica");
    }

    /** Returns when the replica has all that was in the primary at this moment; under load there is always more to come. */
    static void awaitCopy(RedisServer primary, RedisServer replica) {
        long all = offset(primary);
        Await.until(
                COPIES,
                () -> isUp(replica) && offset(replica) >= all,
                () -> "the replica's copy: " + replica.command("INFO", "replication"));
    }

    static boolean isUp(RedisServer replica) {
        return info(replica).contains("master_link_status:up");
    }

    static boolean isPrimary(RedisServer server) {
        return answers(server, role -> role.startsWith("master"));
    }

    static boolean isReplica(RedisServer server) {
        return answers(server, role -> role.startsWith("slave"));
    }

    private static boolean answers(RedisServer server, Predicate<String> role) {
        try {
            return server.running() && role.test(server.command("ROLE"));
        } catch (RedisException cutOffOrLoading) {
            return false;
        }
    }

    private static String info(RedisServer server) {
        try {
            return server.command("INFO", "replication");
        } catch (RedisException cutOffOrLoading) {
            return "";
        }
    }

    private static long offset(RedisServer server) {
        return info(server)
                .lines()
                .filter(line -> line.startsWith("master_repl_offset:"))
                .mapToLong(line ->
                        Long.parseLong(line.substring(line.indexOf(':') + 1).strip()))
                .findFirst()
                .orElse(-1);
    }
}
