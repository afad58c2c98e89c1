package io.sluice.http;

import io.sluice.Attempt;
import io.sluice.Response;
import java.net.http.HttpResponse.BodySubscriber;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow.Subscription;
import org.jspecify.annotations.Nullable;

/** Feeds an answer's bytes as they come, the next only when these are done with. */
final class AnswerBody implements BodySubscriber<Response> {
    private final Attempt.Stream answer;
    private final CompletableFuture<Response> body = new CompletableFuture<>();
    private volatile @Nullable Subscription subscription;
    private volatile @Nullable RuntimeException thrown;

    AnswerBody(Attempt.Stream answer) {
        this.answer = answer;
    }

    @Override
    public CompletionStage<Response> getBody() {
        return body;
    }

    @Nullable
    RuntimeException thrown() {
        return thrown;
    }

    @Override
    public void onSubscribe(Subscription subscription) {
        this.subscription = subscription;
        subscription.request(1);
    }

    @Override
    public void onNext(List<ByteBuffer> buffers) {
        Subscription source = subscription;
        if (source == null || thrown != null) {
            return;
        }
        try {
            for (ByteBuffer buffer : buffers) {
                byte[] bytes = new byte[buffer.remaining()];
                buffer.get(bytes);
                answer.feed(bytes);
            }
            source.request(1);
        } catch (RuntimeException e) {
            thrown = e;
            source.cancel();
            body.completeExceptionally(e);
        }
    }

    @Override
    public void onError(Throwable e) {
        body.completeExceptionally(e);
    }

    @Override
    public void onComplete() {
        try {
            body.complete(answer.end());
        } catch (RuntimeException e) {
            thrown = e;
            body.completeExceptionally(e);
        }
    }
}
