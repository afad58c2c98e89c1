package io.sluice.redis;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Runs scripts: EVALSHA, and on NOSCRIPT (restart, failover, SCRIPT FLUSH, another node) EVAL once. TRYAGAIN, which a
 * cluster answers while a project's slot moves, is asked again within the time given. Nothing else is repeated here:
 * after a timeout nobody knows whether the script ran, so only callers with an id of their own may ask again.
 */
final class ScriptRunner {
    private static final Duration TRY_AGAIN_AFTER = Duration.ofMillis(10);
    private static final String NO_SCRIPT = "0".repeat(40);

    private final RedisClusterAsyncCommands<String, String> redis;
    private final Duration patience;

    /** @param patience how long a slot may be on the move before that is an error */
    ScriptRunner(RedisClusterAsyncCommands<String, String> redis, Duration patience) {
        this.redis = redis;
        this.patience = patience;
    }

    CompletionStage<List<Object>> run(Script script, Keys keys, String... arguments) {
        return run(script, keys, arguments, System.nanoTime() + patience.toNanos());
    }

    private CompletionStage<List<Object>> run(Script script, Keys keys, String[] arguments, long deadline) {
        CompletionStage<List<Object>> first =
                redis.evalsha(script.sha(), ScriptOutputType.MULTI, keys.all(), arguments);
        return first.exceptionallyCompose(e -> cause(e) instanceof RedisNoScriptException
                        ? redis.eval(script.text(), ScriptOutputType.MULTI, keys.all(), arguments)
                        : CompletableFuture.failedStage(e))
                .exceptionallyCompose(e -> movesNow(e) && System.nanoTime() < deadline
                        ? later().thenCompose(ignored -> run(script, keys, arguments, deadline))
                        : CompletableFuture.failedStage(e));
    }

    /**
     * The key, if the user may not run scripts on it. Asked with a script that nobody has, so that nothing runs: whoever may
     * is told that.
     */
    CompletionStage<Optional<String>> isRefused(String key) {
        return redis.evalsha(NO_SCRIPT, ScriptOutputType.MULTI, new String[] {key})
                .handle((reply, e) -> isAboutKeys(e) ? Optional.of(key) : Optional.empty());
    }

    /** {@code NOPERM} for a key: {@code one of the keys used as arguments}, {@code the 'name' key}, {@code a key}. */
    static boolean isAboutKeys(@Nullable Throwable e) {
        return e != null
                && cause(e) instanceof RedisCommandExecutionException refused
                && String.valueOf(refused.getMessage()).matches("NOPERM .*\\bkeys?\\b.*");
    }

    private static CompletionStage<Void> later() {
        Executor delayed = CompletableFuture.delayedExecutor(TRY_AGAIN_AFTER.toMillis(), TimeUnit.MILLISECONDS);
        return CompletableFuture.runAsync(() -> {}, delayed);
    }

    private static boolean movesNow(Throwable e) {
        return cause(e) instanceof RedisCommandExecutionException refused
                && refused.getMessage() != null
                && refused.getMessage().startsWith("TRYAGAIN");
    }

    static Throwable cause(Throwable e) {
        return e instanceof CompletionException && e.getCause() != null ? e.getCause() : e;
    }
}
