package io.sluice.http;

import io.sluice.Attempt;
import io.sluice.Response;
import java.io.ByteArrayOutputStream;
import java.net.http.HttpResponse.ResponseInfo;
import java.nio.charset.StandardCharsets;

/** An answer that means nothing until it is whole. */
final class WholeBody implements Attempt.Stream {
    private final Attempt attempt;
    private final ResponseInfo head;
    private final ByteArrayOutputStream body = new ByteArrayOutputStream();

    WholeBody(Attempt attempt, ResponseInfo head) {
        this.attempt = attempt;
        this.head = head;
    }

    @Override
    public void feed(byte[] bytes) {
        if (body.size() + (long) bytes.length > Attempt.MAX_BODY_BYTES) {
            throw new IllegalStateException("the answer is larger than " + Attempt.MAX_BODY_BYTES + " bytes");
        }
        body.write(bytes, 0, bytes.length);
    }

    @Override
    public Response end() {
        return attempt.answered(head.statusCode(), head.headers().map(), body.toString(StandardCharsets.UTF_8));
    }
}
