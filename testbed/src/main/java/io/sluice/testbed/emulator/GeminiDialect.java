package io.sluice.testbed.emulator;

import io.sluice.testbed.emulator.Decision.Rejected;
import java.time.ZoneId;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * Gemini's Developer API: {@code generateContent}, {@code streamGenerateContent}, {@code countTokens}. Its tokens a minute
 * are input tokens, cached or not, so {@code tpm} and {@code itpm} count the same; its day begins at midnight in
 * California; no headers tell of limits. Sources: ai.google.dev on rate limits and caching (August 2026), google.rpc's
 * error details; quotas' names and the texts about money follow replies seen in public. Calls in flight and the rise of
 * use have no words of their own.
 */
final class GeminiDialect implements Dialect {
    private static final JsonMapper JSON = JsonMapper.shared();
    private static final Rules RULES = new Rules(
            ZoneId.of("America/Los_Angeles"),
            false,
            false,
            false,
            List.of(Spend.As.WINDOW, Spend.As.CAP, Spend.As.CREDITS),
            true);
    private static final Pattern MODEL = Pattern.compile("/v1(?:beta)?/models/([^/:]{1,256}):(\\w+)");

    private final int tokensPerSecond;

    GeminiDialect(int tokensPerSecond) {
        this.tokensPerSecond = tokensPerSecond;
    }

    @Override
    public Rules rules() {
        return RULES;
    }

    @Override
    public Ask read(Incoming request, long id) {
        Matcher path = MODEL.matcher(request.path());
        if (path.matches() && request.method().equals("POST")) {
            String model = path.group(1);
            return switch (path.group(2)) {
                case "generateContent" -> generate(request, model, false, id);
                case "streamGenerateContent" -> generate(request, model, true, id);
                case "countTokens" -> new Ask.Plain(countTokens(request));
                default -> new Ask.Plain(error(404, "Method not found: " + path.group(2), id));
            };
        }
        boolean models =
                request.path().equals("/v1beta/models") && request.method().equals("GET");
        return new Ask.Plain(models ? reply(200, models()) : error(404, "Requested entity was not found.", id));
    }

    private Ask generate(Incoming request, String model, boolean streams, long id) {
        JsonNode body = request.json();
        Incoming.requireList(body, "contents", false);
        JsonNode config = body.path("generationConfig");
        Long cap = Incoming.cap(config, "maxOutputTokens");
        Call call = request.simulation().call(body, model, streams, cap, tokensPerSecond, new Simulation.Counts() {});
        boolean sse = List.of(request.query().split("&", -1)).contains("alt=sse");
        return new Ask.Generate(call, new GeminiAnswer(call, id, !sse));
    }

    private static Reply countTokens(Incoming request) {
        JsonNode body = request.json();
        long tokens = request.simulation().input(body);
        ObjectNode count = JSON.createObjectNode().put("totalTokens", tokens);
        count.putArray("promptTokensDetails")
                .addObject()
                .put("modality", "TEXT")
                .put("tokenCount", tokens);
        return reply(200, count);
    }

    private static ObjectNode models() {
        ObjectNode list = JSON.createObjectNode();
        list.putArray("models")
                .addObject()
                .put("name", "models/gemini-example")
                .put("displayName", "Gemini Example")
                .put("inputTokenLimit", 1_048_576)
                .put("outputTokenLimit", 65_536);
        return list;
    }

    @Override
    public Map<String, String> headers(Standing standing, long id) {
        return new LinkedHashMap<>();
    }

    @Override
    public int status(Denial denial) {
        if (denial instanceof Denial.Busy busy) {
            return busy.status() == null ? 503 : busy.status();
        }
        return 429;
    }

    @Override
    public Reply overRate(Rejected rejected, Denial.Rate rate) {
        return reply(429, GeminiErrors.quota(rejected, rate));
    }

    @Override
    public Reply fullHouse(Rejected rejected, Denial.Slots slots) {
        return reply(429, GeminiErrors.bare());
    }

    @Override
    public Reply tooSteep(Rejected rejected, Denial.Steep steep) {
        return reply(429, GeminiErrors.bare());
    }

    @Override
    public Reply noMoney(Rejected rejected, Denial.NoMoney noMoney) {
        String text = switch (noMoney.as()) {
            case WINDOW ->
                "You have reached the spend-based rate limit for your account. Please wait and retry after a "
                        + "short period.";
            case CAP, OWN -> "Your project has exceeded its monthly spending cap.";
            case CREDITS -> "Your prepayment credits are depleted.";
        };
        return reply(429, GeminiErrors.exhausted(text));
    }

    @Override
    public Reply planUsedUp(Rejected rejected, Denial.PlanUsedUp plan) {
        return reply(429, GeminiErrors.plan(rejected.waitUs()));
    }

    @Override
    public Reply busy(Rejected rejected, Denial.Busy busy) {
        int status = status(busy);
        ObjectNode body = switch (status) {
            case 429 -> GeminiErrors.bare();
            case 500 -> GeminiErrors.internal();
            case 504 -> GeminiErrors.error(504, "DEADLINE_EXCEEDED", "The service took too long.");
            default -> GeminiErrors.overloaded();
        };
        return reply(status, GeminiErrors.retryIn(rejected.waitUs(), body));
    }

    @Override
    public Reply error(int status, String message, long id) {
        return reply(status, GeminiErrors.error(status, status == 404 ? "NOT_FOUND" : "INVALID_ARGUMENT", message));
    }

    private static Reply reply(int status, JsonNode body) {
        return new Reply(status, new LinkedHashMap<>(), JSON.writeValueAsString(body));
    }
}
