package io.sluice.testbed.cli;

import io.sluice.Plan;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** An advice in the shape of the server's API. Pure. */
final class PlanDocument {
    private PlanDocument() {}

    /** {@code source}: {@code given} or {@code observed}. */
    static ObjectNode of(Plan plan, Plan.Use use, String source) {
        ObjectNode document = JsonMapper.shared()
                .createObjectNode()
                .put("agents_at_70", plan.agentsAt70())
                .put("agents_at_80", plan.agentsAt80())
                .put("binding", plan.binding().limit())
                .put("binding_scope", plan.binding().scope());
        document.putObject("per_agent")
                .put("requests_per_minute", use.requests())
                .put("input_per_minute", use.input())
                .put("output_per_minute", use.output())
                .put("in_flight", use.inFlight());
        document.put("source", source);
        ArrayNode limits = document.putArray("limits");
        plan.limits()
                .forEach(limit -> limits.addObject()
                        .put("scope", limit.scope())
                        .put("limit", limit.limit())
                        .put("amount", limit.amount())
                        .put("agents_at_80", limit.agentsAt80()));
        return document;
    }
}
