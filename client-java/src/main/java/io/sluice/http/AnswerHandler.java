package io.sluice.http;

import io.sluice.Attempt;
import io.sluice.Response;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodySubscriber;
import java.net.http.HttpResponse.ResponseInfo;
import java.util.Locale;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Takes the answer of one request, as a stream of events or as a whole. */
final class AnswerHandler implements BodyHandler<Response> {
    private final Attempt attempt;
    private final @Nullable Consumer<byte[]> consumer;
    private volatile @Nullable AnswerBody body;

    AnswerHandler(Attempt attempt, @Nullable Consumer<byte[]> consumer) {
        this.attempt = attempt;
        this.consumer = consumer;
    }

    @Override
    public BodySubscriber<Response> apply(ResponseInfo head) {
        AnswerBody taken = new AnswerBody(isStream(head) ? stream(head) : new WholeBody(attempt, head));
        body = taken;
        return taken;
    }

    private static boolean isStream(ResponseInfo head) {
        return head.headers()
                .firstValue("content-type")
                .map(type -> type.strip().toLowerCase(Locale.ROOT).startsWith("text/event-stream"))
                .orElse(false);
    }

    private Attempt.Stream stream(ResponseInfo head) {
        return consumer == null
                ? attempt.stream(head.statusCode(), head.headers().map())
                : attempt.stream(head.statusCode(), head.headers().map(), consumer);
    }

    /** What reading the answer threw, which the client tells as an IOException: our bound, or the consumer. */
    @Nullable
    RuntimeException thrown() {
        AnswerBody taken = body;
        return taken == null ? null : taken.thrown();
    }
}
