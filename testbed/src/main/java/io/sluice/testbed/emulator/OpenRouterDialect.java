package io.sluice.testbed.emulator;

import io.sluice.testbed.emulator.Decision.Rejected;
import io.sluice.testbed.emulator.Standing.Level;
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
 * OpenRouter's chat completions. Limits are told as those of free models where a model's name ends with {@code :free}, else
 * as shared capacity; answers carry no limit headers, rejections do, and again in their metadata; the day is UTC. Free
 * models cost nothing. Sources: OpenRouter's documentation on limits, errors, streaming and usage (August 2026); the
 * members of metadata and the rejection of too many calls in flight (402) follow replies seen in public.
 */
final class OpenRouterDialect implements Dialect {
    /** The provider behind it. */
    static final String UPSTREAM = "Emulated";

    private static final JsonMapper JSON = JsonMapper.shared();
    private static final Rules RULES =
            new Rules(ZoneOffset.UTC, false, true, false, List.of(Spend.As.CREDITS, Spend.As.OWN), false);
    private static final String CHAT = "/api/v1/chat/completions";

    /** What a call turned away for calls in flight is told to wait: nobody can know. */
    private static final long SLOT_WAIT_US = 2_000_000;

    private final int tokensPerSecond;
    private final Prices prices;
    private final InstantSource time;

    OpenRouterDialect(int tokensPerSecond, Prices prices, InstantSource time) {
        this.tokensPerSecond = tokensPerSecond;
        this.prices = prices;
        this.time = time;
    }

    @Override
    public Rules rules() {
        return RULES;
    }

    @Override
    public Ask read(Incoming request, long id) {
        return switch (request.method() + " " + request.path()) {
            case "POST " + CHAT -> chat(request, id);
            case "GET /api/v1/models" -> new Ask.Plain(reply(200, headers(id), models()));
            default ->
                new Ask.Plain(
                        request.path().equals(CHAT)
                                ? error(405, "Method Not Allowed", id)
                                : error(404, "Not Found", id));
        };
    }

    private Ask chat(Incoming request, long id) {
        JsonNode body = request.json();
        Incoming.requireList(body, "messages", false);
        Long cap = Incoming.cap(body, "max_tokens");
        boolean streams = body.path("stream").asBoolean(false);
        Call call = request.simulation()
                .call(
                        body,
                        Incoming.model(body),
                        streams,
                        cap == null ? Incoming.cap(body, "max_completion_tokens") : cap,
                        tokensPerSecond,
                        new Simulation.Counts() {});
        return new Ask.Generate(
                call, new OpenRouterAnswer(call, generation(id), time.instant().getEpochSecond(), prices));
    }

    private static ObjectNode models() {
        ObjectNode list = JSON.createObjectNode();
        list.putArray("data")
                .addObject()
                .put("id", "vendor/model-example")
                .put("name", "Model Example")
                .put("context_length", 200_000);
        return list;
    }

    @Override
    public Map<String, String> headers(Standing standing, long id) {
        return headers(id);
    }

    @Override
    public int status(Denial denial) {
        if (denial instanceof Denial.Busy busy) {
            return busy.status() == null ? 503 : busy.status();
        }
        return denial instanceof Denial.Slots || denial instanceof Denial.NoMoney ? 402 : 429;
    }

    @Override
    public Reply overRate(Rejected rejected, Denial.Rate rate) {
        String model = rejected.call().model();
        String source = null;
        String text;
        if (rate.kind().isDaily()) {
            text = "Rate limit exceeded: free-models-per-day. Add credits to unlock more free model requests per day";
            source = "openrouter_free_tier_daily";
        } else if (model.endsWith(Prices.FREE_SUFFIX)) {
            text = "Rate limit exceeded: free-models-per-min.";
        } else {
            text = crowded(model, rate.limit(), rate.kind() == Kind.REQUESTS ? "requests" : "tokens");
            source = "openrouter_shared_capacity";
        }
        return limited(
                rejected,
                text,
                source,
                rejected.standing().levels().get(rate.kind()),
                !rate.kind().isDaily());
    }

    /** It has no words for this but those for a model in high demand. */
    @Override
    public Reply tooSteep(Rejected rejected, Denial.Steep steep) {
        String unit = steep.of() == Acceleration.Of.REQUESTS ? "requests" : "tokens";
        String text = crowded(rejected.call().model(), steep.limit(), unit);
        Level level = new Level(steep.limit(), 0, rejected.standing().at().plusNanos(rejected.waitUs() * 1_000));
        return limited(rejected, text, "openrouter_shared_capacity", level, true);
    }

    private static String crowded(String model, long limit, String unit) {
        return "Rate limit exceeded: " + model + ". High demand; limited to " + limit + " " + unit + " per minute.";
    }

    private static Reply limited(
            Rejected rejected, String text, @Nullable String source, @Nullable Level level, boolean namesWait) {
        ObjectNode body = failure(429, text, "rate_limit_exceeded");
        ObjectNode metadata = metadata(body);
        Map<String, String> headers = headers(rejected.id());
        if (level != null) {
            Map<String, String> limits = new LinkedHashMap<>();
            limits.put("X-RateLimit-Limit", Long.toString(level.limit()));
            limits.put("X-RateLimit-Remaining", Long.toString(level.remaining()));
            limits.put("X-RateLimit-Reset", Long.toString(level.resetAt().toEpochMilli()));
            headers.putAll(limits);
            ObjectNode copy = metadata.putObject("headers");
            limits.forEach(copy::put);
        }
        if (source == null) {
            metadata.putNull("provider_name");
        } else {
            metadata.put("limit_source", source);
        }
        if (namesWait) {
            waiting(rejected.waitUs(), headers, metadata);
        }
        return reply(429, headers, body);
    }

    @Override
    public Reply fullHouse(Rejected rejected, Denial.Slots slots) {
        ObjectNode body = failure(402, "Too many requests in flight for your balance.", "payment_required");
        metadata(body).put("reason", "in_flight_budget_exhausted").put("limit_source", "openrouter_in_flight_budget");
        Map<String, String> headers = headers(rejected.id());
        waiting(SLOT_WAIT_US, headers, metadata(body));
        return reply(402, headers, body);
    }

    @Override
    public Reply noMoney(Rejected rejected, Denial.NoMoney noMoney) {
        boolean key = noMoney.as() == Spend.As.OWN;
        ObjectNode body =
                failure(402, key ? "Key limit exceeded (monthly limit)." : "Insufficient credits.", "payment_required");
        metadata(body).put("limit_source", key ? "openrouter_key_limit" : "openrouter_credits");
        return reply(402, headers(rejected.id()), body);
    }

    @Override
    public Reply planUsedUp(Rejected rejected, Denial.PlanUsedUp plan) {
        throw new IllegalStateException("OpenRouter has no plans");
    }

    /** 429 is the provider behind it saying no. */
    @Override
    public Reply busy(Rejected rejected, Denial.Busy busy) {
        int status = status(busy);
        ObjectNode body;
        if (status == 429) {
            String text = rejected.call().model() + " is temporarily rate-limited upstream. Please retry shortly.";
            body = failure(429, text, "rate_limit_exceeded");
            metadata(body).put("provider_name", UPSTREAM).put("limit_source", "upstream_provider_shared_pool");
        } else if (status == 503 || status == 529) {
            body = failure(status, "Provider overloaded", "provider_overloaded");
        } else {
            body = failure(status, "Provider returned error", "provider_unavailable");
            metadata(body).put("provider_code", "bad_response");
        }
        Map<String, String> headers = headers(rejected.id());
        waiting(rejected.waitUs(), headers, metadata(body));
        return reply(status, headers, body);
    }

    private static void waiting(long waitUs, Map<String, String> headers, ObjectNode metadata) {
        if (waitUs > 0) {
            headers.put("retry-after", Dialect.seconds(waitUs));
            metadata.put("retry_after_seconds", Long.parseLong(Dialect.seconds(waitUs)));
        }
    }

    private static Map<String, String> headers(long id) {
        Map<String, String> headers = new LinkedHashMap<>();
        headers.put("x-generation-id", generation(id));
        return headers;
    }

    private static String generation(long id) {
        return "gen-" + id;
    }

    @Override
    public Reply error(int status, String message, long id) {
        return reply(status, headers(id), failure(status, message, null));
    }

    /** @param type the kind of error in its metadata; {@code null}: none */
    static ObjectNode failure(int code, String message, @Nullable String type) {
        ObjectNode body = JSON.createObjectNode();
        ObjectNode error = body.putObject("error").put("code", code).put("message", message);
        if (type != null) {
            error.putObject("metadata").put("error_type", type);
        }
        return body.put("user_id", "user_emulated");
    }

    private static ObjectNode metadata(ObjectNode body) {
        return body.withObject("error").withObject("metadata");
    }

    private static Reply reply(int status, Map<String, String> headers, JsonNode body) {
        return new Reply(status, headers, JSON.writeValueAsString(body));
    }
}
