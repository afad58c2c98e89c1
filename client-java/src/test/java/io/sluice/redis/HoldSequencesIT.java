package io.sluice.redis;

import static io.sluice.redis.Scripted.MIN;
import static io.sluice.redis.Scripted.S;
import static io.sluice.redis.Scripted.T0;
import static io.sluice.redis.Scripted.whole;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.ScopeLimits;
import io.sluice.redis.Scripted.Ask;
import io.sluice.redis.Scripted.Hold;
import io.sluice.redis.Scripted.Remembered;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What must hold of holds whatever happens: nobody of a closed scope starts, no more of an opening one run than it lets in, and in
 * the end nothing of it is left. Random steps; the seed is in the test's name.
 */
@WithRedis
class HoldSequencesIT {
    private static final int STEPS = Integer.getInteger("model.steps", 300);
    private static final int SEEDS = Integer.getInteger("model.seeds", 8);
    private static final List<String> SCOPES = List.of("p", "c:m", "c:o", "t:red", "a:x");
    private static final List<String> KINDS = List.of("input", "concurrency", "overload");

    private final RedisServer server;

    HoldSequencesIT(RedisServer server) {
        this.server = server;
    }

    static List<Long> seeds() {
        Long one = Long.getLong("model.seed");
        List<Long> seeds = new ArrayList<>();
        for (long seed = 1; seed <= SEEDS; seed++) {
            seeds.add(one == null ? seed : one);
        }
        return one == null ? seeds : List.of(one);
    }

    @ParameterizedTest(name = "seed {0}")
    @MethodSource("seeds")
    void nobodyStartsWhereAScopeIsClosed(long seed) {
        try (Scripted scripts = new Scripted(server)) {
            run(seed, scripts);
        }
    }

    /** The policy has no limits for each agent, team or run: operators hold them by name. */
    @ParameterizedTest(name = "seed {0}")
    @MethodSource("seeds")
    void nobodyStartsWhoIsHeldByName(long seed) {
        try (Scripted scripts = new Scripted(server)) {
            run(seed, scripts, true);
        }
    }

    static void run(long seed, Scripted scripts) {
        run(seed, scripts, false);
    }

    private static void run(long seed, Scripted scripts, boolean byName) {
        Run run = new Run(scripts, new Random(seed), byName);
        for (int step = 0; step < STEPS; step++) {
            run.step();
        }
        run.drain();
    }

    private static final class Run {
        private final Scripted scripts;
        private final Random random;
        private final boolean byName;
        private long now = T0;
        private int asked;
        private Map<String, Remembered> before = Map.of();
        private Map<String, Hold> held = Map.of();
        private final Map<String, Map<String, Map<String, Long>>> costs = new HashMap<>();

        /** By call: its agent, team and run. */
        private final Map<String, Set<String>> names = new HashMap<>();

        Run(Scripted scripts, Random random, boolean byName) {
            this.scripts = scripts;
            this.random = random;
            this.byName = byName;
            List<ScopeLimits> policy = new ArrayList<>(List.of(
                    new ScopeLimits("p", 12, List.of()),
                    new ScopeLimits("c:m", 8, List.of(whole("rpm", 600))),
                    new ScopeLimits("c:o", -1, List.of(whole("rpm", 6_000))),
                    new ScopeLimits("t:red", 5, List.of())));
            if (!byName) {
                policy.add(new ScopeLimits("a:", 3, 100, List.of()));
            }
            scripts.install(T0, policy.toArray(ScopeLimits[]::new));
        }

        void step() {
            now += random.nextInt(4) == 0 ? random.nextLong(5 * S) : random.nextLong(S / 10);
            switch (random.nextInt(10)) {
                case 0, 1, 2, 3 -> ask();
                case 4, 5 -> end("settled");
                case 6 -> reject();
                case 7, 8 -> beat();
                default -> {
                    release();
                    order();
                }
            }
            check();
        }

        private void ask() {
            String id = "r" + asked++;
            String agent = random.nextBoolean() ? "x" : "y";
            Map<String, Map<String, Long>> call = new HashMap<>();
            call.put("p", Map.of());
            call.put(random.nextBoolean() ? "c:m" : "c:o", Map.of("rpm", 1L));
            if (random.nextBoolean()) {
                call.put("t:red", Map.of());
            }
            if (!byName) {
                call.put("a:" + agent, Map.of());
            }
            String team = call.containsKey("t:red") ? "red" : random.nextBoolean() ? "blue" : "green";
            String run = "r:" + random.nextInt(3);
            names.put(id, byName ? Set.of("a:" + agent, "e:" + team, run) : Set.of());
            costs.put(id, call);
            scripts.acquire(
                    now,
                    Ask.of(id, call)
                            .host("h" + random.nextInt(2))
                            .agent(agent)
                            .flow(team.equals("green") ? "other|n" : team + "|n", 4)
                            .names(team.equals("green") ? "e:green " + run : run)
                            .waiting(random.nextInt(3) == 0 ? 0 : random.nextLong(MIN)));
        }

        private List<Remembered> running() {
            return scripts.permits().stream()
                    .filter(permit -> permit.state().equals("running"))
                    .toList();
        }

        private void end(String how) {
            List<Remembered> running = running();
            if (!running.isEmpty()) {
                String id = running.get(random.nextInt(running.size())).id();
                scripts.settle(now, id, how, costs.get(id));
            }
        }

        private void reject() {
            List<Remembered> running = running();
            if (running.isEmpty() || random.nextInt(3) != 0) {
                return;
            }
            Remembered permit = running.get(random.nextInt(running.size()));
            List<String> scopes = permit.scopes();
            long wait = random.nextInt(4) == 0 ? -2 : random.nextLong(10 * S);
            scripts.hold(
                    now,
                    scopes.get(random.nextInt(scopes.size())),
                    wait,
                    KINDS.get(random.nextInt(KINDS.size())),
                    permit.granted());
            held = byScope();
            before = byId();
            scripts.settle(now, permit.id(), "throttled", costs.get(permit.id()));
        }

        private void order() {
            List<String> holds = List.of("a:x", "a:y", "e:red", "e:blue", "e:green", "r:0", "r:1");
            if (byName && random.nextInt(3) == 0) {
                String name = holds.get(random.nextInt(holds.size()));
                if (random.nextBoolean()) {
                    scripts.hold(now, name, 1 + random.nextLong(10 * S), "operator", 0);
                } else {
                    scripts.observe(now, List.of("release", name));
                }
            }
        }

        /** What a call draws on, and what it is held by. */
        private Set<String> scopes(Remembered permit) {
            Set<String> all = new HashSet<>(permit.scopes());
            all.addAll(names.get(permit.id()));
            return all;
        }

        private void beat() {
            for (String host : List.of("h0", "h1")) {
                List<String> running = running().stream()
                        .filter(permit -> permit.host().equals(host))
                        .map(Remembered::id)
                        .toList();
                scripts.beat(now, host, running, List.of(), List.of());
                // A beat that granted told of it; the next claims.
                List<String> granted = scripts.permits().stream()
                        .filter(permit -> permit.state().equals("granted")
                                && permit.host().equals(host))
                        .map(Remembered::id)
                        .toList();
                check();
                scripts.beat(now, host, List.of(), granted, List.of());
            }
        }

        private void release() {
            if (random.nextInt(4) == 0) {
                scripts.observe(now, List.of("release", SCOPES.get(random.nextInt(SCOPES.size()))));
            }
        }

        private Map<String, Hold> byScope() {
            return scripts.holds().stream().collect(Collectors.toMap(Hold::scope, Function.identity()));
        }

        private Map<String, Remembered> byId() {
            return scripts.permits().stream()
                    .filter(Remembered::inFlight)
                    .collect(Collectors.toMap(Remembered::id, Function.identity()));
        }

        private void check() {
            Map<String, Hold> holds = byScope();
            Map<String, Remembered> inFlight = byId();
            for (Remembered permit : inFlight.values()) {
                for (String scope : before.containsKey(permit.id()) ? Set.<String>of() : scopes(permit)) {
                    Hold was = held.get(scope);
                    Hold is = holds.get(scope);
                    boolean closed = is != null && is.opened() == 0 && was != null && was.opened() == 0;
                    assertThat(closed)
                            .as("%s started at %s in %s, closed: %s", permit, now, scope, is)
                            .isFalse();
                }
            }
            for (Hold hold : holds.values()) {
                if (hold.opened() > 0) {
                    long counted = inFlight.values().stream()
                            .filter(permit -> scopes(permit).contains(hold.scope()))
                            .filter(permit -> permit.granted() >= hold.counts())
                            .count();
                    assertThat(hold.used()).as("%s", hold).isEqualTo(counted);
                    if (!hold.kind().equals("concurrency")) {
                        assertThat(hold.used()).as("%s", hold).isLessThanOrEqualTo(hold.most());
                    }
                }
            }
            scripts.recount()
                    .forEach((scope, count) -> assertThat(
                                    scripts.inspect(now).get(scope).used())
                            .as(scope)
                            .isEqualTo(count));
            before = inFlight;
            held = holds;
        }

        /** All that wait start or give up, what runs ends, and no hold stays. */
        void drain() {
            for (int round = 0; round < 400; round++) {
                now += S / 2;
                beat();
                running().forEach(permit -> scripts.settle(now, permit.id(), "settled", costs.get(permit.id())));
            }
            assertThat(scripts.waiters()).isEmpty();
            assertThat(byId()).isEmpty();
            now += 11 * MIN;
            for (int round = 0; scripts.beat(now, "h0").more(); round++) {
                assertThat(round).isLessThan(100);
            }
            assertThat(scripts.holds()).isEmpty();
            String due = scripts.redis.hget(scripts.keys.all()[1], "!due");
            assertThat(due).isNotEqualTo("0");
        }
    }
}
