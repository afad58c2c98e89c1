package io.sluice.provider;

import io.sluice.Answer;
import io.sluice.AnswerStream;
import io.sluice.Profile;
import io.sluice.Reading;
import io.sluice.Rejection;
import io.sluice.Usage;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Answers and what is told of them, in one line each. */
final class Told {
    static final Instant NOW = Instant.parse("2026-08-24T12:00:00Z");

    private Told() {}

    static Answer answer(int status, String headers, String body) {
        return Answer.of(status, NOW).headers(headers(headers)).body(body);
    }

    /** {@code name: value} lines, also parted by {@code |}. */
    static Map<String, List<String>> headers(String text) {
        Map<String, List<String>> headers = new LinkedHashMap<>();
        for (String line : text.split("[|\n]", -1)) {
            int colon = line.indexOf(':');
            if (colon > 0) {
                headers.computeIfAbsent(line.substring(0, colon).strip(), name -> new ArrayList<>())
                        .add(line.substring(colon + 1));
            }
        }
        return headers;
    }

    /** {@code kind, retry or stop, wait in ms or -, scope}; {@code fine} if it is no refusal. */
    static String verdict(Reading reading) {
        Rejection rejection = reading.rejection();
        return rejection == null
                ? "fine"
                : rejection.kind().label()
                        + (rejection.retryable() ? " retry " : " stop ")
                        + (rejection.waitFor() == null
                                ? "-"
                                : rejection.waitFor().toMillis())
                        + " "
                        + rejection.scope().label();
    }

    static String verdict(Profile profile, int status, String headers, String body) {
        return verdict(profile.read(answer(status, headers, body)));
    }

    /** Fresh, read, written, output; {@code ?} for what is not known. */
    static String usage(Reading reading) {
        Usage usage = reading.usage();
        return shown(usage.inputTokens())
                + " "
                + shown(usage.cacheReadTokens())
                + " "
                + shown(usage.cacheWriteTokens())
                + " "
                + shown(usage.outputTokens())
                + (reading.usageComplete() ? "" : " open");
    }

    static Reading stream(Profile profile, String text) {
        AnswerStream stream = profile.stream(Answer.of(200, NOW).headers(Map.of()));
        stream.feed(text.getBytes(StandardCharsets.UTF_8));
        return stream.end();
    }

    static Object fact(Reading reading, String name) {
        return Objects.requireNonNullElse(reading.explanation().get(name), "-");
    }

    private static String shown(Long tokens) {
        return tokens == null ? "?" : tokens.toString();
    }
}
