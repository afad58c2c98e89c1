package io.sluice;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** An answer in pieces: read, and kept or handed on. Who gives a call up may look at it while another thread feeds it. */
final class StreamedAnswer implements Attempt.Stream {
    private final LiveAttempt attempt;
    private final int status;
    private final Map<String, List<String>> headers;

    /** {@code null} where the pieces are those of a whole answer. */
    private final @Nullable AnswerStream reader;

    private final @Nullable Consumer<byte[]> consumer;
    private final ByteArrayOutputStream kept = new ByteArrayOutputStream();
    private @Nullable Response response;

    StreamedAnswer(
            LiveAttempt attempt,
            int status,
            Map<String, List<String>> headers,
            @Nullable AnswerStream reader,
            @Nullable Consumer<byte[]> consumer) {
        this.attempt = attempt;
        this.status = status;
        this.headers = headers;
        this.reader = reader;
        this.consumer = consumer;
    }

    @Override
    public void feed(byte[] bytes) {
        take(bytes);
        if (consumer != null) {
            consumer.accept(bytes);
        }
    }

    private synchronized void take(byte[] bytes) {
        if (response != null) {
            throw new IllegalStateException("the stream has ended");
        }
        if (reader != null) {
            reader.feed(bytes);
        }
        if (consumer != null) {
            return;
        }
        if (kept.size() + (long) bytes.length > Attempt.MAX_BODY_BYTES) {
            throw new IllegalStateException("the answer is larger than " + Attempt.MAX_BODY_BYTES
                    + " bytes: hand it on to a consumer as it comes");
        }
        kept.write(bytes, 0, bytes.length);
    }

    @Override
    public synchronized Response end() {
        if (response == null) {
            String body = kept.toString(StandardCharsets.UTF_8);
            response = reader == null
                    ? attempt.answered(status, headers, body)
                    : new Response(status, headers, body, reader.end());
        }
        return response;
    }

    boolean handedOn() {
        return consumer != null && end().reading().outputSeen() > 0;
    }
}
