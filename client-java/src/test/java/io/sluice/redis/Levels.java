package io.sluice.redis;

import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * One scope of a project, as {@code inspect levels} tells.
 *
 * @param used slots
 * @param left whole units left of each active limit, by its name
 * @param permits records of the project, ended ones included
 * @param waiters calls of the project that stand in line
 */
public record Levels(long used, Map<String, Long> left, long permits, long waiters) {

    public static Levels of(String uri, String project, String scope) {
        RedisClient client = RedisClient.create(uri);
        try (StatefulRedisConnection<String, String> connection = client.connect()) {
            List<Object> reply = connection
                    .sync()
                    .eval(
                            Script.INSPECT.text(),
                            ScriptOutputType.MULTI,
                            Keys.of(project).all(),
                            "",
                            "levels");
            return read(reply, scope);
        } finally {
            client.shutdown(Duration.ZERO, Duration.ofSeconds(1));
        }
    }

    private static Levels read(List<Object> reply, String name) {
        for (Object part : reply.size() == 9 ? (List<?>) reply.get(8) : List.of()) {
            List<?> scope = (List<?>) part;
            if (scope.get(0).equals(name)) {
                Map<String, Long> left = new TreeMap<>();
                for (Object each : (List<?>) scope.get(4)) {
                    List<?> limit = (List<?>) each;
                    if (limit.get(1).equals(1L)) {
                        left.put((String) limit.get(0), Math.floorDiv(number(limit.get(2)), number(limit.get(4))));
                    }
                }
                return new Levels(number(scope.get(2)), left, number(reply.get(5)), number(reply.get(4)));
            }
        }
        throw new AssertionError("no scope " + name + " in " + reply);
    }

    /** Levels are told as text where they pass what a reply's integer holds. */
    private static long number(Object told) {
        return told instanceof Long number ? number : (long) Double.parseDouble((String) told);
    }
}
