package io.sluice;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.Rejection.Kind;
import io.sluice.Rejection.Scope;
import io.sluice.provider.Anthropic;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class FailuresTest {
    private static Response response(int status, String body) {
        Reading reading =
                Anthropic.PROFILE.read(Answer.of(status, Instant.EPOCH).body(body));
        return new Response(status, Map.of(), body, reading);
    }

    @ParameterizedTest
    @ValueSource(ints = {300, 301, 302, 303, 304, 307, 308})
    void aRedirectIsNoAnswerWhateverItSays(int status) {
        for (String body : new String[] {"", "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}"}) {
            assertThat(Failures.of(response(status, body)))
                    .isEqualTo(new Rejection(Kind.INVALID, Scope.REQUEST, false, null));
        }
    }

    @Test
    void successIsTheStatusAndNoErrorInside() {
        assertThat(Failures.of(response(200, ProviderStub.SERVED))).isNull();
        assertThat(Failures.of(response(204, ""))).isNull();
        assertThat(Failures.of(response(0, ""))).isNotNull();
        assertThat(Failures.of(response(529, "")).kind()).isEqualTo(Kind.OVERLOAD);
    }

    @Test
    void connectionsFailAsTheyAreOrWrapped() {
        IOException cut = new EOFException();
        assertThat(Failures.connection(cut)).isSameAs(cut);
        assertThat(Failures.connection(new UncheckedIOException(cut))).isSameAs(cut);
        assertThat(Failures.connection(new IllegalStateException(cut))).isNull();
    }

    @Test
    void onlyWhatNeverConnectedNeverLeft() {
        assertThat(Failures.neverLeft(new ConnectException())).isTrue();
        assertThat(Failures.neverLeft(new HttpConnectTimeoutException("t"))).isTrue();
        assertThat(Failures.neverLeft(new UnknownHostException())).isTrue();
        assertThat(Failures.neverLeft(new IOException(new IllegalStateException(new ConnectException()))))
                .isTrue();
        assertThat(Failures.neverLeft(new HttpTimeoutException("t"))).isFalse();
        assertThat(Failures.neverLeft(new SocketException("reset"))).isFalse();
    }

    @ParameterizedTest
    @EnumSource
    void everyKindIsSaidInWords(Kind kind) {
        String message = Failures.message(
                "acme-prod",
                new Rejection(kind, Scope.CLASS, true, Duration.ofMillis(11_001)),
                response(429, ""),
                null,
                "given up");
        assertThat(message).matches("acme-prod: [a-z ',:]+ \\(HTTP 429\\) for 12 s: given up");
    }

    @Test
    void aFailedConnectionIsNamed() {
        assertThat(Failures.message("acme-prod", Failures.NO_ANSWER, null, new EOFException("cut"), "given up"))
                .isEqualTo("acme-prod: no answer from the provider (java.io.EOFException: cut): given up");
    }

    /** Rounded up and never 0: zulip/zulip#39879, brandur/redis-cell#56. */
    @ParameterizedTest
    @CsvSource({"0, 1", "1, 1", "400, 1", "1000, 1", "1001, 2", "1900, 2", "59200, 60", "12000, 12"})
    void waitsAreToldInWholeSeconds(long ms, long seconds) {
        assertThat(new WaitListener.Retrying(
                        "acme-prod", CallFixture.CALL, Failures.NO_ANSWER, Duration.ofMillis(ms), 1))
                .hasToString("waiting on acme-prod, retrying in " + seconds + " s");
    }
}
