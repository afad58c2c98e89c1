package io.sluice.redis;

import io.lettuce.core.LettuceFutures;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.sluice.RefillLimit;
import io.sluice.ScopeLimits;
import io.sluice.Weights;
import io.sluice.testbed.redis.RedisServer;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** Runs the scripts of one project by hand, at a time of the test's choosing. Costs go by limit name. */
final class Scripted implements AutoCloseable {
    static final long S = 1_000_000;
    static final long MIN = 60 * S;
    static final long T0 = 1_796_000_000L * S;

    final String project = "t-" + UUID.randomUUID();
    final Keys keys = Keys.of(project);
    final RedisCommands<String, String> redis;
    private final RedisClient client;
    private final StatefulRedisPubSubConnection<String, String> connection;
    private boolean listening;

    String stamp = "";

    /** Limit names by position, and which are active, as {@code inspect policy} tells. */
    final Map<String, List<String>> names = new HashMap<>();

    private final Map<String, List<Object>> active = new HashMap<>();

    /** The layout each id was asked with: a permit settles against what it took. */
    private final Map<String, Layout> askedWith = new HashMap<>();

    private record Layout(Map<String, List<String>> names, Map<String, List<Object>> active) {}

    /** Who runs which script; whoever may do everything, if nobody. */
    private final Map<Script, StatefulRedisConnection<String, String>> users = new EnumMap<>(Script.class);

    Scripted(RedisServer server) {
        client = RedisClient.create(server.uri());
        connection = client.connectPubSub();
        redis = connection.sync();
    }

    /** From now on this script is run by whom the address names. */
    Scripted as(Script script, String uri) {
        users.put(script, client.connect(RedisURI.create(uri)));
        return this;
    }

    /** Headroom 0.9, burst 5 s, as a policy's defaults have it. */
    static RefillLimit perMinute(String name, long amount) {
        return perMinute(name, amount, 9, 5);
    }

    static RefillLimit perMinute(String name, long amount, long headroomTenths, long burstSeconds) {
        long rate = amount * headroomTenths;
        return new RefillLimit(
                name,
                rate,
                600 * S,
                1,
                rate * burstSeconds * S,
                amount * headroomTenths / 10,
                MIN,
                amount,
                Math.max(1, amount),
                new Weights(1, 1, 0, 0, 0, 0));
    }

    /** Capacity = limit, no headroom: what many a scenario from the field assumes. */
    static RefillLimit whole(String name, long amount) {
        return perMinute(name, amount, 10, 60);
    }

    /** A limit by windows of the calendar: the one at that place, from 1. A minute has 1/1440 of it. */
    static RefillLimit calendar(String name, long amount, int calendar) {
        return window(name, amount, Math.max(1, amount / 1_440), 0, 0, calendar);
    }

    /** A limit by rolling windows. */
    static RefillLimit rolling(String name, long amount, long periodUs) {
        long minute = Math.max(1, amount * MIN / periodUs);
        return window(name, amount, minute, periodUs, (periodUs + 59) / 60, 0);
    }

    private static RefillLimit window(String name, long amount, long minute, long spanUs, long widthUs, int calendar) {
        return new RefillLimit(
                name,
                0,
                1,
                1,
                amount,
                amount,
                spanUs,
                amount,
                minute,
                new Weights(1, 1, 0, 0, 0, 0),
                widthUs,
                calendar,
                1_000_000,
                RefillLimit.Finds.NONE);
    }

    /** A project without limits of its own, with one class {@code c:m}. */
    static ScopeLimits[] modelClass(long slots, RefillLimit... limits) {
        return new ScopeLimits[] {
            new ScopeLimits("p", ScopeLimits.UNLIMITED, List.of()), new ScopeLimits("c:m", slots, List.of(limits))
        };
    }

    /** What a call of that class costs. */
    static Map<String, Map<String, Long>> costs(Map<String, Long> ofClass) {
        return Map.of("p", Map.of(), "c:m", ofClass);
    }

    /**
     * What a policy says besides its limits.
     *
     * @param mode {@code enforce} or {@code shadow}
     * @param most names there may be of each template, by the template's scope
     * @param calendars what the windows of its calendar limits go by
     */
    record Rules(String mode, long maxWaiters, Map<String, Long> most, List<String> calendars) {
        static final Rules USUAL = new Rules("enforce", 10_000, Map.of(), List.of());

        Rules waiters(long maxWaiters) {
            return new Rules(mode, maxWaiters, most, calendars);
        }

        Rules shadow() {
            return new Rules("shadow", maxWaiters, most, calendars);
        }

        Rules calendars(List<String> calendars) {
            return new Rules(mode, maxWaiters, most, calendars);
        }

        Rules most(String template, long names) {
            Map<String, Long> more = new TreeMap<>(most);
            more.put(template, names);
            return new Rules(mode, maxWaiters, more, calendars);
        }
    }

    List<Object> install(long now, ScopeLimits... scopes) {
        return install(now, 0, "", Rules.USUAL, scopes);
    }

    List<Object> install(long now, Rules rules, ScopeLimits... scopes) {
        return install(now, 0, "", rules, scopes);
    }

    List<Object> install(long now, long held, String expected, ScopeLimits... scopes) {
        return install(now, held, expected, Rules.USUAL, scopes);
    }

    List<Object> install(long now, long held, String expected, Rules rules, ScopeLimits... scopes) {
        String content = rules + " " + List.of(scopes);
        List<String> arguments = new ArrayList<>(List.of(
                time(now),
                UUID.randomUUID().toString().substring(0, 8),
                Long.toString(held),
                expected,
                Integer.toHexString(content.hashCode()),
                content,
                "test",
                rules.mode(),
                Long.toString(rules.maxWaiters()),
                Integer.toString(scopes.length),
                Integer.toString(rules.calendars().size())));
        arguments.addAll(rules.calendars());
        for (ScopeLimits scope : scopes) {
            Arguments.addScope(arguments, scope, rules.most().getOrDefault(scope.scope(), 0L));
        }
        List<Object> reply = run(Script.POLICY, arguments);
        if (reply.get(0).equals("installed") || reply.get(0).equals("unchanged")) {
            stamp = (String) reply.get(1);
            learnLayout();
        }
        return reply;
    }

    @SuppressWarnings("unchecked")
    private void learnLayout() {

        List<Object> policy = run(Script.INSPECT, List.of("", "policy"));
        for (Object scope : policy.subList(3, policy.size())) {
            List<Object> parts = (List<Object>) scope;
            names.put((String) parts.get(0), (List<String>) parts.get(1));
            active.put((String) parts.get(0), (List<Object>) parts.get(2));
        }
    }

    /** Limits that have another place than then: scope and name of each. */
    List<String[]> moved(Map<String, List<String>> before) {
        List<String[]> moved = new ArrayList<>();
        before.forEach((scope, limits) -> {
            List<String> after = names.getOrDefault(scope, List.of());
            for (String limit : limits) {
                if (after.contains(limit) && after.indexOf(limit) != limits.indexOf(limit)) {
                    moved.add(new String[] {scope, limit});
                }
            }
        });
        return moved;
    }

    static final long LEASE = 30 * S;

    /**
     * One call as it asks for a permit.
     *
     * @param waitUs how long it may stand in line; 0 = never, it only tries
     */
    record Ask(
            String id,
            String digest,
            String host,
            long leaseUs,
            String flow,
            long weight,
            String agent,
            String names,
            long waitUs,
            Map<String, Map<String, Long>> costs) {

        /** Of a nameless agent, of normal priority and of no team. It only tries. */
        static Ask of(String id, Map<String, Map<String, Long>> costs) {
            return new Ask(id, "d", "h", LEASE, "other|n", 4, "-", "", 0, costs);
        }

        Ask id(String other) {
            return new Ask(other, digest, host, leaseUs, flow, weight, agent, names, waitUs, costs);
        }

        Ask digest(String other) {
            return new Ask(id, other, host, leaseUs, flow, weight, agent, names, waitUs, costs);
        }

        Ask host(String other) {
            return new Ask(id, digest, other, leaseUs, flow, weight, agent, names, waitUs, costs);
        }

        Ask lease(long us) {
            return new Ask(id, digest, host, us, flow, weight, agent, names, waitUs, costs);
        }

        Ask flow(String other, long itsWeight) {
            return new Ask(id, digest, host, leaseUs, other, itsWeight, agent, names, waitUs, costs);
        }

        Ask agent(String other) {
            return new Ask(id, digest, host, leaseUs, flow, weight, other, names, waitUs, costs);
        }

        /** What else an operator can hold it by. */
        Ask names(String other) {
            return new Ask(id, digest, host, leaseUs, flow, weight, agent, other, waitUs, costs);
        }

        Ask waiting(long us) {
            return new Ask(id, digest, host, leaseUs, flow, weight, agent, names, us, costs);
        }

        Ask costs(Map<String, Map<String, Long>> other) {
            return new Ask(id, digest, host, leaseUs, flow, weight, agent, names, waitUs, other);
        }
    }

    List<Object> acquire(long now, String id, Map<String, Map<String, Long>> costs) {
        return acquire(now, Ask.of(id, costs));
    }

    List<Object> acquire(
            long now, String id, String digest, String host, long lease, Map<String, Map<String, Long>> costs) {
        return acquire(now, Ask.of(id, costs).digest(digest).host(host).lease(lease));
    }

    List<Object> acquire(long now, Ask ask) {
        return acquire(now, ask, "n-" + ask.id());
    }

    List<Object> acquire(long now, Ask ask, String nonce) {
        List<String> arguments = new ArrayList<>(List.of(
                time(now),
                stamp,
                ask.id(),
                nonce,
                ask.digest(),
                ask.host(),
                Long.toString(ask.leaseUs()),
                "memo",
                ask.flow(),
                Long.toString(ask.weight()),
                ask.agent(),
                ask.names(),
                Long.toString(ask.waitUs())));
        addCosts(arguments, ask.costs(), layout());
        List<Object> reply = run(Script.ACQUIRE, arguments);
        if (reply.get(0).equals("waiting")
                || (reply.get(0).equals("granted") && reply.get(5).equals(0L))) {
            askedWith.put(ask.id(), layout());
        }
        return reply;
    }

    List<Object> settle(long now, String id, String how, Map<String, Map<String, Long>> used) {
        List<String> arguments = new ArrayList<>(List.of(time(now), id, "n-" + id, how, ""));
        addCosts(arguments, used, askedWith.getOrDefault(id, layout()));
        return run(Script.SETTLE, arguments);
    }

    /** Ends what goes by that nonce, as undone by a host or withdrawn. */
    List<Object> end(long now, String id, String nonce, String how, String host) {
        return run(Script.SETTLE, List.of(time(now), id, nonce, how, host));
    }

    /** Who goes by an id. */
    List<Object> find(long now, String id) {
        return run(Script.INSPECT, List.of(time(now), "call", id));
    }

    /** What a permit used that was given and ended while Redis was out. */
    List<Object> spent(long now, String id, String underStamp, Map<String, Map<String, Long>> used) {
        List<String> arguments = new ArrayList<>(List.of(time(now), id, "n-" + id, "spent", "memo", underStamp));
        addCosts(arguments, used, layout());
        return run(Script.SETTLE, arguments);
    }

    /** A caller that gave up at its deadline; its place is kept that long. */
    List<Object> refused(long now, String id, long placeUs) {
        return run(Script.SETTLE, List.of(time(now), id, "n-" + id, "refused", Long.toString(placeUs)));
    }

    /** What a beat answers; {@code news} are pairs of kind and id. */
    record Beat(
            List<Object> reply,
            long now,
            long hosts,
            boolean more,
            long next,
            List<Object> renewed,
            List<List<Object>> claims,
            List<Object> news,
            List<List<Object>> looks) {

        /** The ids that its host is told to claim or to submit again. */
        List<Object> told(String kind) {
            List<Object> ids = new ArrayList<>();
            for (int i = 0; i < news.size(); i += 2) {
                if (news.get(i).equals(kind)) {
                    ids.add(news.get(i + 1));
                }
            }
            return ids;
        }
    }

    Beat beat(long now, String host, String... ids) {
        return beat(now, host, List.of(ids), List.of(), List.of());
    }

    Beat claim(long now, String host, String... ids) {
        return beat(now, host, List.of(), List.of(ids), List.of());
    }

    Beat look(long now, String host, String... ids) {
        return beat(now, host, List.of(), List.of(), List.of(ids));
    }

    Beat beat(long now, String host, List<String> permits, List<String> claims, List<String> looks) {
        return beat(now, host, permits, claims, looks, List.of());
    }

    /** Tells of a permit that runs and that Redis does not know; it was granted under that stamp. 1 if it holds its slots again. */
    Object assertAgain(long now, Ask ask, String stamp) {
        Beat beat = beat(now, ask.host(), List.of(), List.of(), List.of(), List.of(new Asserted(ask, stamp)));
        return ((List<?>) beat.reply().get(11)).get(0);
    }

    private record Asserted(Ask ask, String stamp) {}

    @SuppressWarnings("unchecked")
    private Beat beat(
            long now,
            String host,
            List<String> permits,
            List<String> claims,
            List<String> looks,
            List<Asserted> asserts) {
        List<String> arguments = new ArrayList<>(List.of(
                time(now),
                host,
                Integer.toString(permits.size()),
                Integer.toString(claims.size()),
                Integer.toString(looks.size()),
                Integer.toString(asserts.size())));
        for (String id : permits) {
            arguments.add(id);
            arguments.add("n-" + id);
        }
        arguments.addAll(claims);
        arguments.addAll(looks);
        for (Asserted one : asserts) {
            Ask ask = one.ask();
            List<String> values = new ArrayList<>();
            addCosts(values, ask.costs(), layout());
            arguments.addAll(List.of(
                    ask.id(),
                    "n-" + ask.id(),
                    ask.digest(),
                    "memo",
                    one.stamp(),
                    Long.toString(ask.leaseUs()),
                    ask.flow(),
                    Long.toString(ask.weight()),
                    ask.agent(),
                    Integer.toString(values.size())));
            arguments.addAll(values);
            askedWith.put(ask.id(), layout());
        }
        List<Object> reply = run(Script.BEAT, arguments);
        if (!reply.get(0).equals("beat")) {
            return new Beat(reply, now, 0, false, -1, List.of(), List.of(), List.of(), List.of());
        }
        return new Beat(
                reply,
                (Long) reply.get(2),
                (Long) reply.get(3),
                reply.get(4).equals(1L),
                (Long) reply.get(5),
                (List<Object>) reply.get(6),
                (List<List<Object>>) reply.get(7),
                (List<Object>) reply.get(8),
                (List<List<Object>>) reply.get(9));
    }

    /** What the answers taught: of each observation its name and values. */
    @SafeVarargs
    @SuppressWarnings({"unchecked", "varargs"})
    final List<Object> observe(long now, List<Object>... observations) {
        List<String> arguments = new ArrayList<>(List.of(time(now), "h", Integer.toString(observations.length)));
        for (List<Object> observation : observations) {
            observation.forEach(value -> arguments.add(value.toString()));
        }
        List<Object> reply = run(Script.OBSERVE, arguments);
        if (!reply.get(0).equals("observed")) {
            throw new AssertionError("observe answered " + reply);
        }
        return (List<Object>) reply.get(3);
    }

    /** A rejection of the provider: retryable, of a call granted at that time; waits of -2 were not stated. */
    Object hold(long now, String scope, long waitUs, long granted) {
        return hold(now, scope, waitUs, "input", granted);
    }

    Object hold(long now, String scope, long waitUs, String kind, long granted) {
        List<Object> hold = List.of("hold", scope, waitUs, 60 * MIN, kind, 1, granted, "429");
        return ((List<?>) observe(now, hold).get(0)).get(0);
    }

    /** A hold as {@code inspect holds} tells it. */
    record Hold(String scope, long until, long opened, long most, long used, long counts, String kind, long failures) {}

    @SuppressWarnings("unchecked")
    List<Hold> holds() {
        List<Object> reply = run(Script.INSPECT, List.of("", "holds"));
        List<Hold> holds = new ArrayList<>();
        for (Object each : reply.subList(1, reply.size())) {
            List<Object> it = (List<Object>) each;
            holds.add(new Hold(
                    (String) it.get(0),
                    number(it.get(1)),
                    number(it.get(2)),
                    number(it.get(3)),
                    number(it.get(4)),
                    number(it.get(5)),
                    (String) it.get(6),
                    number(it.get(8))));
        }
        return holds;
    }

    private Layout layout() {
        return new Layout(Map.copyOf(names), Map.copyOf(active));
    }

    /** Costs in the order and by the positions the scripts want: the project first. */
    private void addCosts(List<String> arguments, Map<String, Map<String, Long>> costs, Layout layout) {
        Map<String, Map<String, Long>> ordered = new TreeMap<>(Scripted::byPlace);
        ordered.putAll(costs);
        ordered.forEach((scope, byName) -> {
            List<Object> flags = of(layout.active(), scope);
            List<String> at = of(layout.names(), scope);
            arguments.add(scope);
            arguments.add(Integer.toString(flags.size()));
            for (int i = 0; i < flags.size(); i++) {
                boolean on = flags.get(i).equals(1L);
                arguments.add(Long.toString(on ? byName.getOrDefault(at.get(i), 0L) : 0));
            }
        });
    }

    /** The order in which a call names its scopes. */
    static int byPlace(String a, String b) {
        int byKind = Integer.compare("pcwtaern".indexOf(a.charAt(0)), "pcwtaern".indexOf(b.charAt(0)));
        return byKind != 0 ? byKind : a.compareTo(b);
    }

    /** A scope made on demand is laid out as its template is; one of distinct agents mostly has no limits. */
    private static <T> List<T> of(Map<String, List<T>> layout, String scope) {
        List<T> own = layout.get(scope);
        if (own == null && scope.startsWith("n:")) {
            return List.of();
        }
        return Objects.requireNonNull(own != null ? own : layout.get(scope.substring(0, 2)), scope);
    }

    List<Object> run(Script script, List<String> arguments) {
        return run(script, keys, arguments);
    }

    List<Object> run(Script script, Keys keys, List<String> arguments) {
        String[] argv = arguments.toArray(String[]::new);
        RedisAsyncCommands<String, String> user =
                users.getOrDefault(script, connection).async();
        try {
            return answer(user.evalsha(script.sha(), ScriptOutputType.MULTI, keys.all(), argv));
        } catch (RedisNoScriptException e) {
            return answer(user.eval(script.text(), ScriptOutputType.MULTI, keys.all(), argv));
        }
    }

    /** By the time this returns, what the script announced was heard: Redis answers the ping last. */
    private List<Object> answer(RedisFuture<List<Object>> reply) {
        RedisFuture<String> last = listening ? connection.async().ping() : null;
        List<Object> answer = LettuceFutures.awaitOrCancel(reply, 10, TimeUnit.SECONDS);
        if (last != null) {
            LettuceFutures.awaitOrCancel(last, 10, TimeUnit.SECONDS);
        }
        return answer;
    }

    /** Hears what the scripts announce to a host, on a thread of the connection. */
    void listen(String host, Consumer<String> hears) {
        String channel = "{" + project + "}:h:" + host;
        connection.addListener(new RedisPubSubAdapter<>() {
            @Override
            public void smessage(String to, String message) {
                if (to.equals(channel)) {
                    hears.accept(message);
                }
            }
        });
        connection.sync().ssubscribe(channel);
        listening = true;
    }

    /** What a limit holds. {@code ends}: of a window of the calendar, else 0. */
    record Level(boolean active, long level, long capacity, long factor, long rate, long admitted, long ends) {
        /** In whole units of cost, rounded down. */
        long units() {
            return Math.floorDiv(level, factor);
        }
    }

    /** What a scope holds. */
    record Scope(long slots, long used, Map<String, Level> limits) {}

    @SuppressWarnings("unchecked")
    Map<String, Scope> inspect(long now) {
        List<Object> reply = run(Script.INSPECT, List.of(time(now), "levels"));
        if (!reply.get(0).equals("levels")) {
            throw new AssertionError("inspect answered " + reply);
        }
        Map<String, Scope> scopes = new HashMap<>();
        for (Object one : (List<Object>) reply.get(8)) {
            List<Object> scope = (List<Object>) one;
            Map<String, Level> limits = new HashMap<>();
            for (Object each : (List<Object>) scope.get(4)) {
                List<Object> l = (List<Object>) each;
                limits.put(
                        (String) l.get(0),
                        new Level(
                                l.get(1).equals(1L),
                                (Long) l.get(2),
                                (Long) l.get(3),
                                (Long) l.get(4),
                                (Long) l.get(5),
                                (Long) l.get(6),
                                (Long) l.get(7)));
            }
            scopes.put((String) scope.get(0), new Scope((Long) scope.get(1), (Long) scope.get(2), limits));
        }
        return scopes;
    }

    /** What the scripts take for the time: they do not follow Redis's clock when it goes a little back. */
    long timeAt(long now) {
        return (Long) run(Script.INSPECT, List.of(time(now), "levels")).get(2);
    }

    Level level(long now, String scope, String limit) {
        Scope held = Objects.requireNonNull(inspect(now).get(scope), scope);
        return Objects.requireNonNull(held.limits().get(limit), limit);
    }

    /** A record of {@code inspect permits}. */
    record Remembered(String id, String state, String host, long granted, List<String> scopes) {
        boolean inFlight() {
            return state.equals("running") || state.equals("granted");
        }
    }

    @SuppressWarnings("unchecked")
    List<Remembered> permits() {
        List<Remembered> permits = new ArrayList<>();
        for (List<Object> it : pages("permits")) {
            permits.add(new Remembered(
                    (String) it.get(0), (String) it.get(1), (String) it.get(2), number(it.get(4)), (List<String>)
                            it.get(7)));
        }
        return permits;
    }

    /** Permits in flight by scope, counted from the records: what {@code used} must be. */
    Map<String, Long> recount() {
        Map<String, Long> running = new HashMap<>();
        permits().stream()
                .filter(Remembered::inFlight)
                .forEach(permit -> permit.scopes().forEach(scope -> running.merge(scope, 1L, Long::sum)));
        running.keySet().removeIf(scope -> scope.startsWith("n:"));
        return running;
    }

    /** A record of {@code inspect waiters}; state: waiting, again or place. */
    record Waiting(
            String id,
            String state,
            String host,
            String modelClass,
            String flow,
            String agent,
            long arrival,
            long since,
            long deadline) {}

    /** All that stand in line, were told to submit again or have a place kept, by arrival. */
    List<Waiting> waiters() {
        List<Waiting> waiters = new ArrayList<>();
        for (List<Object> it : pages("waiters")) {
            waiters.add(new Waiting(
                    (String) it.get(0),
                    (String) it.get(1),
                    (String) it.get(2),
                    (String) it.get(3),
                    (String) it.get(4),
                    (String) it.get(5),
                    number(it.get(6)),
                    number(it.get(7)),
                    number(it.get(8))));
        }
        waiters.sort((a, b) -> Long.compare(a.arrival(), b.arrival()));
        return waiters;
    }

    @SuppressWarnings("unchecked")
    private List<List<Object>> pages(String what) {
        List<List<Object>> all = new ArrayList<>();
        String cursor = "0";
        do {
            List<Object> page = run(Script.INSPECT, List.of("", what, cursor));
            all.addAll((List<List<Object>>) page.get(2));
            cursor = (String) page.get(1);
        } while (!cursor.equals("0"));
        return all;
    }

    /** What a class of the line has: how many wait, its tag and clock, its firm waiter or nothing. */
    record LineOfClass(long waiting, long tag, long clock, String firm) {}

    record LineOfFlow(long waiting, long tag) {}

    /** The line as {@code inspect line} tells it; flows go by {@code class flow}. */
    record Line(long clock, long waiting, Map<String, LineOfClass> classes, Map<String, LineOfFlow> flows) {}

    @SuppressWarnings("unchecked")
    Line line() {
        List<Object> reply = run(Script.INSPECT, List.of("", "line"));
        if (!reply.get(0).equals("line")) {
            throw new AssertionError("inspect answered " + reply);
        }
        Map<String, LineOfClass> classes = new TreeMap<>();
        for (List<Object> it : (List<List<Object>>) reply.get(3)) {
            classes.put(
                    (String) it.get(0),
                    new LineOfClass(number(it.get(1)), number(it.get(2)), number(it.get(3)), (String) it.get(4)));
        }
        Map<String, LineOfFlow> flows = new TreeMap<>();
        for (List<Object> it : (List<List<Object>>) reply.get(4)) {
            flows.put(it.get(0) + " " + it.get(1), new LineOfFlow(number(it.get(2)), number(it.get(3))));
        }
        return new Line(number(reply.get(1)), number(reply.get(2)), classes, flows);
    }

    private static long number(Object told) {
        return told instanceof Long number ? number : Long.parseLong((String) told);
    }

    /** The fields of scopes as they are stored. */
    Map<String, String> rawLevels() {
        Map<String, String> fields = new TreeMap<>(redis.hgetall(keys.all()[1]));
        fields.keySet().removeIf(field -> field.startsWith("!") || field.startsWith("#"));
        return fields;
    }

    private static String time(long now) {
        return now < 0 ? "" : Long.toString(now);
    }

    @Override
    public void close() {
        redis.del(keys.all());
        users.values().forEach(StatefulRedisConnection::close);
        connection.close();
        client.shutdown();
    }
}
