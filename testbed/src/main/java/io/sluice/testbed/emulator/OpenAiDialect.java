package io.sluice.testbed.emulator;

import io.sluice.testbed.emulator.Decision.Rejected;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * OpenAI's chat completions and Responses API. A call is charged the larger of its output cap and its prompt, cached or
 * not, when it begins, and that stays; failed requests count toward {@code rpm}; limits a day refill all the time. Sources:
 * OpenAI's guides on rate limits, error codes and prompt caching, its OpenAPI description (August 2026); sentences of
 * rejections and {@code retry-after-ms} follow replies seen in public. Calls in flight are not limited by the real one.
 */
final class OpenAiDialect implements Dialect {
    private static final JsonMapper JSON = JsonMapper.shared();
    private static final Rules RULES =
            new Rules(ZoneOffset.UTC, true, false, true, List.of(Spend.As.CREDITS, Spend.As.CAP, Spend.As.OWN), true);

    private final int tokensPerSecond;
    private final InstantSource time;

    OpenAiDialect(int tokensPerSecond, InstantSource time) {
        this.tokensPerSecond = tokensPerSecond;
        this.time = time;
    }

    @Override
    public Rules rules() {
        return RULES;
    }

    @Override
    public Ask read(Incoming request, long id) {
        return switch (request.method() + " " + request.path()) {
            case "POST /v1/chat/completions" -> chat(request, id);
            case "POST /v1/responses" -> response(request, id);
            case "POST /v1/responses/input_tokens" -> new Ask.Plain(countTokens(request, id));
            case "GET /v1/models" -> new Ask.Plain(reply(200, plain(id), models()));
            default ->
                new Ask.Plain(
                        switch (request.path()) {
                            case "/v1/chat/completions", "/v1/responses", "/v1/responses/input_tokens", "/v1/models" ->
                                error(405, "Not allowed to " + request.method() + " on " + request.path(), id);
                            default -> error(404, "Invalid URL (" + request.method() + " " + request.path() + ")", id);
                        });
        };
    }

    private Ask chat(Incoming request, long id) {
        JsonNode body = request.json();
        Incoming.requireList(body, "messages", false);
        Long cap = Incoming.cap(body, "max_completion_tokens");
        Call call = call(request, body, cap == null ? Incoming.cap(body, "max_tokens") : cap);
        boolean usage = body.path("stream_options").path("include_usage").asBoolean(false);
        return new Ask.Generate(call, new OpenAiChat(call, id, time.instant().getEpochSecond(), usage));
    }

    private Ask response(Incoming request, long id) {
        JsonNode body = request.json();
        Incoming.requireList(body, "input", true);
        Call call = call(request, body, Incoming.cap(body, "max_output_tokens"));
        return new Ask.Generate(
                call, new OpenAiResponse(call, id, time.instant().getEpochSecond()));
    }

    private Call call(Incoming request, JsonNode body, @Nullable Long cap) {
        boolean streams = body.path("stream").asBoolean(false);
        return request.simulation().call(body, Incoming.model(body), streams, cap, tokensPerSecond, new Counts());
    }

    private static final class Counts implements Simulation.Counts {
        @Override
        public long charge(long prompt, @Nullable Long cap) {
            return cap == null ? prompt : Math.max(prompt, cap);
        }
    }

    private static Reply countTokens(Incoming request, long id) {
        JsonNode body = request.json();
        Incoming.model(body);
        return reply(
                200,
                plain(id),
                JSON.createObjectNode()
                        .put("object", "response.input_tokens")
                        .put("input_tokens", request.simulation().input(body)));
    }

    private static ObjectNode models() {
        ObjectNode list = JSON.createObjectNode().put("object", "list");
        list.putArray("data")
                .addObject()
                .put("id", "gpt-example")
                .put("object", "model")
                .put("created", 1_787_572_800)
                .put("owned_by", "openai");
        return list;
    }

    @Override
    public Map<String, String> headers(Standing standing, long id) {
        return OpenAiHeaders.of(standing, id);
    }

    /** It has no word for use that rises too fast but "slow down". */
    @Override
    public int status(Denial denial) {
        if (denial instanceof Denial.Busy busy) {
            return busy.status() == null ? 503 : busy.status();
        }
        return denial instanceof Denial.Steep ? 503 : 429;
    }

    @Override
    public Reply overRate(Rejected rejected, Denial.Rate rate) {
        Map<String, String> headers = OpenAiHeaders.of(rejected.standing(), rejected.id(), rate.kind());
        // What never fits is told no wait.
        if (!OpenAiTexts.neverFits(rate)) {
            waiting(rejected, headers);
        }
        boolean requests = rate.kind() == Kind.REQUESTS || rate.kind() == Kind.DAILY_REQUESTS;
        String type = requests ? "requests" : "tokens";
        return reply(429, headers, failure(OpenAiTexts.overRate(rejected, rate), type, "rate_limit_exceeded"));
    }

    @Override
    public Reply fullHouse(Rejected rejected, Denial.Slots slots) {
        String text = "Too many concurrent requests. Please try again later.";
        return reply(429, headers(rejected), failure(text, "requests", "rate_limit_exceeded"));
    }

    @Override
    public Reply tooSteep(Rejected rejected, Denial.Steep steep) {
        String text = "Slow down: a sudden increase in your request rate is affecting the reliability of the service. "
                + "Please reduce your request rate to its original level, keep it for at least 15 minutes, and then "
                + "gradually increase it.";
        return reply(503, headers(rejected), failure(text, "service_unavailable_error", "slow_down"));
    }

    @Override
    public Reply noMoney(Rejected rejected, Denial.NoMoney noMoney) {
        ObjectNode body = switch (noMoney.as()) {
            case CREDITS, WINDOW ->
                failure(
                        "You exceeded your current quota, please check your plan and billing details.",
                        "insufficient_quota",
                        "insufficient_quota");
            case CAP ->
                failure(
                        "Your organization has reached its spend limit.",
                        "insufficient_quota",
                        "organization_spend_limit_exceeded");
            case OWN ->
                failure(
                        "Your project has reached its spend limit.",
                        "insufficient_quota",
                        "project_spend_limit_exceeded");
        };
        return reply(429, plain(rejected.id()), body);
    }

    /** As Codex is told. */
    @Override
    public Reply planUsedUp(Rejected rejected, Denial.PlanUsedUp plan) {
        ObjectNode body = JSON.createObjectNode();
        body.putObject("error")
                .put("type", "usage_limit_reached")
                .put("message", "The usage limit has been reached")
                .put("plan_type", "plus")
                .put("resets_at", plan.seen().deciding().resetAt().getEpochSecond())
                .put("resets_in_seconds", -Math.floorDiv(-plan.waitUs(), 1_000_000L));
        return reply(429, headers(rejected), body);
    }

    @Override
    public Reply busy(Rejected rejected, Denial.Busy busy) {
        int status = status(busy);
        ObjectNode body = switch (status) {
            case 429 -> failure("Resource Unavailable", "rate_limit_error", "resource_unavailable");
            case 503, 529 -> overloaded();
            default -> failure(OpenAiTexts.SERVER_ERROR, "server_error", null);
        };
        Map<String, String> headers = plain(rejected.id());
        waiting(rejected, headers);
        return reply(status, headers, body);
    }

    private Map<String, String> headers(Rejected rejected) {
        return headers(rejected.standing(), rejected.id());
    }

    private static Map<String, String> plain(long id) {
        Map<String, String> headers = new LinkedHashMap<>();
        headers.put("x-request-id", Dialect.requestId(id));
        return headers;
    }

    private static void waiting(Rejected rejected, Map<String, String> headers) {
        if (rejected.waitUs() > 0) {
            headers.put("retry-after-ms", Long.toString(-Math.floorDiv(-rejected.waitUs(), 1_000L)));
            headers.put("retry-after", Dialect.seconds(rejected.waitUs()));
        }
    }

    @Override
    public Reply error(int status, String message, long id) {
        return reply(status, plain(id), failure(message, "invalid_request_error", null));
    }

    static ObjectNode overloaded() {
        return failure(
                "The engine is currently overloaded, please try again later",
                "service_unavailable_error",
                "server_is_overloaded");
    }

    static ObjectNode failure(String message, String type, @Nullable String code) {
        ObjectNode body = JSON.createObjectNode();
        body.putObject("error")
                .put("message", message)
                .put("type", type)
                .putNull("param")
                .put("code", code);
        return body;
    }

    private static Reply reply(int status, Map<String, String> headers, JsonNode body) {
        return new Reply(status, headers, JSON.writeValueAsString(body));
    }
}
