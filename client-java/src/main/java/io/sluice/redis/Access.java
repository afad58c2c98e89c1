package io.sluice.redis;

import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.sluice.OutageException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;

/**
 * Whether our user may use all keys of a project and the channel of its host. A script that lacks one key fails as a whole, and one
 * without the channel works but never tells anybody: so this is found out before the first call, and named.
 */
final class Access {
    /** Redis asks for the right to write to every key that is given to a script. */
    private static final String TOUCH = "#!lua\nreturn {}";

    private final RedisClusterAsyncCommands<String, String> redis;
    private final Messages messages;

    Access(RedisClusterAsyncCommands<String, String> redis, Messages messages) {
        this.redis = redis;
        this.messages = messages;
    }

    /** Fails with what is lacking. False: that could not be found out now. */
    CompletionStage<Boolean> check(Keys keys, String host) {
        String channel = keys.hints(host);
        CompletableFuture<Found> all =
                find("channel " + channel, messages.subscribed(channel)).toCompletableFuture();
        for (String key : keys.all()) {
            all = all.thenCombine(find("key " + key, touch(key)), Found::and);
        }
        return all.thenApply(found -> {
            if (!found.lacking.isEmpty()) {
                throw new OutageException(
                        "noperm",
                        "this Redis user may not use " + String.join(", ", found.lacking)
                                + ": its ACL needs ~{project}:* and &{project}:*",
                        null);
            }
            return found.all;
        });
    }

    /** @param all whether each was found out */
    private record Found(boolean all, List<String> lacking) {
        Found and(Found other) {
            return new Found(
                    all && other.all,
                    Stream.concat(lacking.stream(), other.lacking.stream()).toList());
        }
    }

    private CompletionStage<List<Object>> touch(String key) {
        return redis.eval(TOUCH, ScriptOutputType.MULTI, key);
    }

    private static CompletionStage<Found> find(String what, CompletionStage<?> asked) {
        return asked.handle((ok, e) -> {
            boolean denied = e != null && Outages.of(e).reason().equals("noperm");
            return new Found(e == null || denied, denied ? List.of(what) : List.of());
        });
    }
}
