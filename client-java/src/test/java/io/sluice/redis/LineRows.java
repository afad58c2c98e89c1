package io.sluice.redis;

import static io.sluice.redis.Scripted.MIN;
import static io.sluice.redis.Scripted.T0;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.RefillLimit;
import io.sluice.ScopeLimits;
import io.sluice.redis.Scripted.Ask;
import io.sluice.redis.Scripted.Rules;
import io.sluice.testbed.redis.RedisServer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** What the rows of the line share: a project with classes x and y, calls that ask, hosts that beat. */
abstract class LineRows {
    static final int LINES = 4;
    static final long MS = 1_000;

    private final RedisServer server;
    Scripted scripts;

    /** Hosts that a test lets live: they beat whenever somebody is to start. */
    final Set<String> alive = new LinkedHashSet<>();

    LineRows(RedisServer server) {
        this.server = server;
    }

    @BeforeEach
    void connect() {
        scripts = new Scripted(server);
    }

    @AfterEach
    void everySlotHasItsPermit() {
        try (Scripted closing = scripts) {
            Map<String, Long> inFlight = closing.recount();
            closing.inspect(-1).forEach((name, scope) -> {
                if (!name.startsWith("n:")) {
                    assertThat(scope.used()).as("in flight in %s", name).isEqualTo(inFlight.getOrDefault(name, 0L));
                }
            });
        }
    }

    // ---- a project with classes x and y

    static ScopeLimits scope(String name, long slots, RefillLimit... limits) {
        return new ScopeLimits(name, slots, List.of(limits));
    }

    /** A project without limits of its own and the classes x and y without any, but for what is given. */
    void policy(long at, Rules rules, ScopeLimits... scopes) {
        Map<String, ScopeLimits> all = new TreeMap<>(Scripted::byPlace);
        List.of("p", "c:x", "c:y").forEach(name -> all.put(name, scope(name, -1)));
        List.of(scopes).forEach(it -> all.put(it.scope(), it));
        scripts.install(at, rules, all.values().toArray(ScopeLimits[]::new));
    }

    void policy(ScopeLimits... scopes) {
        policy(T0, Rules.USUAL, scopes);
    }

    /** A call in class x that waits for a minute, from host h, of a nameless agent. */
    static Ask ask(String id, Object... costs) {
        return in("c:x", id, costs);
    }

    static Ask in(String modelClass, String id, Object... costs) {
        Map<String, Long> byName = new TreeMap<>();
        for (int i = 0; i < costs.length; i += 2) {
            byName.put((String) costs[i], ((Number) costs[i + 1]).longValue());
        }
        return Ask.of(id, Map.of("p", byName, modelClass, byName)).waiting(MIN);
    }

    /** It needs these scopes too, at the same costs. */
    static Ask with(Ask ask, String... scopes) {
        Map<String, Map<String, Long>> costs = new HashMap<>(ask.costs());
        List.of(scopes).forEach(it -> costs.put(it, ask.costs().get("p")));
        return ask.costs(costs);
    }

    Object enter(long at, Ask ask) {
        alive.add(ask.host());
        return scripts.acquire(at, ask).get(0);
    }

    void enterAll(long at, Ask... asks) {
        for (Ask ask : asks) {
            assertThat(enter(at, ask)).as(ask.id()).isEqualTo("waiting");
        }
    }

    Object end(long at, String id) {
        return scripts.settle(at, id, "settled", Map.of()).get(0);
    }

    List<String> inState(String state) {
        return scripts.permits().stream()
                .filter(permit -> permit.state().equals(state))
                .map(Scripted.Remembered::id)
                .sorted()
                .toList();
    }

    List<String> waiting() {
        return scripts.waiters().stream()
                .filter(w -> w.state().equals("waiting"))
                .map(Scripted.Waiting::id)
                .toList();
    }

    /** Every living host beats and claims all it is told of. */
    List<String> beats(long at) {
        List<String> started = new ArrayList<>();
        for (String host : List.copyOf(alive)) {
            scripts.beat(at, host);
        }
        for (String host : List.copyOf(alive)) {
            for (Object id : scripts.beat(at, host).told("g")) {
                assertThat(scripts.claim(at, host, (String) id).claims().get(0)).startsWith("granted", "n-" + id);
                started.add((String) id);
            }
        }
        return started;
    }

    /** Who starts, one after the other, where one call at a time runs; {@code running} is the first of them. */
    String order(long at, String running, int howMany) {
        StringBuilder order = new StringBuilder();
        String last = running;
        for (int i = 0; i < howMany; i++) {
            end(at, last);
            List<String> started = beats(at);
            assertThat(started).as("after %s", order).hasSize(1);
            last = started.get(0);
            order.append(last.charAt(0));
        }
        return order.toString();
    }
}
