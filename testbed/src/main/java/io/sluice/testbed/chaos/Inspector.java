package io.sluice.testbed.chaos;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.sluice.testbed.bench.Scripts;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/** What a project holds, by the {@code inspect} script: asked past every cable, on a connection a question. */
final class Inspector implements AutoCloseable {
    private static final Duration TIMEOUT = Duration.ofSeconds(1);
    private static final String SCRIPT = Scripts.text("inspect");
    private static final String[] KEYS = Scripts.keys(Terms.PROJECT);

    private final RedisClient client = RedisClient.create();

    Inspector() {
        client.setOptions(ClientOptions.builder().autoReconnect(false).build());
    }

    /** Nothing where Redis does not answer, or does not know the project. */
    Optional<Standing> standing(String redis) {
        return ask(redis, commands -> {
            List<Object> levels = inspect(commands, "levels");
            if (!levels.get(0).equals("levels")) {
                throw new RedisException(levels.toString());
            }
            List<List<Object>> waiters = pages(commands, "waiters");
            return Standing.of(levels, waiters);
        });
    }

    /** How many permits of a host run; nothing where Redis does not answer. */
    Optional<Integer> running(String redis, String host) {
        return ask(redis, commands -> (int) pages(commands, "permits").stream()
                .filter(permit -> isRunning(permit) && permit.get(2).equals(host))
                .count());
    }

    /** Every key there is, whoever's. */
    Optional<List<String>> keys(String redis) {
        return ask(redis, commands -> commands.keys("*"));
    }

    /** How many permits are in which state, as their records say. */
    Optional<Map<String, Integer>> permits(String redis) {
        return ask(redis, commands -> {
            Map<String, Integer> counts = new HashMap<>();
            pages(commands, "permits")
                    .forEach(permit -> counts.merge(permit.get(1).toString(), 1, Integer::sum));
            return counts;
        });
    }

    private static boolean isRunning(List<Object> permit) {
        return permit.get(1).equals("running");
    }

    private <T> Optional<T> ask(String redis, Function<RedisCommands<String, String>, T> question) {
        RedisURI uri = RedisURI.create(redis);
        uri.setTimeout(TIMEOUT);
        try (StatefulRedisConnection<String, String> connection = client.connect(uri)) {
            return Optional.of(question.apply(connection.sync()));
        } catch (RedisException noAnswer) {
            return Optional.empty();
        }
    }

    private static List<Object> inspect(RedisCommands<String, String> commands, String... arguments) {
        String[] all = new String[arguments.length + 1];
        all[0] = "";
        System.arraycopy(arguments, 0, all, 1, arguments.length);
        return commands.eval(SCRIPT, ScriptOutputType.MULTI, KEYS, all);
    }

    private static List<List<Object>> pages(RedisCommands<String, String> commands, String what) {
        List<List<Object>> all = new ArrayList<>();
        String cursor = "0";
        do {
            List<Object> page = inspect(commands, what, cursor);
            cursor = page.get(1).toString();
            Standing.list(page.get(2)).forEach(one -> all.add(Standing.list(one)));
        } while (!cursor.equals("0"));
        return all;
    }

    @Override
    public void close() {
        client.shutdown(Duration.ZERO, TIMEOUT);
    }
}
