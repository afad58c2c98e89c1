package io.sluice.redis;

import static io.sluice.redis.Scripted.S;
import static io.sluice.redis.Scripted.calendar;
import static io.sluice.redis.Scripted.perMinute;
import static io.sluice.redis.Scripted.rolling;
import static io.sluice.redis.Scripted.whole;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.CalendarTexts;
import io.sluice.RefillLimit;
import io.sluice.ScopeLimits;
import io.sluice.redis.ReferenceLine.Waiter;
import io.sluice.redis.ReferenceModel.Permit;
import io.sluice.redis.Scripted.Ask;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Random sequences with a line against {@link ReferenceScripts}: hosts that beat or fall silent, claims that come or do
 * not, cancels, deadlines, policies that change. After each step who waits, who runs, every level and every tag of the
 * line are compared exactly. A run is its seed; {@code -Dmodel.steps=N} makes runs longer, {@code -Dmodel.seeds=N} has
 * more of them, {@code -Dmodel.seed=N} just that one, {@code -Dmodel.trace=true} tells its steps.
 */
@WithRedis
class LineSequencesIT {
    private static final int STEPS = Integer.getInteger("model.steps", 300);
    private static final boolean TRACE = Boolean.getBoolean("model.trace");

    private final RedisServer server;

    LineSequencesIT(RedisServer server) {
        this.server = server;
    }

    static LongStream seeds() {
        long one = Long.getLong("model.seed", 0);
        return one > 0 ? LongStream.of(one) : LongStream.rangeClosed(1, Integer.getInteger("model.seeds", 10));
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void scriptsAndModelAgreeAfterEveryStep(long seed) {
        try (Scripted scripts = new Scripted(server)) {
            run(seed, scripts);
        }
    }

    static void run(long seed, Scripted scripts) {
        Run run = new Run(seed, scripts);
        try {
            run.go();
        } catch (RuntimeException e) {
            throw new AssertionError(run.step, e);
        }
    }

    private static final class Run {
        private static final List<String> HOSTS = List.of("h1", "h2", "h3");
        private static final List<String> AGENTS = List.of("a1", "a2", "a3", "a4", "a5", "-");
        private static final List<String> CALENDARS = CalendarTexts.of("minute UTC", "hour UTC");
        private static final List<String> CLASSES = List.of("x", "y", "z");
        private static final Map<String, Long> TEAMS = new TreeMap<>(Map.of("blue", 2L, "red", 1L, "other", 1L));
        private static final Map<String, Long> PRIORITIES = new TreeMap<>(Map.of("i", 16L, "n", 4L, "b", 1L));

        private final Random random;
        private final Scripted scripts;
        private final ReferenceScripts model = new ReferenceScripts();
        private final Map<String, Ask> asked = new HashMap<>();
        private final List<String> ids = new ArrayList<>();
        private final Set<String> scopes = new TreeSet<>();
        private final long seed;
        private final long lease;
        private final boolean shadowToo;

        /** Many more calls than can start. */
        private final boolean busy;

        private final List<String> agents;
        private final List<String> scopesSometimes;
        private long clock = Scripted.T0;

        /** What the scripts take for the time. */
        private long now = clock;

        private long latest = clock;

        private String step = "";

        Run(long seed, Scripted scripts) {
            this.seed = seed;
            this.random = new Random(seed);
            this.scripts = scripts;
            lease = pick(List.of(1_700_011L, 5_000_017L, 20_000_023L));
            shadowToo = seed % 4 == 0;
            busy = seed % 3 == 0;
            agents = seed % 5 == 0 ? AGENTS.subList(0, 2) : AGENTS;
            List<String> some = new ArrayList<>(List.of("w:prod", "w:prod|x", "t:blue", "t:blue|x", "t:red|y"));
            List<String> each = List.of("a:", "e:", "r:", "n:p", "n:c:x", "n:t:blue");
            each.stream().filter(it -> random.nextInt(3) == 0).forEach(some::add);
            scopesSometimes = some;
        }

        private <T> T pick(List<T> from) {
            return from.get(random.nextInt(from.size()));
        }

        void go() {
            install();
            for (int i = 0; i < STEPS; i++) {
                step = "seed " + seed + " step " + i + " at " + (now - Scripted.T0) + ": ";
                int kind = random.nextInt(100);
                if (kind < (busy ? 45 : 32)) {
                    acquire();
                } else if (kind < (busy ? 55 : 47)) {
                    settle();
                } else if (kind < (busy ? 80 : 66)) {
                    beat();
                } else if (kind < (busy ? 81 : 68)) {
                    install();
                } else if (kind < (busy ? 86 : 72)) {
                    giveUp();
                } else {
                    pass();
                }
                if (TRACE) {
                    System.out.println(step);
                }
                compare();
            }
            if (seed % 3 == 1) {
                theLineMovesOn();
            }
            nothingIsLeft();
        }

        // ---- steps

        private void pass() {
            List<Long> spans = List.of(1L, 137L, 1_009L, 20_011L, 99_991L, 249_989L, 333_337L, 1_000_003L, 4_999_999L);
            long by = random.nextInt(12) == 0 ? -random.nextInt(900_000) : pick(spans);
            clock = Math.max(clock + by, now - 900_000);
            long at = scripts.timeAt(clock);
            // One run expires 32 things, and the scripts have more of them than the model.
            while (at > now && model.expiry.howManyAreDue(at) > 12) {
                clock = now + (clock - now) / 2;
                at = scripts.timeAt(clock);
            }
            step += "time passes by " + by + " to " + (at - Scripted.T0);
            assertThat(at).as(step + ": a small step back freezes time").isBetween(clock, Math.max(clock, latest));
            latest = Math.max(latest, at);
            now = at;
        }

        private void install() {
            List<ScopeLimits> policy = new ArrayList<>();
            policy.add(new ScopeLimits("p", random.nextInt(3) == 0 ? -1 : random.nextInt(2, 12), limits(3)));
            for (String modelClass : CLASSES) {
                policy.add(new ScopeLimits(
                        "c:" + modelClass, random.nextInt(3) == 0 ? -1 : random.nextInt(1, 6), limits(2)));
            }
            for (String scope : scopesSometimes) {
                if (random.nextInt(5) == 0) {
                    continue;
                }
                if (scope.startsWith("n:")) {
                    policy.add(new ScopeLimits(scope, random.nextInt(2, 5), List.of()));
                } else {
                    policy.add(new ScopeLimits(scope, random.nextInt(3) == 0 ? -1 : random.nextInt(1, 4), limits(4)));
                }
            }
            boolean shadow = shadowToo && random.nextInt(2) == 0;
            Scripted.Rules rules = Scripted.Rules.USUAL
                    .waiters(random.nextInt(3) == 0 ? 10 : 36)
                    .calendars(CALENDARS);
            rules = shadow ? rules.shadow() : rules;
            step += "install " + rules + " " + policy;
            String stamp = scripts.stamp;
            Map<String, List<String>> places = Map.copyOf(scripts.names);
            scripts.install(clock, rules, policy.toArray(ScopeLimits[]::new));
            if (!scripts.stamp.equals(stamp)) {
                Map<String, Boolean> forgettable = model.budget.forgettable(now);
                model.install(now, rules, policy.toArray(ScopeLimits[]::new));
                model.budget.startAnew(scripts.moved(places), forgettable, now, step);
            }
            scopes.clear();
            policy.forEach(it -> scopes.add(it.scope()));
        }

        private List<RefillLimit> limits(int oneIn) {
            List<RefillLimit> limits = new ArrayList<>();
            // Windows that end while a run lasts.
            if (random.nextInt(2 * oneIn) == 0) {
                limits.add(calendar("turns", random.nextInt(5, 40), random.nextInt(2) + 1));
            } else if (random.nextInt(2 * oneIn) == 0) {
                limits.add(rolling("turns", random.nextInt(5, 40), 20 * S));
            }
            if (random.nextInt(oneIn) == 0) {
                limits.add(random.nextBoolean() ? perMinute("rpm", random.nextInt(20, 400)) : whole("rpm", 60));
            }
            if (random.nextInt(oneIn) == 0) {
                limits.add(perMinute("tpm", random.nextInt(1_000, 40_000), 10, random.nextInt(1, 30)));
            }
            return limits;
        }

        private Ask newAsk(String id) {
            String team = pick(List.copyOf(TEAMS.keySet()));
            String priority = pick(List.copyOf(PRIORITIES.keySet()));
            String agent = pick(agents);
            String modelClass = pick(CLASSES);
            List<String> names =
                    new ArrayList<>(List.of("p", "c:" + modelClass, "t:" + team, "t:" + team + "|" + modelClass));
            if (random.nextInt(3) == 0) {
                names.addAll(List.of("w:prod", "w:prod|" + modelClass));
            }
            names.retainAll(scopes);
            Map<String, String> each = Map.of("a:", agent, "e:", team, "r:", "run" + random.nextInt(3));
            new TreeMap<>(each).forEach((template, name) -> {
                if (scopes.contains(template)) {
                    names.add(template + name);
                }
            });
            List<String> counted = names.stream()
                    .map(name -> "n:" + name)
                    .filter(scopes::contains)
                    .toList();
            names.addAll(counted);
            long tokens = random.nextInt(8) == 0 ? random.nextInt(20_000) : random.nextInt(600);
            Map<String, Map<String, Long>> costs = new TreeMap<>();
            names.forEach(name -> costs.put(name, Map.of("rpm", 1L, "tpm", tokens, "turns", 1 + tokens % 3)));
            long wait = pick(List.of(0L, 150_001L, 2_000_003L, 30_000_049L, 120_000_007L));
            return Ask.of(id, costs)
                    .host(pick(HOSTS))
                    .lease(lease)
                    .agent(agent)
                    .flow(team + "|" + priority, TEAMS.get(team) * PRIORITIES.get(priority))
                    .waiting(wait);
        }

        /** The same call as the policy of today has it, mostly from the same host. */
        private Ask again(Ask before) {
            Map<String, Map<String, Long>> costs = new TreeMap<>(before.costs());
            costs.keySet()
                    .removeIf(name -> !scopes.contains(name)
                            && !(ReferenceModel.isMadeOnDemand(name) && scopes.contains(name.substring(0, 2))));
            Ask ask = before.costs(costs);
            return random.nextInt(6) == 0 ? ask.host(pick(HOSTS)) : ask;
        }

        private void acquire() {
            Set<String> told = model.order.waiters.values().stream()
                    .filter(w -> w.again)
                    .map(w -> w.ask.id())
                    .collect(Collectors.toCollection(TreeSet::new));
            boolean known = !ids.isEmpty() && random.nextInt(5) == 0;
            Ask ask;
            if (!told.isEmpty() && random.nextInt(2) == 0) {
                ask = again(asked.get(told.iterator().next()));
            } else if (!model.line.places.isEmpty() && random.nextInt(4) == 0) {
                ask = again(asked.get(pick(List.copyOf(model.line.places.keySet()))));
            } else if (known) {
                ask = again(asked.get(ids.get(Math.max(0, ids.size() - 1 - random.nextInt(12)))));
            } else {
                ids.add("id" + ids.size());
                ask = newAsk(ids.get(ids.size() - 1));
            }
            if (random.nextInt(30) == 0) {
                ask = ask.digest("another");
            } else {
                asked.put(ask.id(), ask);
            }
            asked.putIfAbsent(ask.id(), ask);
            step += "acquire " + ask;
            boolean nothingElse = model.order.waiters.isEmpty() && model.expiry.howManyAreDue(now) == 0;
            Map<String, String> before = scripts.rawLevels();
            List<Object> reply = scripts.acquire(clock, ask);
            step += " -> " + reply;
            ReferenceScripts.Answer expected = model.acquire(now, ask);
            if (expected.why() == null
                    || !expected.why().isForEver()
                    || reply.get(0).equals("granted")) {
                assertThat(reply.get(0)).as(step).isEqualTo(expected.code());
            } else {
                assertThat(reply.get(0)).as(step).isIn("closed", "never");
            }
            switch ((String) reply.get(0)) {
                case "granted" -> {
                    boolean wouldWait =
                            expected.why() != null && !expected.why().fits();
                    assertThat(reply).as(step).hasSize(wouldWait ? 10 : 6);
                    if (wouldWait) {
                        wouldHaveWaited(reply, expected.why());
                    }
                }
                case "waiting" -> {
                    waits(reply.subList(1, 6), expected);
                    assertThat((Long) reply.get(6)).as(step + ": next").isGreaterThanOrEqualTo(-1);
                }
                case "wait" -> waits(reply.subList(1, 6), expected);
                default -> {}
            }
            if (nothingElse && !List.of("granted", "waiting").contains(reply.get(0))) {
                Map<String, String> after = scripts.rawLevels();
                // Idle ones may be swept.
                List.of(before, after).forEach(it -> it.keySet().removeIf(Run::isOfOnDemand));
                assertThat(after).as(step + ": a refusal writes no level").isEqualTo(before);
            }
        }

        private static boolean isOfOnDemand(String field) {
            return ReferenceModel.isMadeOnDemand(
                    field.startsWith("~") || field.startsWith("+") ? field.substring(1) : field);
        }

        private void wouldHaveWaited(List<Object> reply, ReferenceModel.Shortage why) {
            if (why.isForEver()) {
                assertThat(reply.get(6)).as(step).isEqualTo(-1L);
            } else {
                assertThat(reply.get(7)).as(step + ": exact").isEqualTo(why.exactUs());
                assertThat((Long) reply.get(6)).as(step).isGreaterThanOrEqualTo(why.exactUs());
                assertThat((Long) reply.get(6)).as(step).isPositive();
            }
            if (!why.decides().isEmpty()) {
                assertThat(reply.get(8) + " " + reply.get(9)).as(step).isIn(why.decides());
            }
        }

        /** The five values that say how long and for what. */
        private void waits(List<Object> told, ReferenceScripts.Answer expected) {
            ReferenceModel.Shortage why = expected.why();
            if (why != null) {
                assertThat(told.get(1)).as(step + ": exact").isEqualTo(why.exactUs());
            }
            ReferenceLine.Position position = expected.position();
            boolean right = position == null ? told.get(4).equals(0L) : position.allows((Long) told.get(4));
            assertThat(right).as(step + ": " + position).isTrue();
            assertThat((Long) told.get(0)).as(step + ": wait").isPositive().isGreaterThanOrEqualTo((Long) told.get(1));
            if (why != null && !why.decides().isEmpty()) {
                assertThat(told.get(2) + " " + told.get(3)).as(step).isIn(why.decides());
            }
        }

        private void settle() {
            List<String> known = new ArrayList<>(model.order.waiters.keySet());
            known.addAll(model.line.places.keySet());
            model.budget.permits.forEach((id, permit) -> known.add(id));
            if (random.nextInt(8) > 0) {
                known.removeIf(id -> !model.budget.permits.containsKey(id)
                        || !Set.of("running", "granted").contains(model.budget.permits.get(id).state));
            }
            String id = known.isEmpty() ? "stranger" : pick(known);
            String how = pick(List.of("settled", "settled", "settled", "cancelled", "throttled", "undone"));
            Permit permit = model.budget.permits.get(id);
            Map<String, Map<String, Long>> used = new TreeMap<>();
            if (permit != null && random.nextInt(5) > 0) {
                long tokens = random.nextInt(6) == 0 ? random.nextInt(4_000) : random.nextInt(600);
                long requests = random.nextInt(2);
                permit.costs
                        .keySet()
                        .forEach(scope -> used.put(scope, Map.of("rpm", requests, "tpm", tokens, "turns", tokens % 5)));
            }
            step += how + " " + id + " " + used;
            boolean nothing = how.equals("cancelled") || how.equals("undone");
            List<Object> reply = scripts.settle(clock, id, how, nothing ? Map.of() : used);
            step += " -> " + reply;
            ends(reply, model.settle(now, id, how, used));
        }

        private void ends(List<Object> reply, ReferenceModel.Ending expected) {
            if (expected.state().equals("unknown")) {
                assertThat(reply).as(step).containsExactly("unknown");
            } else {
                assertThat(reply.subList(0, 3))
                        .as(step)
                        .containsExactly("ended", expected.state(), expected.already() ? 1L : 0L);
            }
        }

        private void giveUp() {
            List<String> waiters = new ArrayList<>(model.order.waiters.keySet());
            HOSTS.forEach(host -> waiters.addAll(inState("granted", host)));
            waiters.addAll(model.line.places.keySet());
            if (waiters.isEmpty()) {
                return;
            }
            String id = pick(waiters);
            long place = pick(List.of(500_029L, 2_000_081L, 10_000_079L));
            step += "refused " + id + ", place kept for " + place;
            List<Object> reply = scripts.refused(clock, id, place);
            step += " -> " + reply;
            boolean was = model.refused(now, id, place);
            assertThat(reply.get(0)).as(step).isEqualTo(was ? "ended" : "unknown");
        }

        private void beat() {
            String host = pick(HOSTS);
            List<String> permits = inState("running", host);
            List<String> claims = inState("granted", random.nextInt(10) == 0 ? pick(HOSTS) : host);
            claims.removeIf(id -> random.nextInt(4) == 0);
            if (random.nextInt(5) == 0 && !ids.isEmpty()) {
                claims.add(pick(ids));
            }
            List<String> looks =
                    ids.stream().filter(id -> random.nextInt(ids.size()) < 4).toList();
            step += "beat of " + host + " claims " + claims + " looks " + looks;
            Scripted.Beat reply = scripts.beat(clock, host, permits, claims, looks);
            step += " -> " + reply.reply();
            ReferenceScripts.Beat expected = model.beat(now, host, permits, claims, looks);
            assertThat(reply.renewed()).as(step + ": renewed").isEqualTo(List.copyOf(expected.renewed()));
            assertThat(reply.claims().stream().map(it -> it.get(0)))
                    .as(step + ": claims")
                    .isEqualTo(expected.claims());
            assertThat(new TreeSet<>(reply.told("g")))
                    .as(step + ": grants told")
                    .isEqualTo(expected.grants());
            assertThat(new TreeSet<>(reply.told("s")))
                    .as(step + ": submit again")
                    .isEqualTo(expected.again());
            assertThat(reply.hosts()).as(step + ": hosts").isEqualTo(expected.hosts());
            assertThat(reply.more()).as(step + ": more").isEqualTo(expected.more());
            for (int i = 0; i < looks.size(); i++) {
                List<Object> look = reply.looks().get(i);
                ReferenceScripts.Answer answer = expected.looks().get(i);
                assertThat(look.get(0)).as(step + ": look at " + looks.get(i)).isEqualTo(answer.code());
                if (answer.code().equals("waiting")) {
                    waits(look.subList(1, 6), answer);
                }
            }
        }

        private List<String> inState(String state, String host) {
            List<String> found = new ArrayList<>();
            model.budget.permits.forEach((id, permit) -> {
                if (permit.state.equals(state) && asked.get(id).host().equals(host)) {
                    found.add(id);
                }
            });
            found.sort(Comparator.naturalOrder());
            return found;
        }

        // ---- after each step

        private void compare() {
            compareWaiters();
            comparePermits();
            compareOrder();
            compareLevels();
        }

        private static String told(String id, String state, Ask ask, long deadline) {
            String modelClass = ask.costs().keySet().stream()
                    .filter(name -> name.startsWith("c:"))
                    .findFirst()
                    .orElse("");
            return String.join(" ", id, state, ask.host(), modelClass, ask.flow(), ask.agent())
                    + " until "
                    + (deadline - Scripted.T0);
        }

        private void compareWaiters() {
            List<Waiter> expected = new ArrayList<>(model.order.waiters.values());
            expected.addAll(model.line.places.values());
            expected.sort(Comparator.comparingLong(w -> w.arrival));
            List<String> is = scripts.waiters().stream()
                    .filter(w -> !w.state().equals("place"))
                    .map(w -> String.join(" ", w.id(), w.state(), w.host(), "c:" + w.modelClass(), w.flow(), w.agent())
                            + " until "
                            + (w.deadline() - Scripted.T0))
                    .toList();
            assertThat(is)
                    .as(step + ": who waits, by arrival")
                    .isEqualTo(expected.stream()
                            .filter(w -> !model.line.places.containsKey(w.ask.id()))
                            .map(w -> told(w.ask.id(), w.again ? "again" : "waiting", w.ask, w.deadline))
                            .toList());
            assertThat(scripts.waiters().stream().map(Scripted.Waiting::id))
                    .as(step + ": waiters and places, by arrival")
                    .isEqualTo(expected.stream().map(w -> w.ask.id()).toList());
        }

        private void comparePermits() {
            Map<String, String> is = new TreeMap<>();
            scripts.permits().forEach(permit -> is.put(permit.id(), permit.state()));
            Map<String, String> expected = new TreeMap<>();
            model.budget.permits.forEach((id, permit) -> expected.put(id, permit.state));
            assertThat(is).as(step + ": permits").isEqualTo(expected);
        }

        private void compareOrder() {
            Scripted.Line is = scripts.line();
            ReferenceOrder order = model.order;
            assertThat(is.waiting()).as(step + ": waiting").isEqualTo(order.waiters.size());
            assertThat(is.clock()).as(step + ": the clock of the project").isEqualTo(order.clock);
            Set<String> classes = new TreeSet<>(is.classes().keySet());
            classes.addAll(order.classes.keySet());
            for (String name : classes) {
                ReferenceOrder.ClassLine expected = order.classes.getOrDefault(name, new ReferenceOrder.ClassLine());
                Scripted.LineOfClass held = is.classes().getOrDefault(name, new Scripted.LineOfClass(0, 0, 0, ""));
                int waiting = order.waitingIn(name).size();
                String what = step + ": class " + name + ", " + held;
                assertThat(held.waiting()).as(what).isEqualTo(waiting);
                // Of one where nobody waits only what the next one would start from counts.
                assertThat(Math.max(held.tag(), is.clock()))
                        .as(what + " tag")
                        .isEqualTo(Math.max(expected.tag, order.clock));
                if (waiting > 0) {
                    assertThat(held.clock()).as(what + " clock").isEqualTo(expected.clock);
                    assertThat(held.firm()).as(what + " firm").isEqualTo(expected.firm == null ? "" : expected.firm);
                    compareFlows(is, name, expected);
                }
            }
        }

        private void compareFlows(Scripted.Line is, String modelClass, ReferenceOrder.ClassLine expected) {
            Map<String, String> held = new TreeMap<>();
            is.flows().forEach((flow, it) -> {
                long tag = Math.max(it.tag(), expected.clock);
                if (flow.startsWith(modelClass + " ") && (it.waiting() > 0 || tag > expected.clock)) {
                    held.put(flow.substring(modelClass.length() + 1), it.waiting() + " waiting, tag " + tag);
                }
            });
            Map<String, String> wanted = new TreeMap<>();
            expected.flows.forEach((flow, it) -> {
                int waiting = model.order.waitingIn(modelClass, flow).size();
                long tag = Math.max(it, expected.clock);
                if (waiting > 0 || tag > expected.clock) {
                    wanted.put(flow, waiting + " waiting, tag " + tag);
                }
            });
            assertThat(held).as(step + ": flows of " + modelClass).isEqualTo(wanted);
        }

        private void compareLevels() {
            Map<String, Scripted.Scope> held = scripts.inspect(clock);
            model.budget.templates.forEach((name, it) -> it.limits
                    .keySet()
                    .removeIf(limit ->
                            !held.containsKey(name) || !held.get(name).limits().containsKey(limit)));
            held.keySet().removeIf(name -> name.length() == 2);
            Map<String, Long> inFlight = scripts.recount();
            Map<String, ReferenceModel.Scope> all = model.budget.scopes;
            for (String name : List.copyOf(all.keySet())) {
                if (!held.containsKey(name)) {
                    assertThat(all.get(name).isIdle(now)
                                    && !scopes.contains(name)
                                    && model.line.parkedOn(name).isEmpty())
                            .as(step + ": " + name + " was swept")
                            .isTrue();
                    all.remove(name);
                }
            }
            held.forEach((name, is) -> {
                ReferenceModel.Scope expected = all.getOrDefault(name, model.budget.look(name, now));
                assertThat(is.used()).as(step + ": used of " + name).isEqualTo(expected.used);
                if (!name.startsWith("n:")) {
                    assertThat(is.used()).as(step + ": recount of " + name).isEqualTo(inFlight.getOrDefault(name, 0L));
                }
                expected.limits
                        .entrySet()
                        .removeIf(limit -> !is.limits().containsKey(limit.getKey())
                                && !limit.getValue().active
                                && model.budget.forget(name, limit.getKey(), now));
                expected.limits.forEach((limit, level) -> {
                    Scripted.Level found = is.limits().get(limit);
                    String what = step + ": " + limit + " of " + name;
                    assertThat(found).as(what).isNotNull();
                    assertThat(found.level())
                            .as(what)
                            .isEqualTo(expected.levelAt(now, level).longValueExact());
                    assertThat(found.active()).as(what).isEqualTo(level.active);
                    assertThat(found.admitted())
                            .as(what + ", admitted")
                            .isEqualTo(level.admittedIn(now).longValueExact());
                });
            });
        }

        // ---- at the end

        /**
         * Hosts beat, claim, submit again and settle at once, and nobody new comes: all that wait start or pass their
         * deadline, and where nothing runs and everybody would fit somebody starts.
         */
        private void theLineMovesOn() {
            for (int round = 0; !model.order.waiters.isEmpty(); round++) {
                step = "seed " + seed + ", nobody comes any more, round " + round + ": ";
                assertThat(round).as(step).isLessThan(2 * 130);
                clock += 500_000;
                now = scripts.timeAt(clock);
                for (String host : HOSTS) {
                    serveHost(host);
                }
                boolean runs = model.budget.permits.values().stream()
                        .anyMatch(permit -> Set.of("running", "granted").contains(permit.state));
                List<Waiter> waiting = model.order.waiters.values().stream()
                        .filter(w -> !w.again)
                        .toList();
                if (!runs && !waiting.isEmpty()) {
                    assertThat(waiting)
                            .as(step + "everybody would fit and nobody starts")
                            .anyMatch(w -> !model.line.shortage(w, now).fits());
                }
                compare();
            }
        }

        private void serveHost(String host) {
            List<String> claims = inState("granted", host);
            Scripted.Beat reply = scripts.beat(clock, host, inState("running", host), claims, List.of());
            model.beat(now, host, inState("running", host), claims, List.of());
            for (Object id : reply.told("s")) {
                Ask ask = again(asked.get((String) id)).host(host);
                asked.put(ask.id(), ask);
                assertThat(scripts.acquire(clock, ask).get(0)).as(step + ask).isNotEqualTo("stale");
                model.acquire(now, ask);
            }
            for (String id : inState("running", host)) {
                scripts.settle(clock, id, "settled", Map.of());
                model.settle(now, id, "settled", Map.of());
            }
        }

        /** Whoever gives up, ends or is forgotten leaves nothing behind. */
        private void nothingIsLeft() {
            step = "seed " + seed + ", at the end: ";
            for (String id : List.copyOf(model.order.waiters.keySet())) {
                scripts.settle(clock, id, "cancelled", Map.of());
                model.settle(now, id, "cancelled", Map.of());
            }
            for (String id : List.copyOf(model.budget.permits.keySet())) {
                scripts.settle(clock, id, "settled", Map.of());
                model.settle(now, id, "settled", Map.of());
            }
            for (String id : List.copyOf(model.order.waiters.keySet())) {
                scripts.settle(clock, id, "cancelled", Map.of());
                model.settle(now, id, "cancelled", Map.of());
            }
            compare();
            scripts.inspect(clock).forEach((name, scope) -> {
                if (!name.startsWith("n:")) {
                    assertThat(scope.used()).as(step + "in flight in " + name).isZero();
                }
            });
            clock += 3 * 3600 * S;
            while (scripts.beat(clock, "other").more()) {
                assertThat(scripts.waiters()).as(step).isNotNull();
            }
            String[] keys = scripts.keys.all();
            assertThat(scripts.redis.hkeys(keys[2])).as(step + "permits").containsExactly("!");
            assertThat(scripts.redis.hkeys(keys[3])).as(step + "waiters").containsExactly("!");
            assertThat(scripts.redis.zrange(keys[4], 0, -1)).as(step + "lines").containsExactly("!");
            assertThat(scripts.redis.zrange(keys[5], 0, -1))
                    .as(step + "times: the ends of windows at most")
                    .contains("!")
                    .allMatch(it -> it.equals("!") || (it.startsWith("$") && scopes.contains(it.substring(1))));
            scripts.inspect(clock).forEach((name, scope) -> {
                assertThat(scope.used()).as(step + "in flight in " + name).isZero();
                if (ReferenceModel.isMadeOnDemand(name)) {
                    assertThat(name).as(step + "swept").hasSize(2);
                }
            });
        }
    }
}
