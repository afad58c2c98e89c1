package io.sluice.testbed.emulator;

import io.sluice.testbed.emulator.Decision.Rejected;
import java.util.LinkedHashMap;
import java.util.Map;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * Anthropic's Messages API. Input counts as fresh input plus cache writes; cache reads do not. Sources: Anthropic's pages
 * on rate limits, errors and streaming (platform.claude.com/docs/en/api, August 2026); what a rejection for concurrency
 * says is not documented and follows replies seen in public.
 *
 * <p>Any credentials are good, and beta headers are ignored.
 */
final class AnthropicDialect implements Dialect {
    private final JsonMapper json = JsonMapper.shared();
    private final int tokensPerSecond;

    AnthropicDialect(int tokensPerSecond) {
        this.tokensPerSecond = tokensPerSecond;
    }

    @Override
    public Ask read(Incoming request, long id) {
        String route = request.method() + " " + request.path();
        return switch (route) {
            case "POST /v1/messages" -> new Ask.Generate(call(request));
            case "POST /v1/messages/count_tokens" -> new Ask.Plain(countTokens(request, id));
            case "GET /v1/models" -> new Ask.Plain(reply(200, AnthropicAnswers.models(), id));
            default ->
                new Ask.Plain(
                        switch (request.path()) {
                            case "/v1/messages", "/v1/messages/count_tokens", "/v1/models" ->
                                error(405, "Method Not Allowed", id);
                            default -> error(404, "Not found", id);
                        });
        };
    }

    private Call call(Incoming request) {
        JsonNode body = body(request);
        String model = model(body);
        JsonNode maxTokens = body.path("max_tokens");
        if (!maxTokens.isIntegralNumber() || maxTokens.asLong() < 1) {
            throw new BadRequest("max_tokens: " + (maxTokens.isMissingNode() ? "Field required" : "must be 1 or more"));
        }
        requireMessages(body);
        Simulation simulation = Simulation.of(request.headers());
        long input = input(simulation, body);
        long output = Math.min(simulation.output(), maxTokens.asLong());
        return new Call(
                simulation.agent(),
                model,
                body.path("stream").asBoolean(false),
                input,
                simulation.cacheRead(),
                simulation.cacheWrite(),
                input + simulation.cacheWrite(),
                output,
                output < simulation.output(),
                simulation.duration() == null ? Dialect.pace(output, tokensPerSecond) : simulation.duration());
    }

    private Reply countTokens(Incoming request, long id) {
        JsonNode body = body(request);
        model(body);
        requireMessages(body);
        ObjectNode count = json.createObjectNode();
        count.put("input_tokens", input(Simulation.of(request.headers()), body));
        return reply(200, count, id);
    }

    private static long input(Simulation simulation, JsonNode body) {
        return simulation.input() == null ? TextSize.tokens(body) : simulation.input();
    }

    private JsonNode body(Incoming request) {
        try {
            JsonNode body = json.readTree(request.body());
            if (body.isObject()) {
                return body;
            }
        } catch (JacksonException e) {
            throw new BadRequest("The request body is not valid JSON: " + e.getOriginalMessage());
        }
        throw new BadRequest("The request body must be a JSON object");
    }

    private static String model(JsonNode body) {
        JsonNode model = body.path("model");
        if (!model.isString() || model.asString().isEmpty() || model.asString().length() > 256) {
            throw new BadRequest(
                    "model: " + (model.isMissingNode() ? "Field required" : "must be 1 to 256 characters"));
        }
        return model.asString();
    }

    private static void requireMessages(JsonNode body) {
        JsonNode messages = body.path("messages");
        if (!messages.isArray() || messages.isEmpty()) {
            throw new BadRequest(
                    "messages: " + (messages.isMissingNode() ? "Field required" : "at least one message is required"));
        }
    }

    @Override
    public Map<String, String> headers(Standing standing, long id) {
        Map<String, String> headers = AnthropicHeaders.rates(standing);
        headers.put("request-id", Dialect.requestId(id));
        headers.put("anthropic-organization-id", AnthropicHeaders.ORGANIZATION);
        return headers;
    }

    @Override
    public String answer(Call call, long id) {
        return json.writeValueAsString(AnthropicAnswers.message(call, id));
    }

    @Override
    public String opening(Call call, long id) {
        return AnthropicAnswers.opening(call, id);
    }

    @Override
    public String delta(long tokens) {
        return AnthropicAnswers.delta(tokens);
    }

    @Override
    public String closing(Call call) {
        return AnthropicAnswers.closing(call);
    }

    @Override
    public Reply rejection(Rejected rejected) {
        Reply reply = reply(429, failure("rate_limit_error", rejectionText(rejected), rejected.id()), rejected.id());
        Map<String, String> headers = headers(rejected.standing(), rejected.id());
        if (rejected.waitUs() > 0) {
            headers.put("retry-after", Long.toString(Math.max(1, (rejected.waitUs() + 999_999) / 1_000_000)));
        }
        return new Reply(reply.status(), headers, reply.body());
    }

    private static String rejectionText(Rejected rejected) {
        String unit = switch (rejected.kind()) {
            case REQUESTS -> "requests";
            case INPUT -> "input tokens";
            case OUTPUT -> "output tokens";
            case CONCURRENCY -> "";
        };
        if (unit.isEmpty()) {
            return "Number of concurrent connections has exceeded your rate limit. Please try again later.";
        }
        return "This request would exceed your organization's rate limit of "
                + AnthropicHeaders.withCommas(rejected.limit()) + " " + unit + " per minute (org: "
                + AnthropicHeaders.ORGANIZATION + ", model: " + rejected.call().model() + ").";
    }

    @Override
    public Reply error(int status, String message, long id) {
        String type = switch (status) {
            case 404 -> "not_found_error";
            case 413 -> "request_too_large";
            case 500 -> "api_error";
            default -> "invalid_request_error";
        };
        return reply(status, failure(type, message, id), id);
    }

    private ObjectNode failure(String type, String message, long id) {
        ObjectNode body = json.createObjectNode();
        body.put("type", "error");
        body.putObject("error").put("type", type).put("message", message);
        body.put("request_id", Dialect.requestId(id));
        return body;
    }

    private Reply reply(int status, JsonNode body, long id) {
        Map<String, String> headers = new LinkedHashMap<>();
        headers.put("request-id", Dialect.requestId(id));
        return new Reply(status, headers, json.writeValueAsString(body));
    }
}
