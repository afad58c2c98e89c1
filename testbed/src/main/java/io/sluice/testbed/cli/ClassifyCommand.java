package io.sluice.testbed.cli;

import io.sluice.Answer;
import io.sluice.AnswerStream;
import io.sluice.Profile;
import io.sluice.Provider;
import io.sluice.Reading;
import io.sluice.provider.Profiles;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import tools.jackson.databind.json.JsonMapper;

/** {@code classify}: what one answer of a provider means. */
@Command(
        name = "classify",
        mixinStandardHelpOptions = true,
        description = "Tells what one answer of a provider means: usage, limits, or what was refused and for how long.")
final class ClassifyCommand implements Callable<Integer> {
    /** More than any profile reads. */
    private static final int MAX_FILE = 2 * 1024 * 1024;

    private static final int CHUNK = 8 * 1024;

    @Spec
    private CommandSpec spec;

    @Option(
            names = "--provider",
            required = true,
            paramLabel = "P",
            description = "anthropic, openai, gemini, openrouter or generic")
    private String provider;

    @Option(names = "--status", required = true, paramLabel = "N", description = "the HTTP status")
    private int status;

    @Option(
            names = "--headers",
            paramLabel = "FILE",
            description = "the headers, one 'name: value' a line, with or without the status line")
    private @Nullable Path headers;

    @ArgGroup(exclusive = true)
    private @Nullable Content content;

    @Option(names = "--model", paramLabel = "M", description = "the model that was asked for")
    private @Nullable String model;

    @Option(names = "--service-tier", paramLabel = "TIER", description = "the tier that was asked for, such as flex")
    private @Nullable String serviceTier;

    @Option(names = "--speed", paramLabel = "SPEED", description = "the speed that was asked for, such as fast")
    private @Nullable String speed;

    @Option(
            names = "--now",
            paramLabel = "T",
            description = "when it arrived, RFC 3339; default now. The headers' date comes first")
    private @Nullable String now;

    @Option(names = "--json", description = "on one line")
    private boolean json;

    /** What was answered; without it only the headers are read. */
    static final class Content {
        @Option(names = "--body", required = true, paramLabel = "FILE", description = "the body")
        private @Nullable Path body;

        @Option(names = "--sse", required = true, paramLabel = "FILE", description = "the body of a streamed answer")
        private @Nullable Path sse;
    }

    @Override
    public Integer call() throws IOException {
        Profile profile = profile();
        Answer answer = answer();
        Path body = content == null ? null : content.body;
        Path sse = content == null ? null : content.sse;
        if (body == null && sse == null && headers == null) {
            throw new ParameterException(spec.commandLine(), "nothing to read: name --headers, --body or --sse");
        }
        Reading reading = sse != null
                ? stream(profile, answer, sse)
                : profile.read(body == null ? answer : answer.body(text(body)));
        JsonMapper mapper = new JsonMapper();
        spec.commandLine()
                .getOut()
                .println(
                        json
                                ? mapper.writeValueAsString(reading.explanation())
                                : mapper.writerWithDefaultPrettyPrinter().writeValueAsString(reading.explanation()));
        return ExitCode.GOOD;
    }

    private Profile profile() {
        for (Provider one : Provider.values()) {
            if (one.label().equals(provider.toLowerCase(Locale.ROOT))) {
                return Profiles.of(one);
            }
        }
        throw new ParameterException(
                spec.commandLine(), "no provider '" + provider + "': anthropic, openai, gemini, openrouter or generic");
    }

    private Answer answer() throws IOException {
        if (status < 100 || status > 599) {
            throw new ParameterException(spec.commandLine(), "--status must be 100 to 599, got " + status);
        }
        Answer answer = Answer.of(status, instant());
        answer = headers == null ? answer : answer.headers(headerLines(text(headers)));
        answer = model == null ? answer : answer.model(model);
        answer = serviceTier == null ? answer : answer.serviceTier(serviceTier);
        return speed == null ? answer : answer.speed(speed);
    }

    private Instant instant() {
        try {
            return now == null ? Instant.now() : OffsetDateTime.parse(now).toInstant();
        } catch (DateTimeException e) {
            throw new ParameterException(spec.commandLine(), "--now must be like 2026-08-24T12:00:00Z, got " + now, e);
        }
    }

    private Reading stream(Profile profile, Answer answer, Path file) throws IOException {
        check(file);
        AnswerStream stream = profile.stream(answer);
        try (InputStream in = Files.newInputStream(file)) {
            byte[] chunk = new byte[CHUNK];
            for (int read = in.read(chunk); read >= 0; read = in.read(chunk)) {
                stream.feed(chunk, 0, read);
            }
        }
        return stream.end();
    }

    private String text(Path file) throws IOException {
        check(file);
        try (InputStream in = Files.newInputStream(file)) {
            return new String(in.readNBytes(MAX_FILE), StandardCharsets.UTF_8);
        }
    }

    private void check(Path file) {
        if (!Files.isReadable(file) || Files.isDirectory(file)) {
            throw new ParameterException(spec.commandLine(), "cannot read " + file);
        }
    }

    /** The status line, and whatever else has no colon after its name, is left out. */
    private static Map<String, List<String>> headerLines(String text) {
        Map<String, List<String>> headers = new LinkedHashMap<>();
        for (String line : text.split("\\R", -1)) {
            int colon = line.indexOf(':');
            if (colon > 0 && line.substring(0, colon).indexOf(' ') < 0) {
                headers.computeIfAbsent(line.substring(0, colon), name -> new ArrayList<>())
                        .add(line.substring(colon + 1).strip());
            }
        }
        return headers;
    }
}
