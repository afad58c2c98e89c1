package io.sluice.redis;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisException;
import io.sluice.OutageException;
import java.io.IOException;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.CompletionException;

/** What Lettuce throws, as an {@link OutageException} with a reason an operator can act on. */
final class Outages {
    /** Redis's own words for a state in which it cannot serve us. */
    private static final Set<String> STATES = Set.of(
            "oom",
            "readonly",
            "loading",
            "noperm",
            "noauth",
            "wrongpass",
            "misconf",
            "masterdown",
            "clusterdown",
            "noreplicas",
            "busy",
            "tryagain",
            "wrongtype");

    /** How Redis 7.0 says NOPERM of what a script calls. */
    private static final String WITHIN_A_SCRIPT = "ERR The user executing the script can't";

    private Outages() {}

    static OutageException of(Throwable thrown) {
        Throwable e = thrown instanceof CompletionException && thrown.getCause() != null ? thrown.getCause() : thrown;
        if (e instanceof OutageException outage) {
            return outage;
        }
        String message = String.valueOf(e.getMessage());
        if (e instanceof RedisCommandTimeoutException) {
            return new OutageException("timeout", "Redis did not answer in time: " + message, e);
        }
        if (e instanceof RedisCommandExecutionException) {
            String code = message.startsWith(WITHIN_A_SCRIPT)
                    ? "noperm"
                    : message.split("[ :]", 2)[0].toLowerCase(Locale.ROOT);
            return new OutageException(STATES.contains(code) ? code : "script", "Redis refused: " + message, e);
        }
        if (e instanceof RedisException || e instanceof IOException) {
            return new OutageException("disconnected", "no connection to Redis: " + message, e);
        }
        return new OutageException("script", "unexpected: " + e, e);
    }

    static Throwable root(Throwable thrown) {
        Throwable root = thrown;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        return root;
    }

    /**
     * Whether nothing came back. A "no" is an answer: a Redis that is full, or a replica now, says so at once, and endings
     * and beats must get through to it (or fail by themselves).
     */
    static boolean isNoAnswer(OutageException outage) {
        return outage.reason().equals("timeout") || outage.reason().equals("disconnected");
    }
}
