package io.sluice;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.sluice.Desk.Asking;
import io.sluice.Desk.Handout;
import io.sluice.Desk.Report;
import io.sluice.provider.Profiles;
import io.sluice.redis.Levels;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Two processes with a desk for the same project, which is a test's own and has one class {@code m}. */
final class Desks implements AutoCloseable {
    static final Call CALL = Call.of("m-1").inputTokens(10).maxOutputTokens(5).agent("bot");
    static final Duration SOON = Duration.ofSeconds(60);
    private static final long PATIENCE_S = 60;

    final String id = "t-" + UUID.randomUUID();
    final String uri;
    final Sluice first;
    final Sluice second;
    final Desk here;
    final Desk there;

    Desks(String uri) {
        this(uri, uri);
    }

    /** @param uriOfFirst by which the first process, and it alone, goes */
    Desks(String uri, String uriOfFirst) {
        this.uri = uri;
        // These tests are of what happens, not of how fast.
        Sluice.Options patient = Sluice.Options.DEFAULT.withCommandTimeout(Duration.ofSeconds(5));
        this.first = Sluice.connect(uriOfFirst, patient);
        this.second = Sluice.connect(uri, patient);
        this.here = first.desk(id, Profiles::of);
        this.there = second.desk(id, Profiles::of);
    }

    Desks with(String limits) {
        first.install(Budget.policy(id, limits));
        return this;
    }

    static Asking asking(@Nullable String callId, Duration maxWait) {
        return new Asking(callId == null ? CALL : CALL.id(callId), "token/bot", maxWait, null);
    }

    static CompletableFuture<Handout> ask(Desk desk, Asking asking) {
        return desk.acquire(asking, waiting -> {}).toCompletableFuture();
    }

    static CompletableFuture<Handout> ask(Desk desk, @Nullable String callId, Duration maxWait) {
        return ask(desk, asking(callId, maxWait));
    }

    static Handout take(Desk desk, @Nullable String callId) {
        return get(ask(desk, callId, Duration.ZERO));
    }

    static Report used(long input, long output) {
        return new Report("token", new Usage(input, 0, 0, output), null, true);
    }

    static <T> T get(CompletionStage<T> stage) {
        return stage.toCompletableFuture()
                .orTimeout(PATIENCE_S, TimeUnit.SECONDS)
                .join();
    }

    /** What it was refused for. */
    static Refusal refusal(CompletionStage<?> stage) {
        Throwable thrown = Blocking.cause(catchThrowable(() -> get(stage)));
        assertThat(thrown).isInstanceOf(RefusedException.class);
        return ((RefusedException) thrown).refusal();
    }

    static Refusal.Kind refused(CompletionStage<?> stage) {
        return refusal(stage).kind();
    }

    Levels levels() {
        return Levels.of(uri, id, "c:m");
    }

    @Override
    public void close() {
        first.close();
        second.close();
    }
}
