package io.sluice;

import java.io.IOException;
import java.util.concurrent.CompletionStage;

/**
 * Sends a request to the provider: once each time it is asked to, with the retries of whatever it uses switched off.
 *
 * <pre>{@code
 * Response response = project.call(call, Anthropic.PROFILE, attempt -> {
 *     HttpResponse<String> answer = http.send(request, BodyHandlers.ofString());
 *     return attempt.answered(answer.statusCode(), answer.headers().map(), answer.body());
 * });
 * }</pre>
 *
 * <p>What it may do is docs/clients.md's subject. For {@code java.net.http} there is {@code io.sluice.http.HttpSender}.
 */
@FunctionalInterface
public interface Sender {

    /**
     * Sends the request and returns its answer, whatever its status.
     *
     * @param attempt what makes a {@link Response} of the answer
     * @throws IOException if there was no whole answer: nobody but this request is concerned, and it is sent again after a
     *     pause
     * @throws InterruptedException ends the call; what may have been used is charged at its estimate
     */
    Response send(Attempt attempt) throws IOException, InterruptedException;

    /** The same without blocking. Cancelling what it returned should end the request. */
    @FunctionalInterface
    interface Async {

        /**
         * Starts to send the request; the stage completes with its answer, or as {@link Sender#send} throws.
         *
         * @throws IOException instead of a stage that fails with it
         */
        CompletionStage<Response> send(Attempt attempt) throws IOException;
    }
}
