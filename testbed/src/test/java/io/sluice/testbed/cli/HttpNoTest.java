package io.sluice.testbed.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.net.URI;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HttpNoTest {
    private static final URI SERVER = URI.create("http://localhost:8080/");

    /** A server's status and kind; whether that is the fault of what was asked (exit 2) or not (exit 3). */
    @ParameterizedTest
    @CsvSource({
        "400, invalid, true",
        "404, no_project, true",
        "404, unknown_version, true",
        "409, managed_by_file, true",
        "409, permits_live, true",
        "412, version_mismatch, true",
        "422, not_observed, true",
        "401, unauthenticated, false",
        "403, forbidden, false",
        "404, not_found, false",
        "429, too_many_failures, false",
        "500, internal, false",
        "503, outage, false"
    })
    void whatTheUserAskedForIsToldFromWhatIsMissing(int status, String kind, boolean wrongQuestion) {
        Throwable no = no(status, "{\"kind\": \"" + kind + "\", \"detail\": \"in\\nits words\"}");

        assertThat(no).hasMessage("in its words");
        assertThat(no instanceof WrongQuestion).isEqualTo(wrongQuestion);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            404 | <html>nginx</html>
            400 | {"error": "no idea"}
            409 | ''
            200000 | [1]
            """)
    void whatIsNotOurServersNoIsNeverTheUsersFault(int status, String body) {
        assertThat(no(status, body)).isNotInstanceOf(WrongQuestion.class).hasMessage(SERVER + " answered " + status);
    }

    private static Throwable no(int status, String body) {
        return catchThrowable(() -> {
            throw HttpNo.of(SERVER, status, body);
        });
    }
}
