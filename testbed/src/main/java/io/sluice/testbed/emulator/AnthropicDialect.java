package io.sluice.testbed.emulator;

import io.sluice.testbed.emulator.Decision.Rejected;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * Anthropic's Messages API. Input counts as fresh input plus cache writes; cache reads do not. Sources: Anthropic's pages
 * on rate limits, errors and streaming (platform.claude.com/docs/en/api, August 2026); what a rejection for concurrency,
 * acceleration, credits or a plan's window says is not documented and follows replies seen in public.
 *
 * <p>Any credentials are good, and beta headers are ignored.
 */
final class AnthropicDialect implements Dialect {
    private static final JsonMapper JSON = JsonMapper.shared();
    private static final Rules RULES =
            new Rules(ZoneOffset.UTC, false, true, false, List.of(Spend.As.CAP, Spend.As.OWN, Spend.As.CREDITS), true);

    private final int tokensPerSecond;

    AnthropicDialect(int tokensPerSecond) {
        this.tokensPerSecond = tokensPerSecond;
    }

    @Override
    public Rules rules() {
        return RULES;
    }

    @Override
    public Ask read(Incoming request, long id) {
        String route = request.method() + " " + request.path();
        return switch (route) {
            case "POST /v1/messages" -> message(request, id);
            case "POST /v1/messages/count_tokens" -> new Ask.Plain(countTokens(request, id));
            case "GET /v1/models" -> new Ask.Plain(reply(200, AnthropicAnswer.models(), id));
            default ->
                new Ask.Plain(
                        switch (request.path()) {
                            case "/v1/messages", "/v1/messages/count_tokens", "/v1/models" ->
                                error(405, "Method Not Allowed", id);
                            default -> error(404, "Not found", id);
                        });
        };
    }

    private Ask message(Incoming request, long id) {
        JsonNode body = request.json();
        String model = Incoming.model(body);
        Long cap = Incoming.cap(body, "max_tokens");
        if (cap == null) {
            throw new BadRequest("max_tokens: Field required");
        }
        Incoming.requireList(body, "messages", false);
        boolean streams = body.path("stream").asBoolean(false);
        Call call = request.simulation().call(body, model, streams, cap, tokensPerSecond, new Counts());
        return new Ask.Generate(call, new AnthropicAnswer(call, id));
    }

    private static final class Counts implements Simulation.Counts {
        @Override
        public long input(long fresh, long cacheRead, long cacheWrite) {
            return fresh + cacheWrite;
        }
    }

    private Reply countTokens(Incoming request, long id) {
        JsonNode body = request.json();
        Incoming.model(body);
        Incoming.requireList(body, "messages", false);
        ObjectNode count = JSON.createObjectNode();
        count.put("input_tokens", request.simulation().input(body));
        return reply(200, count, id);
    }

    @Override
    public Map<String, String> headers(Standing standing, long id) {
        Map<String, String> headers = AnthropicHeaders.rates(standing);
        headers.put("request-id", Dialect.requestId(id));
        headers.put("anthropic-organization-id", AnthropicHeaders.ORGANIZATION);
        return headers;
    }

    @Override
    public int status(Denial denial) {
        if (denial instanceof Denial.Busy busy) {
            return busy.status() == null ? 529 : busy.status();
        }
        return denial instanceof Denial.NoMoney money && money.as() != Spend.As.CAP ? 400 : 429;
    }

    @Override
    public Reply overRate(Rejected rejected, Denial.Rate rate) {
        return limited(
                rejected,
                "This request would exceed your organization's rate limit of "
                        + AnthropicHeaders.withCommas(rate.limit()) + " " + unit(rate.kind()) + " (org: "
                        + AnthropicHeaders.ORGANIZATION + ", model: "
                        + rejected.call().model() + ").");
    }

    private static String unit(Kind kind) {
        return switch (kind) {
            case REQUESTS -> "requests per minute";
            case INPUT -> "input tokens per minute";
            case OUTPUT -> "output tokens per minute";
            case DAILY_REQUESTS -> "requests per day";
            case DAILY_TOKENS -> "tokens per day";
            default -> "tokens per minute";
        };
    }

    @Override
    public Reply fullHouse(Rejected rejected, Denial.Slots slots) {
        return limited(
                rejected, "Number of concurrent connections has exceeded your rate limit. Please try again later.");
    }

    @Override
    public Reply tooSteep(Rejected rejected, Denial.Steep steep) {
        String unit = unit(steep.of() == Acceleration.Of.REQUESTS ? Kind.REQUESTS : Kind.INPUT);
        String text = "This request would exceed the maximum usage increase rate for " + unit + " (org: "
                + AnthropicHeaders.ORGANIZATION + ", model: " + rejected.call().model() + "). Your current limit is "
                + AnthropicHeaders.withCommas(steep.limit()) + " " + unit + ", and will increase to "
                + AnthropicHeaders.withCommas(steep.next())
                + " at the next minute boundary. Please scale up your usage more gradually.";
        return limited(rejected, text);
    }

    /** No wait is named: the account is closed until a date or until somebody pays. */
    @Override
    public Reply noMoney(Rejected rejected, Denial.NoMoney noMoney) {
        String until = noMoney.until() == null ? "" : " You will regain access on " + day(noMoney.until()) + ".";
        ObjectNode body = switch (noMoney.as()) {
            case CAP, WINDOW -> {
                ObjectNode capped = failure(
                        "rate_limit_error",
                        "Your organization has reached its monthly spend limit." + until,
                        rejected.id());
                capped.withObject("error").putObject("details").put("error_code", "enforced_spend_limit_reached");
                yield capped;
            }
            case OWN ->
                failure(
                        "invalid_request_error",
                        "You have reached your specified API usage limits." + until,
                        rejected.id());
            case CREDITS ->
                failure(
                        "invalid_request_error",
                        "Your credit balance is too low to access the Anthropic API. Please go to Plans & "
                                + "Billing to upgrade or purchase credits.",
                        rejected.id());
        };
        return reply(status(noMoney), body, rejected.id());
    }

    private static String day(@Nullable Instant until) {
        return until == null ? "" : until.atZone(ZoneOffset.UTC).toLocalDate() + " at 00:00 UTC";
    }

    @Override
    public Reply planUsedUp(Rejected rejected, Denial.PlanUsedUp plan) {
        return limited(rejected, "This request would exceed your account's rate limit. Please try again later.");
    }

    @Override
    public Reply busy(Rejected rejected, Denial.Busy busy) {
        int status = status(busy);
        ObjectNode body = switch (status) {
            case 429 -> failure("rate_limit_error", "Please try again later.", rejected.id());
            case 504 -> failure("timeout_error", "The request timed out.", rejected.id());
            case 500, 502 -> failure("api_error", "Internal server error", rejected.id());
            default -> failure("overloaded_error", "Overloaded", rejected.id());
        };
        Map<String, String> headers =
                waiting(rejected, reply(status, body, rejected.id()).headers());
        headers.put("x-should-retry", "true");
        return new Reply(status, headers, JSON.writeValueAsString(body));
    }

    /** A 429 that tells where the limits stand, and how long to wait where that is known. */
    private Reply limited(Rejected rejected, String text) {
        Map<String, String> headers = waiting(rejected, headers(rejected.standing(), rejected.id()));
        return new Reply(429, headers, JSON.writeValueAsString(failure("rate_limit_error", text, rejected.id())));
    }

    private static Map<String, String> waiting(Rejected rejected, Map<String, String> headers) {
        if (rejected.waitUs() > 0) {
            headers.put("retry-after", Dialect.seconds(rejected.waitUs()));
        }
        return headers;
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

    static ObjectNode failure(String type, String message, long id) {
        ObjectNode body = JSON.createObjectNode();
        body.put("type", "error");
        body.putObject("error").put("type", type).put("message", message);
        body.put("request_id", Dialect.requestId(id));
        return body;
    }

    private static Reply reply(int status, JsonNode body, long id) {
        Map<String, String> headers = new LinkedHashMap<>();
        headers.put("request-id", Dialect.requestId(id));
        return new Reply(status, headers, JSON.writeValueAsString(body));
    }
}
