package io.sluice.redis;

import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.sluice.RefillLimit;
import io.sluice.ScopeLimits;
import io.sluice.Weights;
import io.sluice.testbed.redis.RedisServer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.UUID;

/** Runs the scripts of one project by hand, at a time of the test's choosing. Costs go by limit name. */
final class Scripted implements AutoCloseable {
    static final long S = 1_000_000;
    static final long MIN = 60 * S;
    static final long T0 = 1_796_000_000L * S;

    final String project = "t-" + UUID.randomUUID();
    final Keys keys = Keys.of(project);
    final RedisCommands<String, String> redis;
    private final RedisClient client;
    private final StatefulRedisConnection<String, String> connection;

    String stamp = "";

    /** Limit names by position, and which are active, as {@code inspect policy} tells. */
    private final Map<String, List<String>> names = new HashMap<>();

    private final Map<String, List<Object>> active = new HashMap<>();

    /** The layout each id was asked with: a permit settles against what it took. */
    private final Map<String, Map<String, List<Object>>> askedWith = new HashMap<>();

    Scripted(RedisServer server) {
        client = RedisClient.create(server.uri());
        connection = client.connect();
        redis = connection.sync();
    }

    /** Headroom 0.9, burst 5 s, as a policy's defaults have it. */
    static RefillLimit perMinute(String name, long amount) {
        return perMinute(name, amount, 9, 5);
    }

    static RefillLimit perMinute(String name, long amount, long headroomTenths, long burstSeconds) {
        long rate = amount * headroomTenths;
        return new RefillLimit(
                name,
                rate,
                600 * S,
                1,
                rate * burstSeconds * S,
                amount * headroomTenths / 10,
                MIN,
                amount,
                Math.max(1, amount),
                new Weights(1, 1, 0, 0, 0, 0));
    }

    /** Capacity = limit, no headroom: what many a scenario from the field assumes. */
    static RefillLimit whole(String name, long amount) {
        return perMinute(name, amount, 10, 60);
    }

    /** A project without limits of its own, with one class {@code c:m}. */
    static ScopeLimits[] modelClass(long slots, RefillLimit... limits) {
        return new ScopeLimits[] {
            new ScopeLimits("p", ScopeLimits.UNLIMITED, List.of()), new ScopeLimits("c:m", slots, List.of(limits))
        };
    }

    /** What a call of that class costs. */
    static Map<String, Map<String, Long>> costs(Map<String, Long> ofClass) {
        return Map.of("p", Map.of(), "c:m", ofClass);
    }

    List<Object> install(long now, ScopeLimits... scopes) {
        return install(now, 0, "", scopes);
    }

    List<Object> install(long now, long held, String expected, ScopeLimits... scopes) {
        String content = List.of(scopes).toString();
        List<String> arguments = new ArrayList<>(List.of(
                time(now),
                UUID.randomUUID().toString().substring(0, 8),
                Long.toString(held),
                expected,
                Integer.toHexString(content.hashCode()),
                content,
                "test",
                Integer.toString(scopes.length)));
        for (ScopeLimits scope : scopes) {
            arguments.addAll(List.of(
                    scope.scope(),
                    Long.toString(scope.slots()),
                    Integer.toString(scope.refills().size())));
            scope.refills().forEach(limit -> RedisStore.addLimit(arguments, limit));
        }
        List<Object> reply = run(Script.POLICY, arguments);
        if (reply.get(0).equals("installed") || reply.get(0).equals("unchanged")) {
            stamp = (String) reply.get(1);
            learnLayout();
        }
        return reply;
    }

    @SuppressWarnings("unchecked")
    private void learnLayout() {
        List<Object> policy = run(Script.INSPECT, List.of("", "policy"));
        for (Object scope : policy.subList(3, policy.size())) {
            List<Object> parts = (List<Object>) scope;
            names.put((String) parts.get(0), (List<String>) parts.get(1));
            active.put((String) parts.get(0), (List<Object>) parts.get(2));
        }
    }

    static final long LEASE = 30 * S;

    List<Object> acquire(long now, String id, Map<String, Map<String, Long>> costs) {
        return acquire(now, id, "d", "h", LEASE, costs);
    }

    List<Object> acquire(
            long now, String id, String digest, String host, long lease, Map<String, Map<String, Long>> costs) {
        List<String> arguments =
                new ArrayList<>(List.of(time(now), stamp, id, "n-" + id, digest, host, Long.toString(lease), "memo"));
        addCosts(arguments, costs, active);
        List<Object> reply = run(Script.ACQUIRE, arguments);
        if (reply.get(0).equals("granted") && reply.get(5).equals(0L)) {
            askedWith.put(id, Map.copyOf(active));
        }
        return reply;
    }

    List<Object> settle(long now, String id, String how, Map<String, Map<String, Long>> used) {
        List<String> arguments = new ArrayList<>(List.of(time(now), id, "n-" + id, how, ""));
        addCosts(arguments, used, askedWith.getOrDefault(id, active));
        return run(Script.SETTLE, arguments);
    }

    List<Object> beat(long now, String host, String... ids) {
        List<String> arguments = new ArrayList<>(List.of(time(now), host, Integer.toString(ids.length)));
        for (String id : ids) {
            arguments.add(id);
            arguments.add("n-" + id);
        }
        return run(Script.BEAT, arguments);
    }

    /** Costs in the order and by the positions the scripts want: the project first. */
    private void addCosts(
            List<String> arguments, Map<String, Map<String, Long>> costs, Map<String, List<Object>> layout) {
        Map<String, Map<String, Long>> ordered =
                new TreeMap<>((a, b) -> a.equals(b) ? 0 : a.equals("p") ? -1 : b.equals("p") ? 1 : a.compareTo(b));
        ordered.putAll(costs);
        ordered.forEach((scope, byName) -> {
            List<Object> flags = Objects.requireNonNull(layout.get(scope), scope);
            List<String> at = Objects.requireNonNull(names.get(scope), scope);
            arguments.add(scope);
            arguments.add(Integer.toString(flags.size()));
            for (int i = 0; i < flags.size(); i++) {
                boolean on = flags.get(i).equals(1L);
                arguments.add(Long.toString(on ? byName.getOrDefault(at.get(i), 0L) : 0));
            }
        });
    }

    List<Object> run(Script script, List<String> arguments) {
        return redis.eval(script.text(), ScriptOutputType.MULTI, keys.all(), arguments.toArray(String[]::new));
    }

    /** What a limit holds. */
    record Level(boolean active, long level, long capacity, long factor, long rate, long admitted) {
        /** In whole units of cost, rounded down. */
        long units() {
            return Math.floorDiv(level, factor);
        }
    }

    /** What a scope holds. */
    record Scope(long slots, long used, Map<String, Level> limits) {}

    @SuppressWarnings("unchecked")
    Map<String, Scope> inspect(long now) {
        List<Object> reply = run(Script.INSPECT, List.of(time(now), "levels"));
        if (!reply.get(0).equals("levels")) {
            throw new AssertionError("inspect answered " + reply);
        }
        Map<String, Scope> scopes = new HashMap<>();
        for (Object one : (List<Object>) reply.get(8)) {
            List<Object> scope = (List<Object>) one;
            Map<String, Level> limits = new HashMap<>();
            for (Object each : (List<Object>) scope.get(4)) {
                List<Object> l = (List<Object>) each;
                limits.put(
                        (String) l.get(0),
                        new Level(
                                l.get(1).equals(1L),
                                (Long) l.get(2),
                                (Long) l.get(3),
                                (Long) l.get(4),
                                (Long) l.get(5),
                                (Long) l.get(6)));
            }
            scopes.put((String) scope.get(0), new Scope((Long) scope.get(1), (Long) scope.get(2), limits));
        }
        return scopes;
    }

    Level level(long now, String scope, String limit) {
        Scope held = Objects.requireNonNull(inspect(now).get(scope), scope);
        return Objects.requireNonNull(held.limits().get(limit), limit);
    }

    /** Running permits by scope, counted from the records: what {@code used} must be. */
    @SuppressWarnings("unchecked")
    Map<String, Long> recount() {
        Map<String, Long> running = new HashMap<>();
        String cursor = "0";
        do {
            List<Object> page = run(Script.INSPECT, List.of("", "permits", cursor));
            for (Object one : (List<Object>) page.get(2)) {
                List<Object> permit = (List<Object>) one;
                if (permit.get(1).equals("running")) {
                    ((List<String>) permit.get(7)).forEach(scope -> running.merge(scope, 1L, Long::sum));
                }
            }
            cursor = (String) page.get(1);
        } while (!cursor.equals("0"));
        return running;
    }

    /** The fields of scopes as they are stored. */
    Map<String, String> rawLevels() {
        Map<String, String> fields = new TreeMap<>(redis.hgetall(keys.all()[1]));
        fields.keySet().removeIf(field -> field.startsWith("!") || field.startsWith("#"));
        return fields;
    }

    private static String time(long now) {
        return now < 0 ? "" : Long.toString(now);
    }

    @Override
    public void close() {
        redis.del(keys.all());
        connection.close();
        client.shutdown();
    }
}
