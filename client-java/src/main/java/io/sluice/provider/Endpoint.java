package io.sluice.provider;

import io.sluice.Asked.Kind;
import io.sluice.Request;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Where a request goes, by method and path: whether it is a call, in which shape its body is, under which name policies know it. By
 * the end of the path alone, so that it does not matter what a gateway puts before it. A shape is not the provider's own: OpenRouter
 * speaks three, and Gemini OpenAI's too.
 *
 * <p>Sources: the API references of Anthropic, OpenAI, Google and OpenRouter, August 2026; googleapis/js-genai and
 * google-gemini/gemini-cli for Gemini's paths.
 *
 * @param why why it is no call; empty for a call
 * @param shape of a call's body; {@code null} where the path is not known: then a body that names a model is a call
 * @param model the model the path names
 * @param streamed whether the path alone asks for a stream
 */
record Endpoint(
        Kind kind,
        String why,
        @Nullable Shape shape,
        @Nullable String name,
        @Nullable String model,
        boolean streamed) {
    static final String UNKNOWN = "nothing is known of its endpoint, and it names no model";

    private static final Set<String> READS = Set.of("GET", "HEAD", "OPTIONS", "DELETE");

    /** What stores something, stops something or looks something up: free wherever it stands in a path. */
    private static final Set<String> USE_NO_TOKENS = Set.of(
            "cancel",
            "files",
            "uploads",
            "vector_stores",
            "containers",
            "conversations",
            "moderations",
            "organizations",
            "hello",
            "event_logging");

    private static final Set<String> COUNTED_APART = Set.of("batches", "fine_tuning", "evals", "realtime");

    static Endpoint of(Request request) {
        if ("websocket".equalsIgnoreCase(request.header("upgrade"))) {
            return not(Kind.OTHER, "a web socket: what is asked on it is not seen");
        }
        String method = request.method().toUpperCase(Locale.ROOT);
        if (READS.contains(method)) {
            return not(Kind.FREE, "it only reads or deletes");
        }
        if (!method.equals("POST")) {
            return not(Kind.OTHER, "nothing is known of its method");
        }
        List<String> parts = parts(request.path());
        String last = parts.isEmpty() ? "" : parts.get(parts.size() - 1);
        int colon = last.lastIndexOf(':');
        return colon < 0
                ? posted(parts, last)
                : operation(before(parts), last.substring(0, colon), last.substring(colon + 1));
    }

    private static Endpoint posted(List<String> parts, String last) {
        return switch (last) {
            case "messages" -> call(Shape.MESSAGES, last, null);
            case "complete" -> call(Shape.MESSAGES, last, null);
            case "completions" -> {
                String name = before(parts).equals("chat") ? "chat/completions" : last;
                yield call(Shape.CHAT, name, deployment(parts));
            }
            case "responses" -> call(Shape.RESPONSES, last, deployment(parts));
            case "compact" -> call(Shape.RESPONSES, last, null);
            case "embeddings" -> call(Shape.EMBEDDINGS, last, deployment(parts));
            case "interactions" -> call(Shape.INTERACTIONS, last, null);
            case "count_tokens", "input_tokens" -> not(Kind.FREE, "it only counts tokens");
            default -> other(parts, last);
        };
    }

    private static Endpoint other(List<String> parts, String last) {
        if (parts.stream().anyMatch(USE_NO_TOKENS::contains)) {
            return not(Kind.FREE, "it uses no tokens");
        }
        if (parts.stream().anyMatch(COUNTED_APART::contains)) {
            return not(Kind.OTHER, "a batch or a job: providers count it apart from calls");
        }
        return call(null, last, deployment(parts));
    }

    /** What Google writes after a colon. */
    private static Endpoint operation(String before, String subject, String operation) {
        String model = before.equals("models") || before.equals("tunedModels") ? subject : null;
        return switch (operation) {
            case "generateContent" -> call(Shape.GEMINI, operation, model);
            case "streamGenerateContent" -> new Endpoint(Kind.CALL, "", Shape.GEMINI, "generateContent", model, true);
            case "embedContent", "batchEmbedContents" -> call(Shape.EMBEDDINGS, "embeddings", model);
            case "countTokens", "computeTokens" -> not(Kind.FREE, "it only counts tokens");
            case "loadCodeAssist", "onboardUser", "cancel" -> not(Kind.FREE, "it uses no tokens");
            default -> not(Kind.OTHER, "a batch or a job: providers count it apart from calls");
        };
    }

    private static Endpoint call(@Nullable Shape shape, String name, @Nullable String model) {
        return new Endpoint(Kind.CALL, "", shape, name, model, false);
    }

    private static Endpoint not(Kind kind, String why) {
        return new Endpoint(kind, why, null, null, null, false);
    }

    private static String before(List<String> parts) {
        return parts.size() < 2 ? "" : parts.get(parts.size() - 2);
    }

    /** What Azure names in the path instead of a model. */
    private static @Nullable String deployment(List<String> parts) {
        int at = parts.indexOf("deployments");
        return at < 0 || at + 1 >= parts.size() ? null : parts.get(at + 1);
    }

    private static List<String> parts(String path) {
        int query = path.indexOf('?');
        List<String> parts = new ArrayList<>();
        for (String part : (query < 0 ? path : path.substring(0, query)).split("/", -1)) {
            if (!part.isEmpty()) {
                parts.add(decoded(part));
            }
        }
        return parts;
    }

    private static String decoded(String part) {
        if (part.indexOf('%') < 0) {
            return part;
        }
        try {
            return URLDecoder.decode(part.replace("+", "%2B"), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            return part;
        }
    }
}
