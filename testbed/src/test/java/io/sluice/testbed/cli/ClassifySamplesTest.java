package io.sluice.testbed.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Every recorded shape of an answer, and the whole of what is to be read in it. */
class ClassifySamplesTest {
    private static final JsonMapper JSON = new JsonMapper();
    private static final Path SAMPLES = samples();
    private static final JsonNode EXPECTED = JSON.readTree(SAMPLES.resolve("expected.json"));

    /** What we tell beyond the table, and why that is right. */
    private static final Map<String, List<String>> MORE = Map.of(
            // A limit that is used up says when it is full again, here as everywhere.
            "anthropic/429_requests.headers", List.of("reset_in_ms"),
            // Tier and reasoning are in the stream, as they are in a whole answer.
            "openai/200_chat_stream_usage.sse", List.of("reasoning", "service_tier"),
            "openai/200_responses_stream.sse", List.of("service_tier"),
            "openai/200_responses_stream_incomplete.sse", List.of("service_tier"),
            // A refusal inside a stream came with a 200.
            "gemini/200_interactions_stream_error.sse", List.of("http_status"),
            // Whose request it was, as for every other answer.
            "anthropic/429_spend_cap.headers", List.of("request_id"));

    /** Where the table's words tell more of the sample than of the answer. */
    private static final Map<String, String> OTHER_WORDS = Map.of(
            // The figures are in the answer itself.
            "gemini/429_rpm_free.json", "max(RetryInfo, message) rounded up",
            // Without its headers the wait is in the text.
            "anthropic/429_gateway_spend_blocked.json", "message date");

    private static final Pattern STATUS = Pattern.compile("[/_](\\d{3})[_.]");

    static Stream<String> all() {
        return EXPECTED.path("files").propertyNames().stream();
    }

    static Stream<String> headersWithBody() {
        return all().filter(name -> name.endsWith(".headers") && Files.exists(companion(name)))
                // Telemetry is told of the headers alone.
                .filter(name -> !expected(name).path("class").asString().equals("headers"));
    }

    @ParameterizedTest
    @MethodSource("all")
    void isReadAsTheTableSays(String name) {
        JsonNode expected = expected(name);
        JsonNode told = classify(name, name);

        List<String> differences = new ArrayList<>();
        compare("", expected, told, differences);
        differences.remove("/wait_source: " + expected.path("wait_source") + " but \"" + OTHER_WORDS.get(name) + "\"");
        assertThat(differences).as(told.toPrettyString()).isEmpty();
        TreeSet<String> beyond = new TreeSet<>(told.propertyNames());
        beyond.removeAll(expected.propertyNames());
        beyond.removeAll(MORE.getOrDefault(name, List.of()));
        beyond.remove("scope");
        assertThat(beyond).as("told beyond the table").isEmpty();
    }

    @ParameterizedTest
    @MethodSource("headersWithBody")
    void headersSayTheSameBesideTheirBody(String name) {
        List<String> differences = new ArrayList<>();
        compare("", expected(name), classify(name, name, companion(name).toString()), differences);

        assertThat(differences).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("all")
    void scopeIsOneOfOurs(String name) {
        JsonNode told = classify(name, name);

        if (told.has("pause_scope")) {
            assertThat(told.path("scope").asString())
                    .isEqualTo(scope(told.path("pause_scope").asString()));
        }
    }

    /** A pool is a class; the organisation, account or key itself is the project. */
    private static String scope(String pause) {
        return switch (pause) {
            case "request" -> "request";
            case "caller" -> "caller";
            case "org", "project", "account", "key", "subscription account", "billing account / project" -> "project";
            default -> pause.startsWith("project, all models") ? "project" : "class";
        };
    }

    private static JsonNode classify(String name, String... files) {
        Matcher status = STATUS.matcher(name);
        List<String> arguments = new ArrayList<>(List.of(
                "classify",
                "--provider",
                name.substring(0, name.indexOf('/')),
                "--status",
                status.find() ? status.group(1) : "200",
                "--now",
                EXPECTED.path("now").asString()));
        for (String one : files) {
            arguments.add(one.endsWith(".headers") ? "--headers" : one.endsWith(".sse") ? "--sse" : "--body");
            arguments.add(SAMPLES.resolve(one).toString());
        }
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int code = Main.run(new PrintWriter(out), new PrintWriter(err), arguments.toArray(String[]::new));
        assertThat(code).as(err.toString()).isZero();
        return JSON.readTree(out.toString());
    }

    private static void compare(String path, JsonNode expected, JsonNode told, List<String> differences) {
        if (expected.isObject() && told.isObject()) {
            expected.properties()
                    .forEach(member -> compare(
                            path + "/" + member.getKey(), member.getValue(), told.path(member.getKey()), differences));
            if (!path.isEmpty() && !List.copyOf(told.propertyNames()).equals(List.copyOf(expected.propertyNames()))) {
                differences.add(path + ": " + expected.propertyNames() + " but " + told.propertyNames());
            }
        } else if (expected.isNumber() && told.isNumber()) {
            if (expected.decimalValue().compareTo(told.decimalValue()) != 0) {
                differences.add(path + ": " + expected + " but " + told);
            }
        } else if (!expected.equals(told)) {
            differences.add(path + ": " + expected + " but " + told);
        }
    }

    private static JsonNode expected(String name) {
        return EXPECTED.path("files").path(name).path("expected");
    }

    private static Path companion(String name) {
        return SAMPLES.resolve(name.replace(".headers", ".json"));
    }

    private static Path samples() {
        try {
            return Path.of(ClassifySamplesTest.class.getResource("/samples").toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }
}
