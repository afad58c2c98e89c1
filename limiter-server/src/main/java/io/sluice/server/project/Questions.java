package io.sluice.server.project;

import io.sluice.Admin;
import io.sluice.server.config.Link;
import io.sluice.server.problem.Problem;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;
import reactor.core.publisher.Mono;

/** What is asked of the client here. */
@Component
class Questions {
    private static final Pattern PROJECT = Pattern.compile("[a-z0-9][a-z0-9._-]{0,62}");

    private final Link link;

    Questions(Link link) {
        this.link = link;
    }

    /** Asks once subscribed; an answer that nobody waits for any more is not taken back. What the client finds wrong is the caller's fault. */
    <T> Mono<T> ask(Function<Admin, CompletionStage<T>> question) {
        Supplier<CompletableFuture<T>> asked =
                () -> question.apply(link.sluice().admin()).toCompletableFuture();
        return Mono.fromFuture(asked, true)
                .onErrorMap(IllegalArgumentException.class, e -> Problem.invalid(String.valueOf(e.getMessage())));
    }

    /** Of a call that reads, a parameter that says nothing is one that is not given. */
    static @Nullable String given(@Nullable String parameter) {
        return parameter == null || parameter.isEmpty() ? null : parameter;
    }

    /** @throws Problem 404 if no project can have this id */
    static String project(String id) {
        if (!PROJECT.matcher(id).matches()) {
            throw new Problem(404, "no_project", "no project can have this id");
        }
        return id;
    }
}
