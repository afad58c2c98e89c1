package io.sluice.testbed.fleet;

import io.sluice.Priority;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * What a policy shares fairly: flows, each a team and a priority in a class, by weight.
 *
 * @param modelClass the class of the fleet's model
 * @param teams weight of each team the policy lists
 * @param priorities weight of each priority, by its label
 */
record PolicyFlows(String modelClass, Map<String, Integer> teams, Map<String, Integer> priorities) {
    /** What calls of no team, or of one the policy does not list, are counted under. */
    private static final String OTHER = "other";

    private static final Map<Priority, Integer> DEFAULTS =
            Map.of(Priority.INTERACTIVE, 16, Priority.NORMAL, 4, Priority.BATCH, 1);

    PolicyFlows {
        teams = Map.copyOf(teams);
        priorities = Map.copyOf(priorities);
    }

    /** Reads them from a valid policy's JSON. */
    static PolicyFlows of(String policyJson, String model) {
        JsonNode policy = Json.YAML.readTree(policyJson);
        Map<String, Integer> teams = new HashMap<>();
        for (JsonNode team : policy.path("teams")) {
            teams.put(team.path("name").asString(), team.path("weight").asInt(1));
        }
        Map<String, Integer> priorities = new HashMap<>();
        DEFAULTS.forEach((priority, weight) -> priorities.put(
                priority.label(),
                policy.path("priorities").path(priority.label()).asInt(weight)));
        String modelClass = PolicyNumbers.classOf(policy, model).path("name").asString("-");
        return new PolicyFlows(modelClass, teams, priorities);
    }

    Key flow(FleetEvent.Call call) {
        String team = call.team() != null && teams.containsKey(call.team()) ? call.team() : OTHER;
        return new Key(
                call.modelClass() == null ? modelClass : call.modelClass(),
                team,
                call.priority().label());
    }

    /** A flow's weight: its team's (1 where the policy does not list it) times its priority's. */
    int weight(Key flow) {
        return weight(teams, flow.team()) * weight(priorities, flow.priority());
    }

    private static int weight(Map<String, Integer> weights, @Nullable String name) {
        return weights.getOrDefault(name, 1);
    }

    /** What names a flow. */
    record Key(String modelClass, String team, String priority) {}
}
