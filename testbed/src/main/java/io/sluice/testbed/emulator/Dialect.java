package io.sluice.testbed.emulator;

import java.time.Duration;
import java.util.Map;

/**
 * One provider's HTTP: how its requests are read, what its answers, headers and errors look like. Holds no state and
 * decides nothing. Another provider is another implementation.
 */
interface Dialect {

    /**
     * The dialect that speaks a provider's HTTP.
     *
     * @param tokensPerSecond how fast calls that name no duration produce output
     * @throws IllegalArgumentException if there is none
     */
    static Dialect of(String provider, int tokensPerSecond) {
        if (provider.equals("anthropic")) {
            return new AnthropicDialect(tokensPerSecond);
        }
        throw new IllegalArgumentException("unknown provider '" + provider + "': known are anthropic");
    }

    /**
     * What a request asks for.
     *
     * @throws BadRequest if it cannot be read
     */
    Ask read(Incoming request, long id);

    /** The rate headers of an accepted call, and the request's id. */
    Map<String, String> headers(Standing standing, long id);

    /** A whole answer, as JSON. */
    String answer(Call call, long id);

    /** The first events of a streamed answer. */
    String opening(Call call, long id);

    /** The events that carry {@code tokens} more of the answer. */
    String delta(long tokens);

    /** The last events, after all of the output. */
    String closing(Call call);

    /** The answer to a rejected call. */
    Reply rejection(Decision.Rejected rejected);

    /** An error that is no rejection. */
    Reply error(int status, String message, long id);

    /** The id of a request as its headers, its body and the log give it. */
    static String requestId(long id) {
        return "req_" + id;
    }

    /** The time it takes to produce {@code tokens}. */
    static Duration pace(long tokens, int tokensPerSecond) {
        return Duration.ofMillis(tokens * 1_000 / tokensPerSecond);
    }

    /** What a request asks for: an answer of the model, or something that takes no limits and is answered at once. */
    sealed interface Ask {
        record Generate(Call call) implements Ask {}

        record Plain(Reply reply) implements Ask {}
    }

    /** A whole HTTP answer with a JSON body. */
    record Reply(int status, Map<String, String> headers, String body) {}
}
