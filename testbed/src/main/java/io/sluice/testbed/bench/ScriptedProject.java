package io.sluice.testbed.bench;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;

/**
 * One project by its scripts, at a time that only moves when told to: a line stands still while it is measured, and ten
 * minutes pass at once. What its calls say is as long as what a client's say.
 */
final class ScriptedProject {
    static final long SECOND = 1_000_000;
    static final long LEASE = 900 * SECOND;

    private static final String DIGEST = "0123456789abcdef";
    private static final String MEMO = "1," + CallSize.INPUT + ",0,0," + CallSize.OUTPUT_CAP;
    private static final Map<String, Long> COST =
            Map.of("rpm", 1L, "itpm", CallSize.INPUT, "otpm", CallSize.OUTPUT_CAP);

    final String id;
    private final Scripts scripts;
    private final String stamp;
    private final Map<String, List<String>> limits = new HashMap<>();
    private long now;

    /** @param id of a project with a policy in force */
    ScriptedProject(Scripts scripts, String id) {
        this.id = id;
        this.scripts = scripts;
        List<Object> policy = scripts.run("inspect", id, List.of("", "policy"));
        stamp = expect(policy, "policy").get(1).toString();
        for (Object scope : policy.subList(3, policy.size())) {
            List<Object> parts = list(scope);
            limits.put(
                    parts.get(0).toString(),
                    list(parts.get(1)).stream().map(Object::toString).toList());
        }
        List<Object> levels = scripts.run("inspect", id, List.of("", "levels"));
        now = (Long) expect(levels, "levels").get(2);
    }

    /**
     * A call as it asks.
     *
     * @param scopes what it draws on, the project first
     */
    record Asker(String id, String host, String agent, String flow, int weight, List<String> scopes) {}

    void pass(long us) {
        now += us;
    }

    /** Granted at once, or in line for an hour, or an error. */
    List<Object> acquire(Asker call) {
        return acquireLater(call).toCompletableFuture().join();
    }

    CompletionStage<List<Object>> acquireLater(Asker call) {
        List<String> arguments = new ArrayList<>(List.of(
                String.valueOf(now),
                stamp,
                call.id(),
                "",
                DIGEST,
                call.host(),
                String.valueOf(LEASE),
                MEMO,
                call.flow(),
                String.valueOf(call.weight()),
                call.agent(),
                "",
                String.valueOf(3_600 * SECOND)));
        addCosts(call, arguments);
        return scripts.start("acquire", id, arguments);
    }

    /** Ends a permit with its estimate used. */
    List<Object> settle(Asker call) {
        List<String> arguments = new ArrayList<>(List.of(String.valueOf(now), call.id(), "", "settled", ""));
        addCosts(call, arguments);
        return scripts.run("settle", id, arguments);
    }

    /** Ends a permit or a wait, as if it had never been. */
    List<Object> cancel(Asker call) {
        return scripts.run("settle", id, List.of(String.valueOf(now), call.id(), "", "cancelled", ""));
    }

    /** One host's beat with at most 64 of each. */
    List<Object> beat(String host, List<String> claims, List<String> looks) {
        List<String> arguments = new ArrayList<>(List.of(
                String.valueOf(now), host, "0", String.valueOf(claims.size()), String.valueOf(looks.size()), "0"));
        arguments.addAll(claims);
        arguments.addAll(looks);
        return scripts.run("beat", id, arguments);
    }

    /** What a beat says was granted to its host. */
    static List<String> granted(List<Object> beat) {
        List<Object> news = list(expect(beat, "beat").get(8));
        List<String> ids = new ArrayList<>();
        for (int i = 0; i < news.size(); i += 2) {
            if (news.get(i).equals("g")) {
                ids.add(news.get(i + 1).toString());
            }
        }
        return ids;
    }

    /** @throws IllegalStateException if the reply is another */
    static List<Object> expect(List<Object> reply, String code) {
        if (!reply.get(0).equals(code)) {
            throw new IllegalStateException("'" + code + "' was to be answered, not " + reply);
        }
        return reply;
    }

    @SuppressWarnings("unchecked")
    static List<Object> list(Object reply) {
        return (List<Object>) reply;
    }

    private void addCosts(Asker call, List<String> arguments) {
        for (String scope : call.scopes()) {
            // An agent's own scope is laid out as its template is.
            List<String> names = limits.getOrDefault(scope.startsWith("a:") ? "a:" : scope, List.of());
            arguments.add(scope);
            arguments.add(String.valueOf(names.size()));
            names.forEach(name -> arguments.add(String.valueOf(COST.getOrDefault(name, 0L))));
        }
    }
}
