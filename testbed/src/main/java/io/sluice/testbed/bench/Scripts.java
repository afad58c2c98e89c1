package io.sluice.testbed.bench;

import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import io.sluice.Sluice;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The client's scripts on a connection of our own, and what each run of one costs Redis. A client cannot say what time it
 * is, nor hold ten thousand waiters still: whoever measures a line has to.
 */
public final class Scripts implements AutoCloseable {
    private static final List<String> NAMES = List.of("acquire", "settle", "beat", "inspect");
    private static final List<String> KEYS =
            List.of("policy", "levels", "permits", "waiters", "lines", "times", "hosts", "learn");
    private static final Pattern INCLUDE = Pattern.compile("(?m)^--#include (\\S+)$");

    private final RedisClient client;
    private final StatefulRedisConnection<String, String> connection;
    private final Map<String, String> shas = new HashMap<>();
    private final String noOp;

    Scripts(String redis) {
        client = RedisClient.create(redis);
        connection = client.connect();
        for (String name : NAMES) {
            shas.put(name, connection.sync().scriptLoad(text(name)));
        }
        noOp = connection.sync().scriptLoad(NoOp.SCRIPT);
    }

    /** A script as Redis gets it, its parts in place: {@code inspect}. */
    public static String text(String name) {
        return INCLUDE.matcher(read(name)).replaceAll(include -> Matcher.quoteReplacement(read(include.group(1))));
    }

    /** The keys of a project, in the order every script wants them. */
    public static String[] keys(String project) {
        return KEYS.stream().map(key -> "{" + project + "}:" + key).toArray(String[]::new);
    }

    /** @param arguments {@code ARGV} as the script's header lists it */
    List<Object> run(String script, String project, List<String> arguments) {
        return start(script, project, arguments).toCompletableFuture().join();
    }

    /** Without waiting for the answer. */
    CompletionStage<List<Object>> start(String script, String project, List<String> arguments) {
        String sha = Objects.requireNonNull(shas.get(script), script);
        return connection.async().evalsha(sha, ScriptOutputType.MULTI, keys(project), arguments.toArray(String[]::new));
    }

    /** A script that does nothing, with as many keys. */
    long noOp(String project) {
        CompletionStage<Long> reply = connection.async().evalsha(noOp, ScriptOutputType.INTEGER, keys(project));
        return reply.toCompletableFuture().join();
    }

    /** What a script cost that runs alone meanwhile. */
    <T> Measured<T> measure(Supplier<T> script) {
        CommandStats before = stats();
        T reply = script.get();
        return new Measured<>(reply, stats().since(before));
    }

    @Override
    public void close() {
        client.shutdown();
    }

    private CommandStats stats() {
        return CommandStats.parse(connection.sync().info("commandstats"));
    }

    private static String read(String name) {
        String resource = "/io/sluice/lua/" + name + ".lua";
        try (InputStream in = Sluice.class.getResourceAsStream(resource)) {
            if (in == null) {
                throw new IllegalStateException("the client comes without " + resource);
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A script's reply and its cost. */
    record Measured<T>(T reply, ScriptCost cost) {}
}
