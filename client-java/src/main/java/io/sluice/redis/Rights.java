package io.sluice.redis;

import io.sluice.OutageException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether the Redis user may do what the scripts of a project will do, asked once before the first of them: a script that
 * meets a command or key its user may not use is stopped there, after what it has written already. What is missing is named,
 * and asked about again by the next call, so that an operator's {@code ACL SETUSER} is all it takes.
 */
final class Rights {
    private static final Logger log = LoggerFactory.getLogger(Rights.class);

    /** So that a user without any rights does not get a page. */
    private static final int NAMED = 6;

    /** Who does what: the words of {@code rights.lua}. */
    enum Role {
        AGENT,
        INSTALL,
        INSPECT,
        TALLY;

        /** {@code null}: nothing is asked first, for the script reads only, or what it may not write is its first write. */
        static @Nullable Role of(Script script) {
            return switch (script) {
                case ACQUIRE, SETTLE, BEAT, OBSERVE -> AGENT;
                case POLICY -> INSTALL;
                case INSPECT, RIGHTS, STATUS -> INSPECT;
                case TALLY -> TALLY;
                case TOLD, REMOVE, INDEX -> null;
            };
        }

        String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    private record Asked(String keys, Role role) {
        Asked(Keys keys, Role role) {
            this(keys.hints(""), role);
        }
    }

    private final ScriptRunner scripts;
    private final Map<Asked, CompletableFuture<Void>> asked = new ConcurrentHashMap<>();

    Rights(ScriptRunner scripts) {
        this.scripts = scripts;
    }

    /** Fails with an {@link OutageException} that names what is missing. */
    CompletionStage<Void> check(Keys keys, Role role) {
        Asked question = new Asked(keys, role);
        CompletableFuture<Void> known = asked.get(question);
        if (known != null) {
            return known;
        }
        CompletableFuture<Void> answer = new CompletableFuture<>();
        CompletableFuture<Void> other = asked.putIfAbsent(question, answer);
        if (other != null) {
            return other;
        }
        ask(keys, role).whenComplete((ok, e) -> {
            if (e == null) {
                answer.complete(null);
            } else {
                asked.remove(question, answer);
                answer.completeExceptionally(ScriptRunner.cause(e));
            }
        });
        return answer;
    }

    /** A script's failure, with the names of what is missing if that is what it is: rights can change under way. */
    <T> CompletionStage<T> explained(Keys keys, Role role, Throwable thrown) {
        boolean named = ScriptRunner.cause(thrown) instanceof OutageException;
        if (named || !Outages.of(thrown).reason().equals("noperm")) {
            return CompletableFuture.failedStage(thrown);
        }
        asked.remove(new Asked(keys, role));
        return check(keys, role).thenCompose(nothing -> CompletableFuture.failedStage(thrown));
    }

    private CompletionStage<Void> ask(Keys keys, Role role) {
        String channel = role == Role.AGENT ? keys.hints("") : "";
        return sent(keys, role.label(), channel)
                .handle((reply, e) -> e == null ? told(keys, Replies.lacks(reply)) : named(keys, e))
                .thenCompose(told -> told);
    }

    /** What the driver refuses to send fails like what it could not send. */
    private CompletionStage<List<Object>> sent(Keys keys, String... arguments) {
        try {
            return scripts.run(Script.RIGHTS, keys, arguments);
        } catch (RuntimeException e) {
            return CompletableFuture.failedStage(e);
        }
    }

    private static CompletionStage<Void> told(Keys keys, List<String> lacks) {
        List<String> needed = new ArrayList<>(lacks);
        // Hints only save time, so whoever may not send them is told and served.
        if (needed.removeIf(lack -> lack.startsWith("SPUBLISH"))) {
            log.error(
                    "the Redis user may not publish to {}*: waiting calls hear of their grants up to 250 ms late",
                    keys.hints(""));
        }
        if (needed.isEmpty()) {
            return CompletableFuture.completedStage(null);
        }
        String more = needed.size() > NAMED ? " and " + (needed.size() - NAMED) + " more" : "";
        return missing(String.join(", ", needed.subList(0, Math.min(NAMED, needed.size()))) + more, null);
    }

    /** Redis says that one of the keys of a script is not allowed, and not which. */
    private CompletionStage<Void> named(Keys keys, Throwable thrown) {
        if (!ScriptRunner.isAboutKeys(thrown)) {
            return CompletableFuture.failedStage(ScriptRunner.cause(thrown));
        }
        CompletionStage<List<String>> refused = CompletableFuture.completedStage(List.of());
        for (String key : keys.all()) {
            refused = refused.thenCombine(scripts.isRefused(key), Rights::with);
        }
        return refused.thenCompose(names -> missing("scripts on " + String.join(", ", names), thrown));
    }

    private static List<String> with(List<String> refused, Optional<String> key) {
        return Stream.concat(refused.stream(), key.stream()).toList();
    }

    private static CompletionStage<Void> missing(String what, @Nullable Throwable cause) {
        return CompletableFuture.failedStage(
                new OutageException("noperm", "the Redis user lacks rights that this project needs: " + what, cause));
    }
}
