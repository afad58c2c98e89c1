package io.sluice;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** A status as JSON. Pure. */
final class StatusDocument {
    private static final int DECIMALS = 6;

    private StatusDocument() {}

    static ObjectNode of(String project, Instant at, Status status) {
        ObjectNode document = JsonMapper.shared()
                .createObjectNode()
                .put("project", project)
                .put("at", at.toString())
                .put("version", status.version())
                .put("mode", status.mode())
                .put("degraded", status.degraded());
        ArrayNode limits = document.putArray("limits");
        status.limits()
                .forEach(limit -> limits.addObject()
                        .put("scope", limit.scope())
                        .put("limit", limit.limit())
                        .put("amount", plain(limit.amount()))
                        .put("level", plain(limit.level()))
                        .put("capacity", plain(limit.capacity()))
                        .put("in_flight", limit.inFlight())
                        .put("reset_ms", limit.resetMs()));
        ArrayNode provider = document.putArray("provider");
        status.provider()
                .forEach(said -> provider.addObject()
                        .put("class", said.modelClass())
                        .put("limit", said.limit())
                        .put("amount", said.amount())
                        .put("remaining", said.remaining())
                        .put("reset_ms", ms(said.reset()))
                        .put("seen_at", said.seenAt().toString()));
        ArrayNode waiting = document.putArray("waiting");
        status.waiting().forEach(call -> waiting(waiting.addObject(), call));
        document.put("waiters", status.waiters());
        ArrayNode agents = document.putArray("agents");
        status.agents()
                .forEach(agent -> agents.addObject()
                        .put("agent", agent.agent())
                        .put("team", agent.team())
                        .put("state", agent.state().label())
                        .put("since_ms", agent.sinceMs()));
        document.put("agents_in_all", status.agentsInAll());
        ArrayNode holds = document.putArray("holds");
        status.holds()
                .forEach(hold -> holds.addObject()
                        .put("scope", hold.scope())
                        .put("kind", hold.kind())
                        .put("left_ms", ms(hold.left()))
                        .put("retryable", hold.retryable())
                        .put("since", hold.since().toString())
                        .put("reason", hold.reason()));
        ObjectNode rejections = document.putObject("rejections");
        status.rejections().forEach(rejections::put);
        document.put("hosts", status.hosts());
        ObjectNode inFlight = document.putObject("in_flight");
        status.inFlight().forEach(inFlight::put);
        return document;
    }

    private static void waiting(ObjectNode node, Status.Waiting call) {
        node.put("id", call.id())
                .put("agent", call.agent())
                .put("team", call.team())
                .put("priority", call.priority().label())
                .put("class", call.modelClass())
                .put("scope", call.scope())
                .put("limit", call.limit())
                .put("position", call.position())
                .put("waited_ms", call.waitedMs())
                .put("wait_ms", call.waitMs())
                .put("host", call.host());
    }

    /** Units as people write them: 4000, not 4000.0; with at most six decimals, and none that are zero. */
    private static BigDecimal plain(double value) {
        BigDecimal rounded = BigDecimal.valueOf(value)
                .setScale(DECIMALS, RoundingMode.HALF_EVEN)
                .stripTrailingZeros();
        return rounded.scale() < 0 ? rounded.setScale(0) : rounded;
    }

    private static @Nullable Long ms(@Nullable Duration duration) {
        return duration == null ? null : Long.valueOf(duration.toMillis());
    }
}
