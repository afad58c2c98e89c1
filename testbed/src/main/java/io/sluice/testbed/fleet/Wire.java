package io.sluice.testbed.fleet;

import io.sluice.Provider;
import io.sluice.Usage;
import java.net.http.HttpHeaders;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** How one provider is asked, and what its answers say: as much of each API as a fleet needs. */
enum Wire {
    ANTHROPIC {
        @Override
        String path(String model) {
            return "/v1/messages";
        }

        @Override
        Map<String, Object> body(Work work) {
            return Map.of("model", work.model(), "max_tokens", work.maxOutput(), "messages", MESSAGES);
        }

        @Override
        Usage usage(JsonNode answer) {
            JsonNode usage = answer.path("usage");
            return new Usage(
                    tokens(usage.path("input_tokens")),
                    tokens(usage.path("cache_read_input_tokens")),
                    tokens(usage.path("cache_creation_input_tokens")),
                    tokens(usage.path("output_tokens")));
        }
    },

    OPENAI {
        @Override
        String path(String model) {
            return "/v1/chat/completions";
        }

        @Override
        Map<String, Object> body(Work work) {
            return Map.of("model", work.model(), "max_completion_tokens", work.maxOutput(), "messages", MESSAGES);
        }

        @Override
        Usage usage(JsonNode answer) {
            return ofChat(answer.path("usage"));
        }
    },

    GEMINI {
        @Override
        String path(String model) {
            return "/v1beta/models/" + model + ":generateContent";
        }

        @Override
        Map<String, Object> body(Work work) {
            return Map.of(
                    "contents",
                    List.of(Map.of("role", "user", "parts", List.of(Map.of("text", "go on")))),
                    "generationConfig",
                    Map.of("maxOutputTokens", work.maxOutput()));
        }

        @Override
        Usage usage(JsonNode answer) {
            JsonNode usage = answer.path("usageMetadata");
            long cached = usage.path("cachedContentTokenCount").asLong(0);
            Long prompt = tokens(usage.path("promptTokenCount"));
            // Absent is 0 there, unless all of it is.
            return prompt == null
                    ? Usage.UNKNOWN
                    : new Usage(
                            prompt - cached,
                            cached,
                            0L,
                            usage.path("candidatesTokenCount").asLong(0)
                                    + usage.path("thoughtsTokenCount").asLong(0));
        }
    },

    OPENROUTER {
        @Override
        String path(String model) {
            return "/api/v1/chat/completions";
        }

        @Override
        Map<String, Object> body(Work work) {
            return Map.of("model", work.model(), "max_tokens", work.maxOutput(), "messages", MESSAGES);
        }

        @Override
        Usage usage(JsonNode answer) {
            return ofChat(answer.path("usage"));
        }

        /** Too many calls in flight for the balance is 402 and passes; no money is 402 too and does not. */
        @Override
        boolean isRejection(int status, HttpHeaders headers) {
            return super.isRejection(status, headers)
                    || (status == 402 && headers.firstValue("retry-after").isPresent());
        }
    };

    private static final Object MESSAGES = List.of(Map.of("role", "user", "content", "go on"));
    private static final Pattern RETRY_IN = Pattern.compile("retry in (\\d{1,6}(?:\\.\\d{1,9})?)s");

    /** Whom a policy's provider is spoken to like; a generic one like Anthropic. */
    static Wire of(Provider provider) {
        return switch (provider) {
            case OPENAI -> OPENAI;
            case GEMINI -> GEMINI;
            case OPENROUTER -> OPENROUTER;
            case ANTHROPIC, GENERIC -> ANTHROPIC;
        };
    }

    abstract String path(String model);

    abstract Map<String, Object> body(Work work);

    abstract Usage usage(JsonNode answer);

    /** Whether the same request may pass later. */
    boolean isRejection(int status, HttpHeaders headers) {
        return status == 429;
    }

    /** The wait a rejection names, the finest of those it names; {@code null} if it names none. */
    static @Nullable Duration retryAfter(HttpHeaders headers, String body) {
        String ms = headers.firstValue("retry-after-ms").orElse("");
        if (ms.matches("\\d{1,9}")) {
            return Duration.ofMillis(Long.parseLong(ms));
        }
        String seconds = headers.firstValue("retry-after").orElse("");
        if (seconds.matches("\\d{1,6}")) {
            return Duration.ofSeconds(Long.parseLong(seconds));
        }
        // Gemini's RetryInfo is cut to whole seconds: who obeys it comes too early.
        Matcher text = RETRY_IN.matcher(body);
        return text.find() ? Duration.ofMillis((long) Math.ceil(Double.parseDouble(text.group(1)) * 1_000)) : null;
    }

    /** OpenAI's shape: the prompt includes what was cached and written. */
    private static Usage ofChat(JsonNode usage) {
        JsonNode details = usage.path("prompt_tokens_details");
        Long cached = details.path("cached_tokens").asLong(0);
        Long written = details.path("cache_write_tokens").asLong(0);
        Long prompt = tokens(usage.path("prompt_tokens"));
        return prompt == null
                ? Usage.UNKNOWN
                : new Usage(
                        Long.valueOf(prompt - cached - written),
                        cached,
                        written,
                        tokens(usage.path("completion_tokens")));
    }

    private static @Nullable Long tokens(JsonNode number) {
        return number.isNumber() ? Long.valueOf(number.asLong()) : null;
    }
}
