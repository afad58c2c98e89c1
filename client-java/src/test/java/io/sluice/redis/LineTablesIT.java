package io.sluice.redis;

import static io.sluice.redis.Scripted.LEASE;
import static io.sluice.redis.Scripted.MIN;
import static io.sluice.redis.Scripted.S;
import static io.sluice.redis.Scripted.T0;
import static io.sluice.redis.Scripted.perMinute;
import static io.sluice.redis.Scripted.whole;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.RefillLimit;
import io.sluice.ScopeLimits;
import io.sluice.redis.Scripted.Ask;
import io.sluice.redis.Scripted.Beat;
import io.sluice.redis.Scripted.Rules;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The line one situation at a time, at given times. */
@WithRedis
class LineTablesIT {
    private static final int LINES = 4;
    private static final long MS = 1_000;

    private final RedisServer server;
    private Scripted scripts;

    /** Hosts that a test lets live: they beat whenever somebody is to start. */
    private final Set<String> alive = new LinkedHashSet<>();

    LineTablesIT(RedisServer server) {
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

    private static ScopeLimits scope(String name, long slots, RefillLimit... limits) {
        return new ScopeLimits(name, slots, List.of(limits));
    }

    /** A project without limits of its own and the classes x and y without any, but for what is given. */
    private void policy(long at, Rules rules, ScopeLimits... scopes) {
        Map<String, ScopeLimits> all = new TreeMap<>(Scripted::byPlace);
        List.of("p", "c:x", "c:y").forEach(name -> all.put(name, scope(name, -1)));
        List.of(scopes).forEach(it -> all.put(it.scope(), it));
        scripts.install(at, rules, all.values().toArray(ScopeLimits[]::new));
    }

    private void policy(ScopeLimits... scopes) {
        policy(T0, Rules.USUAL, scopes);
    }

    /** A call in class x that waits for a minute, from host h, of a nameless agent. */
    private static Ask ask(String id, Object... costs) {
        return in("c:x", id, costs);
    }

    private static Ask in(String modelClass, String id, Object... costs) {
        Map<String, Long> byName = new TreeMap<>();
        for (int i = 0; i < costs.length; i += 2) {
            byName.put((String) costs[i], ((Number) costs[i + 1]).longValue());
        }
        return Ask.of(id, Map.of("p", byName, modelClass, byName)).waiting(MIN);
    }

    /** It needs these scopes too, at the same costs. */
    private static Ask with(Ask ask, String... scopes) {
        Map<String, Map<String, Long>> costs = new HashMap<>(ask.costs());
        List.of(scopes).forEach(it -> costs.put(it, ask.costs().get("p")));
        return ask.costs(costs);
    }

    private Object enter(long at, Ask ask) {
        alive.add(ask.host());
        return scripts.acquire(at, ask).get(0);
    }

    private void enterAll(long at, Ask... asks) {
        for (Ask ask : asks) {
            assertThat(enter(at, ask)).as(ask.id()).isEqualTo("waiting");
        }
    }

    private Object end(long at, String id) {
        return scripts.settle(at, id, "settled", Map.of()).get(0);
    }

    private List<String> inState(String state) {
        return scripts.permits().stream()
                .filter(permit -> permit.state().equals(state))
                .map(Scripted.Remembered::id)
                .sorted()
                .toList();
    }

    private List<String> waiting() {
        return scripts.waiters().stream()
                .filter(w -> w.state().equals("waiting"))
                .map(Scripted.Waiting::id)
                .toList();
    }

    /** Every living host beats and claims all it is told of. */
    private List<String> beats(long at) {
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
    private String order(long at, String running, int howMany) {
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

    // ---- order

    @Test
    void inOneFlowFirstComeIsFirstServedWhateverTheHost() {
        policy(scope("c:x", 1));
        assertThat(enter(T0, ask("a"))).isEqualTo("granted");
        assertThat(scripts.acquire(T0, ask("b"))).startsWith("waiting").contains("c:x", "concurrency");
        assertThat(scripts.acquire(T0, ask("c").host("h2")).get(5))
                .as("position")
                .isEqualTo(2L);
        assertThat(scripts.acquire(T0, ask("d")).get(5)).isEqualTo(3L);
        alive.add("h2");
        assertThat(order(T0, "a", 3)).isEqualTo("bcd");
        assertThat(scripts.line().waiting()).isZero();
    }

    /** Each grant moves its flow's tag by 1,000 / weight: 250 for i, 1,000 for n. Ties go to who came first. */
    @Test
    void weightsFourToOneStartFourToOne() {
        policy(scope("c:x", 1));
        enter(T0, ask("run"));
        for (int i = 10; i < 25; i++) {
            enterAll(T0, ask("i" + i).flow("t|i", 4), ask("n" + i).flow("t|n", 1));
        }
        assertThat(order(T0, "run", 17)).isEqualTo("in" + "iii" + "n" + "iiii" + "n" + "iiii" + "n" + "i");
    }

    /** Tags move by 62, 250 and 1,000. */
    @Test
    void prioritiesStartSixteenToFourToOne() {
        policy(scope("c:x", 1));
        enter(T0, ask("run"));
        for (int i = 100; i < 150; i++) {
            enterAll(
                    T0,
                    ask("i" + i).flow("t|i", 16),
                    ask("n" + i).flow("t|n", 4),
                    ask("b" + i).flow("t|b", 1));
        }
        assertThat(order(T0, "run", 43))
                .isEqualTo("inb iiii n iiii n iiii n iiii b n iiii n iiii n iiii n iiii".replace(" ", ""));
    }

    /** Who was away gets no arrears: a flow's first waiter starts at the class's clock. */
    @Test
    void aNewFlowStartsWhereTheOthersAre() {
        policy(scope("c:x", 1));
        enter(T0, ask("run"));
        for (int i = 10; i < 30; i++) {
            enterAll(T0, ask("o" + i).flow("old|n", 1));
        }
        assertThat(order(T0, "run", 8)).isEqualTo("oooooooo");
        for (int i = 10; i < 20; i++) {
            enterAll(T0, ask("s" + i).flow("new|n", 1));
        }
        // The clock is the tag of the last that started, one grant behind the old flow's.
        assertThat(order(T0, "o17", 7)).isEqualTo("sososos");
    }

    /** A thousand cancel; the next call of their flow is where it would be without them. */
    @Test
    void whoCancelsHasNeverBeen() {
        policy(scope("c:x", 1));
        enter(T0, ask("run"));
        enterAll(
                T0,
                ask("o1").flow("old|n", 1),
                ask("o2").flow("old|n", 1),
                ask("o3").flow("old|n", 1));
        for (int i = 0; i < 200; i++) {
            enterAll(T0, ask("s" + i).flow("new|n", 1));
        }
        for (int i = 0; i < 200; i++) {
            assertThat(scripts.settle(T0, "s" + i, "cancelled", Map.of())).startsWith("ended", "cancelled", 0L);
        }
        assertThat(scripts.line().waiting()).isEqualTo(3);
        enterAll(T0, ask("n1").flow("new|n", 1), ask("n2").flow("new|n", 1));
        assertThat(order(T0, "run", 5)).isEqualTo("onono");
    }

    /** Calls of 6,000 and of 1,000 tokens: six of the small ones for each large one. */
    @Test
    void flowsShareWhatCallsCostNotHowManyTheyAre() {
        policy(scope("c:x", 1, whole("tpm", 1_000_000)));
        enter(T0, ask("run", "tpm", 1));
        for (int i = 10; i < 16; i++) {
            enterAll(T0, ask("l" + i, "tpm", 6_000).flow("large|n", 1));
        }
        for (int i = 10; i < 40; i++) {
            enterAll(T0, ask("s" + i, "tpm", 1_000).flow("small|n", 1));
        }
        assertThat(order(T0, "run", 22)).isEqualTo("l" + "ssssss" + "l" + "ssssss" + "l" + "ssssss" + "l");
        // 6,000 of 1,000,000 a minute are 6 millionths of a billion; times 1,000, each weight 1.
        assertThat(scripts.line().flows().get("x large|n").tag()).isEqualTo(4 * 6_000_000_000L);
    }

    /** A flow that used little moves ahead again, one that used more falls behind. */
    @Test
    void whatACallReallyUsedMovesItsFlow() {
        policy(scope("c:x", 1, whole("tpm", 1_000_000)));
        enter(T0, ask("run", "tpm", 1_000).flow("t|n", 1));
        enterAll(
                T0,
                ask("a", "tpm", 1_000).flow("t|n", 1),
                ask("b", "tpm", 1_000).flow("t|n", 1));
        assertThat(order(T0, "run", 1)).isEqualTo("a");
        assertThat(scripts.line().flows().get("x t|n").tag()).isEqualTo(1_000_000_000L);
        enterAll(
                T0,
                ask("c", "tpm", 1_000).flow("t|n", 1),
                ask("d", "tpm", 1_000).flow("t|n", 1));
        Map<String, Map<String, Long>> used = Map.of("p", Map.of(), "c:x", Map.of("tpm", 3_500L));
        scripts.settle(T0, "a", "settled", used);
        // 1,000 for a, 2,500 more than it said, and 1,000 for b.
        assertThat(scripts.line().flows().get("x t|n").tag()).isEqualTo(4_500_000_000L);
        scripts.settle(T0, "b", "cancelled", Map.of());
        // b's came back, and c was granted.
        assertThat(inState("granted")).containsExactly("c");
        assertThat(scripts.line().flows().get("x t|n").tag()).isEqualTo(4_500_000_000L);
        assertThat(scripts.line().classes().get("x").clock()).isEqualTo(3_500_000_000L);
    }

    /** A usage that cannot be is booked at its bound, and so it counts in the order: else its flow would be last for ever. */
    @Test
    void anAbsurdUsageMovesItsFlowByItsBound() {
        policy(scope("c:x", 1, whole("tpm", 1_000_000)));
        enter(T0, ask("run", "tpm", 1_000).flow("t|n", 1));
        enterAll(
                T0,
                ask("a", "tpm", 1_000).flow("t|n", 1),
                ask("b", "tpm", 1_000).flow("t|n", 1));
        scripts.settle(T0, "run", "settled", Map.of("p", Map.of(), "c:x", Map.of("tpm", 1L << 52)));
        // One minute of the limit, less the estimate.
        assertThat(scripts.line().flows().get("x t|n").tag()).isEqualTo(1_000_000_000_000L - 1_000_000_000L);
    }

    @Test
    void nobodyWaitsIsTheEndOfAllOrder() {
        policy(scope("c:x", 1));
        enter(T0, ask("a"));
        enterAll(T0, ask("b").flow("t|n", 1));
        order(T0, "a", 1);
        Scripted.Line line = scripts.line();
        assertThat(line.waiting()).isZero();
        assertThat(line.clock()).isZero();
        assertThat(line.classes()).isEmpty();
        assertThat(line.flows()).isEmpty();
    }

    // ---- classes, workspaces, teams

    @Test
    void aFullClassDelaysNoOther() {
        policy(scope("c:x", 1));
        enter(T0, ask("a"));
        for (int i = 0; i < 20; i++) {
            enterAll(T0, ask("w" + i));
        }
        for (int i = 0; i < 5; i++) {
            assertThat(enter(T0, in("c:y", "y" + i))).isEqualTo("granted");
        }
        assertThat(waiting()).hasSize(20);
    }

    /** The project's slots go to the classes in turn, however many calls wait in each. */
    @Test
    void classesShareALimitOfTheProject() {
        policy(scope("p", 1));
        enter(T0, ask("run"));
        for (int i = 10; i < 20; i++) {
            enterAll(T0, ask("x" + i));
        }
        enterAll(T0, in("c:y", "y1"), in("c:y", "y2"), in("c:y", "y3"));
        assertThat(order(T0, "run", 8)).isEqualTo("xyxyxyxx");
    }

    /** A call that needs nothing of a limit of the project which an earlier one is short on may pass it. */
    @Test
    void aClosedLimitOfTheProjectStopsOnlyWhoNeedsIt() {
        policy(scope("p", -1, whole("tpm", 1_000)));
        enter(T0, ask("a", "tpm", 900));
        enterAll(T0, ask("b", "tpm", 500));
        assertThat(enter(T0, in("c:y", "none"))).isEqualTo("granted");
        assertThat(enter(T0, in("c:y", "small", "tpm", 50))).as("100 are left").isEqualTo("waiting");
    }

    @Test
    void aFullWorkspaceOrTeamStopsOnlyItsOwn() {
        policy(scope("w:prod", 1), scope("t:red", 1), scope("t:red|x", 1));
        assertThat(enter(T0, with(ask("a"), "w:prod"))).isEqualTo("granted");
        enterAll(T0, with(ask("b"), "w:prod"));
        assertThat(enter(T0, ask("c"))).as("no workspace, same flow").isEqualTo("granted");
        assertThat(enter(T0, with(ask("d").flow("red|n", 4), "t:red", "t:red|x")))
                .isEqualTo("granted");
        enterAll(T0, with(in("c:y", "e").flow("red|n", 4), "t:red"));
        assertThat(enter(T0, in("c:y", "f").flow("other|n", 4))).isEqualTo("granted");
        assertThat(waiting()).containsExactly("b", "e");
        end(T0, "d");
        assertThat(beats(T0)).containsExactly("e");
        end(T0, "a");
        assertThat(beats(T0)).containsExactly("b");
    }

    /** Nobody takes what an earlier one is short on: a large call is not starved by small ones of its class. */
    @Test
    void smallCallsDoNotOvertakeALargeOneOfTheirClass() {
        policy(scope("c:x", -1, whole("tpm", 6_000))); // 100 a second
        enter(T0, ask("a", "tpm", 6_000));
        List<Object> large = scripts.acquire(T0, ask("large", "tpm", 3_000));
        assertThat(large.subList(0, 6)).containsExactly("waiting", 30 * S, 30 * S, "c:x", "tpm", 1L);
        for (long at = T0 + 500 * MS; at < T0 + 30 * S; at += 500 * MS) {
            assertThat(enter(at, ask("s" + at, "tpm", 10).flow("t|i", 1))).isEqualTo("waiting");
            scripts.beat(at, "h");
        }
        assertThat(scripts.beat(T0 + 30 * S, "h").told("g")).contains("large");
    }

    // ---- private limits

    @Test
    void anAgentAtItsCapDelaysNobodyElse() {
        policy(scope("c:x", 5), scope("a:", 1));
        assertThat(enter(T0, with(ask("a1").agent("a"), "a:a"))).isEqualTo("granted");
        for (int i = 2; i < 6; i++) {
            enterAll(T0, with(ask("a" + i).agent("a"), "a:a"));
        }
        assertThat(enter(T0, with(ask("b1").agent("b"), "a:b"))).isEqualTo("granted");
        assertThat(scripts.look(T0, "h", "a2").looks().get(0))
                .startsWith("waiting")
                .contains("a:a", "concurrency");
        for (int i = 1; i < 5; i++) {
            end(T0, "a" + i);
            assertThat(beats(T0)).as("one by one").containsExactly("a" + (i + 1));
        }
    }

    /** Its calls in another class, too, are for later than the one that came first. */
    @Test
    void anAgentsCallsStartInTheirOrderAcrossClasses() {
        policy(scope("a:", 1));
        enter(T0, with(ask("a").agent("a"), "a:a"));
        enterAll(T0, with(ask("b").agent("a"), "a:a"), with(in("c:y", "c").agent("a"), "a:a"));
        assertThat(order(T0, "a", 2)).isEqualTo("bc");
    }

    /** Not for ever, though: where the first is short on something shared, the others are tried. */
    @Test
    void anAgentsCallIsNotHeldBackByAnotherThatLacksSomethingElse() {
        policy(scope("a:", 2), scope("c:x", 1));
        enter(T0, ask("full"));
        enter(T0, with(in("c:y", "y1").agent("a"), "a:a"));
        enter(T0, with(in("c:y", "y2").agent("a"), "a:a"));
        enterAll(T0, with(ask("x").agent("a"), "a:a"), with(in("c:y", "y3").agent("a"), "a:a"));
        end(T0, "y1");
        assertThat(beats(T0)).containsExactly("y3");
    }

    @Test
    void whoWaitsForItsOwnRateStartsWhenThatHasRefilled() {
        policy(scope("a:", -1, whole("rpm", 60))); // one a second
        for (int i = 0; i < 60; i++) {
            assertThat(enter(T0, with(ask("a" + i, "rpm", 1).agent("a"), "a:a")))
                    .isEqualTo("granted");
        }
        for (int i = 0; i < 3; i++) {
            List<Object> reply = scripts.acquire(T0, with(ask("w" + i, "rpm", 1).agent("a"), "a:a"));
            assertThat(reply.subList(0, 5)).as("w" + i).startsWith("waiting").endsWith(S, "a:a", "rpm");
        }
        assertThat(enter(T0, with(ask("b", "rpm", 1).agent("b"), "a:b"))).isEqualTo("granted");
        // The host comes when the script says, and at no other time but for its beats.
        List<String> started = new ArrayList<>();
        long at = T0;
        while (at < T0 + 4 * S) {
            Beat beat = scripts.beat(at, "h");
            for (Object id : beat.told("g")) {
                scripts.claim(at, "h", (String) id);
                started.add(id + " after " + (at - T0) / MS);
            }
            at += Math.min(250 * MS, beat.next() < 0 ? 250 * MS : Math.max(1, beat.next()));
        }
        assertThat(started).containsExactly("w0 after 1000", "w1 after 2000", "w2 after 3000");
    }

    /** Two of three agents run; a third waits until one of them has been still for 5 minutes. */
    @Test
    void distinctAgentsAreCounted() {
        policy(scope("n:p", 2));
        assertThat(enter(T0, with(ask("a").agent("a"), "n:p"))).isEqualTo("granted");
        assertThat(enter(T0, with(ask("b").agent("b"), "n:p"))).isEqualTo("granted");
        Ask third = with(ask("c").agent("c"), "n:p").waiting(15 * MIN).lease(15 * MIN);
        assertThat(scripts.acquire(T0, third)).startsWith("waiting").contains("n:p");
        assertThat(enter(T0, with(ask("a2").agent("a"), "n:p")))
                .as("it counts already")
                .isEqualTo("granted");
        end(T0, "a");
        end(T0, "a2");
        scripts.beat(T0 + 200 * S, "h", "b");
        assertThat(scripts.inspect(T0 + 299 * S).get("n:p").used()).isEqualTo(2);
        assertThat(scripts.beat(T0 + 300 * S - 1, "h").told("g")).isEmpty();
        assertThat(scripts.beat(T0 + 300 * S, "h").told("g")).containsExactly("c");
        assertThat(scripts.inspect(T0 + 300 * S).get("n:p").used()).isEqualTo(2);
    }

    // ---- firm

    /**
     * A call of team red in class x needs both limits; small calls take each of them as it refills: of other teams in
     * class x, of red in class y. Never would both be there at once.
     */
    @Test
    void whoNeedsTwoLimitsThatOthersTakeInTurnStartsAfterItsPatience() {
        long refill = 10 * S; // 1,000 at 100 a second, in both
        policy(scope("c:x", -1, whole("tpm", 6_000)), scope("t:red", -1, whole("tpm", 6_000)));
        enter(T0, with(ask("drain", "tpm", 6_000).flow("red|n", 4), "t:red"));
        Ask both = with(ask("both", "tpm", 1_000).flow("red|n", 4), "t:red").waiting(10 * MIN);
        assertThat(enter(T0, both)).isEqualTo("waiting");
        long at = T0;
        int n = 0;
        List<String> started = new ArrayList<>();
        while (!started.contains("both") && at < T0 + 5 * MIN) {
            for (int i = 0; i < 2; i++, n++) {
                enter(at, ask("x" + n, "tpm", 50).flow("blue|i", 64).waiting(MIN));
                enter(at, with(in("c:y", "y" + n, "tpm", 50).flow("red|i", 64).waiting(MIN), "t:red"));
            }
            at += 500 * MS;
            started = beats(at);
            started.forEach(id -> scripts.settle(T0, id, "settled", Map.of()));
        }
        assertThat(at - T0).as("patience is twice its refill").isLessThanOrEqualTo(3 * refill + S);
    }

    @Test
    void theSameWithSlotsOnly() {
        policy(scope("c:x", 2), scope("t:red", 2));
        List<String> running = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            enter(T0, ask("x" + i).flow("blue|i", 64));
            enter(T0, with(in("c:y", "y" + i).flow("red|i", 64), "t:red"));
            running.addAll(List.of("x" + i, "y" + i));
        }
        assertThat(enter(T0, with(ask("both").flow("red|n", 4), "t:red").waiting(10 * MIN)))
                .isEqualTo("waiting");
        long at = T0;
        int n = 10;
        while (!running.contains("both") && at < T0 + MIN) {
            enter(at, ask("x" + n).flow("blue|i", 64));
            enter(at, with(in("c:y", "y" + n).flow("red|i", 64), "t:red"));
            n++;
            at += 250 * MS;
            // In turn a slot of the one and of the other comes free, and the next one takes it.
            end(at, running.remove(0));
            running.addAll(beats(at));
        }
        assertThat(at - T0).as("patience is 1 s here").isLessThanOrEqualTo(3 * S);
    }

    @Test
    void aFirmWaiterIsToldAndKeepsOneSlotOfEachScope() {
        policy(scope("c:x", 2), scope("t:red", 1));
        enter(T0, with(in("c:y", "r").flow("red|n", 4), "t:red"));
        enter(T0, ask("x1"));
        enterAll(T0, with(ask("firm").flow("red|n", 4), "t:red"));
        assertThat(scripts.line().classes().get("x").firm()).isEmpty();
        scripts.beat(T0 + S, "h");
        assertThat(scripts.line().classes().get("x").firm())
                .as("not more than patience")
                .isEmpty();
        scripts.beat(T0 + S + 1, "h");
        assertThat(scripts.line().classes().get("x").firm()).isEqualTo("firm");
        assertThat(enter(T0 + S + 1, ask("x2").flow("blue|i", 64)))
                .as("the second slot is kept")
                .isEqualTo("waiting");
        end(T0 + S + 1, "r");
        assertThat(beats(T0 + S + 1)).containsExactly("firm");
        assertThat(scripts.line().classes().get("x").firm()).isEmpty();
    }

    /** Who only tries again and again stands before the others each time, and must not start their patience anew. */
    @Test
    void aTryDoesNotMakeOthersWaitLonger() {
        policy(scope("c:x", 1), scope("t:red", 1));
        enter(T0, with(in("c:y", "r").flow("red|n", 4), "t:red"));
        enter(T0, ask("x1"));
        enterAll(T0, with(ask("patient").flow("red|n", 4), "t:red"));
        for (long at = T0; at <= T0 + S; at += 100 * MS) {
            scripts.acquire(at, ask("try" + at).flow("blue|i", 64).waiting(0));
            scripts.beat(at, "h");
        }
        scripts.beat(T0 + S + 1, "h");
        assertThat(scripts.line().classes().get("x").firm()).isEqualTo("patient");
    }

    // ---- claims and silent hosts

    @Test
    void aGrantIsClaimedWithinHalfASecond() {
        policy(scope("c:x", 1));
        enter(T0, ask("a"));
        enterAll(T0, ask("b"));
        end(T0, "a");
        assertThat(inState("granted")).containsExactly("b");
        assertThat(waiting()).as("it waits no more").isEmpty();
        assertThat(scripts.beat(T0, "h").told("g")).containsExactly("b");
        assertThat(scripts.beat(T0 + 250 * MS, "h").told("g"))
                .as("until it is claimed")
                .containsExactly("b");
        long at = T0 + 499_999;
        assertThat(scripts.claim(at, "h", "b").claims()).containsExactly(List.of("granted", "n-b", LEASE, at, "memo"));
        assertThat(scripts.claim(at, "h", "b").claims().get(0))
                .as("the answer was lost")
                .startsWith("granted");
        assertThat(scripts.beat(at + LEASE - 1, "h", "b").renewed())
                .as("its lease starts now")
                .containsExactly(1L);
    }

    @Test
    void askingAgainClaimsToo() {
        policy(scope("c:x", 1));
        enter(T0, ask("a"));
        enterAll(T0, ask("b"));
        end(T0, "a");
        assertThat(scripts.acquire(T0, ask("b").digest("another"))).containsExactly("conflict");
        assertThat(scripts.acquire(T0, ask("b")).subList(0, 6))
                .startsWith("granted", "n-b")
                .endsWith("memo", 1L);
        assertThat(inState("running")).containsExactly("b");
    }

    /** Everything comes back; the call keeps its place, and its host is passed over until it beats. */
    @Test
    void aGrantNobodyClaimedWasNeverMade() {
        policy(scope("c:x", 1, whole("tpm", 1_000)));
        enter(T0, ask("a", "tpm", 100));
        enterAll(
                T0,
                ask("dead", "tpm", 300).host("dead"),
                ask("c", "tpm", 50),
                ask("d", "tpm", 50).host("dead"));
        end(T0, "a");
        assertThat(inState("granted")).containsExactly("dead");
        long at = T0 + 500 * MS;
        assertThat(scripts.beat(at - 1, "h").told("g")).isEmpty();
        assertThat(scripts.beat(at, "h").told("g")).as("at once").containsExactly("c");
        // A step of refill: 1,000 a minute, half a second.
        assertThat(scripts.level(at, "c:x", "tpm").level())
                .isEqualTo(1_000 * 600 * S - (100 + 50) * 600 * S + 10_000L * 500 * MS);
        assertThat(scripts.claim(at, "h", "dead").claims()).as("a late claim").containsExactly(List.of("waiting"));
        assertThat(waiting()).containsExactly("dead", "d");
        scripts.claim(at, "h", "c");
        end(at, "c");
        assertThat(inState("granted")).as("its host is silent").isEmpty();
        assertThat(scripts.beat(at, "dead").told("g")).containsExactly("dead");
    }

    @Test
    void aHostThatBeatsNoMoreIsPassedOverAndLosesNoPlace() {
        policy(scope("c:x", 1));
        enter(T0, ask("a"));
        enterAll(T0, ask("b").host("quiet"), ask("c"));
        long at = T0 + 600 * MS;
        scripts.beat(at, "h");
        end(at, "a");
        assertThat(inState("granted")).as("600 ms are not yet silence").containsExactly("b");
        scripts.settle(at, "b", "cancelled", Map.of());
        assertThat(inState("granted")).containsExactly("c");
        scripts.claim(at, "h", "c");
        enterAll(at, ask("b2").host("quiet"), ask("d"));
        at += 600 * MS + 1;
        scripts.beat(at, "h");
        end(at, "c");
        assertThat(inState("granted")).containsExactly("d");
        assertThat(waiting()).containsExactly("b2");
        scripts.claim(at, "h", "d");
        enterAll(at, ask("e"));
        scripts.beat(at, "quiet");
        end(at, "d");
        assertThat(inState("granted")).as("it came before e").containsExactly("b2");
    }

    /** 45 waiters of a dead host are dropped a lease after its last beat, 20 a run. */
    @Test
    void aHostThatIsGoneIsForgottenAfterItsLease() {
        policy(scope("c:x", 1));
        enter(T0, ask("a").lease(15 * MIN));
        for (int i = 0; i < 45; i++) {
            enterAll(T0, ask("w" + i).host("gone").lease(5 * S).waiting(10 * MIN));
        }
        scripts.beat(T0 + 5 * S - 1, "h");
        assertThat(waiting()).hasSize(45);
        List<Integer> left = new ArrayList<>();
        boolean more = true;
        while (more) {
            more = scripts.beat(T0 + 5 * S, "h").more();
            left.add(waiting().size());
        }
        assertThat(left).containsExactly(25, 5, 0);
        assertThat(scripts.redis.zrange(scripts.keys.all()[LINES], 0, -1)).containsExactly("!");
    }

    @Test
    void aDeadHostDelaysTheNextWaiterByAtMostASecond() {
        policy(scope("c:x", 1));
        enter(T0, ask("a"));
        for (int i = 0; i < 100; i++) {
            enterAll(T0, ask("dead" + i).host("dead"));
        }
        enterAll(T0, ask("next"));
        scripts.beat(T0 + 250 * MS, "h");
        end(T0 + 250 * MS, "a"); // granted to the dead host
        long at = T0 + 250 * MS;
        List<Object> told = List.of();
        while (told.isEmpty()) {
            at += 250 * MS;
            Beat beat = scripts.beat(at, "h");
            told = beat.told("g");
            for (int i = 0; i < 5 && told.isEmpty() && beat.more(); i++) {
                beat = scripts.beat(at, "h");
                told = beat.told("g");
            }
        }
        assertThat(told).containsExactly("next");
        assertThat(at - T0 - 250 * MS).isLessThanOrEqualTo(S);
        assertThat(waiting()).as("nobody lost a place").hasSize(100);
    }

    // ---- giving up

    @Test
    void aDeadlineLeavesNothingBehind() {
        policy(scope("c:x", 1));
        enter(T0, ask("a"));
        enterAll(T0, ask("b").waiting(2 * S), ask("c").waiting(MIN));
        scripts.beat(T0 + 3 * S - 1, "h");
        assertThat(waiting()).containsExactly("b", "c");
        scripts.beat(T0 + 3 * S, "h");
        assertThat(waiting()).containsExactly("c");
        assertThat(scripts.look(T0 + 3 * S, "h", "b").looks()).containsExactly(List.of("gone"));
        assertThat(scripts.settle(T0 + 3 * S, "c", "cancelled", Map.of())).startsWith("ended", "cancelled", 0L);
        String[] keys = scripts.keys.all();
        assertThat(scripts.redis.hkeys(keys[3])).containsExactly("!");
        assertThat(scripts.redis.zrange(keys[LINES], 0, -1)).containsExactly("!");
        assertThat(scripts.settle(T0 + 3 * S, "c", "cancelled", Map.of()))
                .as("its id is free")
                .containsExactly("unknown");
    }

    @Test
    void whoIsRefusedAtItsDeadlineComesBackToItsPlace() {
        policy(scope("c:x", 1));
        enter(T0, ask("a"));
        enterAll(T0, ask("b"), ask("c"), ask("d"));
        long kept = 500 * MS;
        assertThat(scripts.refused(T0, "b", kept)).startsWith("ended", "refused", 0L);
        assertThat(scripts.refused(T0, "d", kept)).startsWith("ended", "refused", 0L);
        assertThat(waiting()).containsExactly("c");
        assertThat(scripts.line().waiting()).isEqualTo(1);
        enterAll(T0 + kept - 1, ask("e"), ask("b"));
        assertThat(waiting()).containsExactly("b", "c", "e");
        scripts.beat(T0 + kept, "h");
        enterAll(T0 + kept, ask("d"));
        assertThat(waiting()).as("too late").containsExactly("b", "c", "e", "d");
        assertThat(order(T0 + kept, "a", 4)).isEqualTo("bced");
    }

    @Test
    void onlyAWaiterCanBeRefused() {
        policy(scope("c:x", 1));
        enter(T0, ask("a"));
        assertThat(scripts.refused(T0, "a", S)).as("it runs").containsExactly("unknown");
        assertThat(scripts.refused(T0, "stranger", S)).containsExactly("unknown");
        assertThat(inState("running")).containsExactly("a");
    }

    /** A call is refused at once only for its own exact wait; behind others it may be lucky. */
    @Test
    void onlyAnExactWaitIsRefusedAtOnce() {
        policy(scope("c:x", -1, whole("tpm", 6_000)), scope("c:y", 1));
        enter(T0, ask("a", "tpm", 6_000));
        assertThat(scripts.acquire(T0, ask("b", "tpm", 1_000).waiting(10 * S - 1))
                        .subList(0, 5))
                .containsExactly("wait", 10 * S, 10 * S, "c:x", "tpm");
        assertThat(enter(T0, ask("c", "tpm", 1_000).waiting(10 * S))).isEqualTo("waiting");
        enter(T0, in("c:y", "y"));
        List<Object> slots = scripts.acquire(T0, in("c:y", "z").waiting(1));
        assertThat(slots).as("slots have no exact time").startsWith("waiting").contains("c:y", "concurrency");
        assertThat(slots.get(2)).isEqualTo(0L);
        assertThat(scripts.acquire(T0, ask("n", "tpm", 6_001))).containsExactly("never", "c:x", "tpm", 6_001L, 6_000L);
        assertThat(waiting()).containsExactly("c", "z");
    }

    /** It stands in line for as long as the script runs, and leaves no trace of that. */
    @Test
    void aTryNeverQueues() {
        policy(scope("c:x", 1));
        assertThat(enter(T0, ask("a").waiting(0))).isEqualTo("granted");
        Map<String, String> before = scripts.rawLevels();
        assertThat(enter(T0, ask("b").waiting(0))).as("nobody waits").isEqualTo("wait");
        enterAll(T0, ask("c"));
        Scripted.Line line = scripts.line();
        for (int i = 0; i < 20; i++) {
            List<Object> reply = scripts.acquire(T0, ask("t" + i).waiting(0));
            assertThat(reply).startsWith("wait").contains("c:x", "concurrency");
            assertThat(reply.get(5)).as("behind c").isEqualTo(2L);
        }
        assertThat(scripts.line()).isEqualTo(line);
        assertThat(waiting()).containsExactly("c");
        assertThat(scripts.rawLevels()).isEqualTo(before);
        assertThat(enter(T0, in("c:y", "free").waiting(0))).isEqualTo("granted");
    }

    @Test
    void aTryDoesNotOvertake() {
        policy(scope("c:x", 1));
        enter(T0, ask("a"));
        enterAll(T0, ask("b"));
        scripts.beat(T0 + 700 * MS, "h");
        end(T0 + 700 * MS, "a");
        assertThat(enter(T0 + 700 * MS, ask("t").waiting(0))).isEqualTo("wait");
        assertThat(inState("granted")).containsExactly("b");
    }

    // ---- the same id again

    @Test
    void theSameIdKeepsItsPlaceAlsoFromAnotherHost() {
        policy(scope("c:x", 1));
        enter(T0, ask("a"));
        enterAll(T0, ask("b"), ask("c"));
        assertThat(scripts.acquire(T0 + S, ask("b").host("h2").waiting(2 * S)).subList(0, 6))
                .startsWith("waiting")
                .endsWith(1L);
        assertThat(enter(T0, ask("b").digest("another"))).isEqualTo("conflict");
        assertThat(scripts.waiters().get(0).host()).isEqualTo("h2");
        assertThat(scripts.waiters().get(0).deadline()).isEqualTo(T0 + S + 2 * S + S);
        alive.add("h2");
        assertThat(order(T0 + S, "a", 2)).isEqualTo("bc");
    }

    @Test
    void whoWaitedUnderAnOlderPolicySubmitsAgainAndKeepsItsNumber() {
        policy(scope("c:x", 1));
        enter(T0, ask("a"));
        enterAll(T0, ask("b"), ask("c").host("h2"), ask("d"));
        policy(T0, Rules.USUAL, scope("c:x", 1, whole("tpm", 100)));
        Beat beat = scripts.beat(T0, "h");
        assertThat(beat.told("s")).containsExactlyInAnyOrder("b", "d");
        assertThat(scripts.beat(T0, "h").told("s")).as("until it does").containsExactlyInAnyOrder("b", "d");
        assertThat(scripts.look(T0, "h", "b").looks()).containsExactly(List.of("again"));
        assertThat(scripts.line().waiting()).as("they still count").isEqualTo(3);
        enterAll(T0, ask("e"));
        enterAll(T0, ask("d", "tpm", 1), ask("b", "tpm", 1));
        assertThat(scripts.beat(T0, "h").told("s")).isEmpty();
        assertThat(enter(T0, ask("c", "tpm", 101).host("h2")))
                .as("impossible now")
                .isEqualTo("never");
        assertThat(waiting()).containsExactly("b", "d", "e");
        assertThat(order(T0, "a", 3)).isEqualTo("bde");
    }

    // ---- full

    @Test
    void theLineIsBoundedAndSoIsEachAgentsPartOfIt() {
        policy(T0, Rules.USUAL.waiters(5), scope("c:x", 1));
        enter(T0, ask("run"));
        enterAll(T0, ask("a1").agent("a"), ask("a2").agent("a"));
        assertThat(scripts.acquire(T0, ask("a3").agent("a"))).startsWith("full").endsWith("agent");
        enterAll(T0, ask("b1").agent("b"), ask("n1"), ask("n2"));
        assertThat(scripts.acquire(T0, ask("c1").agent("c"))).containsExactly("full", 5L, 5L, "line");
        assertThat(enter(T0, ask("a1").agent("a"))).as("it has its place").isEqualTo("waiting");
        assertThat(enter(T0, in("c:y", "y").agent("a").waiting(0)))
                .as("it needs none")
                .isEqualTo("granted");
        scripts.settle(T0, "a1", "cancelled", Map.of());
        assertThat(enter(T0, ask("c1").agent("c"))).isEqualTo("waiting");
    }

    @Test
    void namesInUseAreBoundedAndIdleOnesMakeRoom() {
        policy(T0, Rules.USUAL.most("a:", 2), scope("a:", 1, whole("rpm", 60)));
        assertThat(enter(T0, with(ask("a", "rpm", 1).agent("a"), "a:a"))).isEqualTo("granted");
        assertThat(enter(T0, with(ask("b", "rpm", 1).agent("b"), "a:b"))).isEqualTo("granted");
        assertThat(scripts.acquire(T0, with(ask("c", "rpm", 1).agent("c"), "a:c")))
                .startsWith("full")
                .endsWith("a:");
        end(T0, "a");
        assertThat(enter(T0, with(ask("c", "rpm", 1).agent("c"), "a:c")))
                .as("a has not refilled yet")
                .isEqualTo("full");
        assertThat(enter(T0 + S, with(ask("c", "rpm", 1).agent("c"), "a:c"))).isEqualTo("granted");
        assertThat(scripts.inspect(T0 + S)).containsKeys("a:b", "a:c").doesNotContainKey("a:a");
    }

    @Test
    void anIdleNameIsSweptAndADebtIsNot() {
        policy(scope("a:", 1, whole("rpm", 60)), scope("r:", 1, whole("tpm", 60)));
        enter(T0, with(ask("a", "rpm", 1, "tpm", 60).agent("a"), "a:a", "r:r"));
        Map<String, Long> used = Map.of("rpm", 1L, "tpm", 240L);
        scripts.settle(T0, "a", "settled", Map.of("p", Map.of(), "c:x", Map.of(), "a:a", used, "r:r", used));
        scripts.beat(T0 + 2 * MIN, "h");
        assertThat(scripts.inspect(T0 + 2 * MIN)).doesNotContainKey("a:a").containsKey("r:r");
        assertThat(scripts.level(T0 + 2 * MIN, "r:r", "tpm").units()).isEqualTo(-60);
        scripts.beat(T0 + 4 * MIN, "h");
        scripts.beat(T0 + 5 * MIN, "h");
        assertThat(scripts.inspect(T0 + 5 * MIN)).doesNotContainKey("r:r");
    }

    // ---- the bounds of one run

    @Test
    void oneRunGrantsSixteen() {
        policy(scope("c:x", -1, whole("tpm", 6_000)));
        enter(T0, ask("a", "tpm", 6_000));
        for (int i = 0; i < 40; i++) {
            enterAll(T0, ask("w" + i, "tpm", 10));
        }
        for (int granted : new int[] {16, 32, 40}) {
            Beat beat = scripts.beat(T0 + 10 * S, "h");
            assertThat(beat.told("g")).hasSize(granted).doesNotHaveDuplicates();
            assertThat(beat.more()).isEqualTo(granted < 40);
        }
    }

    @Test
    void oneRunTriesSixtyFour() {
        policy(scope("c:x", 1));
        enter(T0, ask("a"));
        for (int i = 0; i < 100; i++) {
            enterAll(T0, ask("w" + i).agent("a" + i));
        }
        policy(T0, Rules.USUAL, scope("c:x", 2));
        Beat first = scripts.beat(T0, "other");
        assertThat(first.more()).isTrue();
        assertThat(waiting()).hasSize(36);
        Beat second = scripts.beat(T0, "other");
        assertThat(second.more()).isFalse();
        assertThat(waiting()).isEmpty();
        assertThat(scripts.beat(T0, "h").told("s")).as("64 news at most").hasSize(64);
    }

    // ---- shadow

    @Test
    void inShadowModeNothingWaitsAndAllIsTold() {
        policy(T0, Rules.USUAL.shadow(), scope("c:x", 1, whole("tpm", 6_000)));
        assertThat(scripts.acquire(T0, ask("a", "tpm", 4_000))).hasSize(6).startsWith("granted");
        List<Object> b = scripts.acquire(T0, ask("b", "tpm", 4_000));
        assertThat(b).startsWith("granted");
        assertThat(b.subList(7, 10)).containsExactly(20 * S, "c:x", "tpm");
        assertThat(scripts.level(T0, "c:x", "tpm").units()).isEqualTo(-2_000);
        assertThat(scripts.acquire(T0, ask("n", "tpm", 6_001)).subList(6, 10)).contains(-1L, "c:x", "tpm");
        assertThat(scripts.level(T0, "c:x", "tpm").units())
                .as("one minute of debt at most")
                .isEqualTo(-6_000);
        assertThat(scripts.acquire(T0, ask("c", "tpm", 6_000)).get(0)).isEqualTo("granted");
        assertThat(scripts.level(T0, "c:x", "tpm").units()).isEqualTo(-6_000);
        assertThat(scripts.inspect(T0).get("c:x").used()).isEqualTo(4);
        assertThat(scripts.line().waiting()).isZero();
        assertThat(scripts.acquire(T0, Ask.of("none", Map.of("p", Map.of()))))
                .as("no class")
                .startsWith("granted");
    }

    @Test
    void whoWaitsWhenShadowModeBeginsIsAdmittedWhenItComesAgain() {
        policy(scope("c:x", 1));
        enter(T0, ask("a"));
        enterAll(T0, ask("b"), ask("c"));
        policy(T0, Rules.USUAL.shadow(), scope("c:x", 1));
        assertThat(scripts.beat(T0, "h").told("s")).containsExactlyInAnyOrder("b", "c");
        assertThat(enter(T0, ask("b"))).isEqualTo("granted");
        assertThat(enter(T0, ask("c"))).isEqualTo("granted");
        assertThat(scripts.line().waiting()).isZero();
    }

    // ---- law 2 and 4 through the line

    /**
     * One run gives back and then grants. What fills the bucket to its brim has made good all that was taken before: an
     * older permit gives nothing back on top.
     */
    @Test
    void aBucketFilledByARefundIsFullAlsoIfSomebodyTakesFromItAtOnce() {
        policy(scope("c:x", 2, whole("tpm", 1_000)), scope("c:y", 1));
        enter(T0, ask("old", "tpm", 100));
        enter(T0 + 3 * S, ask("other", "tpm", 200)); // 950 left
        enterAll(T0 + 3 * S, ask("next", "tpm", 500));
        scripts.beat(T0 + 6 * S, "h");
        assertThat(scripts.level(T0 + 6 * S, "c:x", "tpm").units()).isEqualTo(800);
        scripts.settle(T0 + 6 * S, "other", "cancelled", Map.of());
        assertThat(inState("granted")).containsExactly("next");
        assertThat(scripts.level(T0 + 6 * S, "c:x", "tpm").units()).isEqualTo(500);
        scripts.settle(T0 + 6 * S, "old", "cancelled", Map.of());
        assertThat(scripts.level(T0 + 6 * S, "c:x", "tpm").units()).isEqualTo(500);
    }

    @Test
    void aLeaseThatEndsIsTheNextOnesStart() {
        policy(scope("c:x", 1));
        scripts.acquire(T0, ask("dead").lease(2 * S));
        enterAll(T0, ask("next"));
        scripts.beat(T0 + 1_900 * MS, "h");
        Beat beat = scripts.beat(T0 + 2 * S, "h");
        assertThat(beat.told("g")).containsExactly("next");
    }

    /** At every step of a call's way: nothing waits, nothing runs, nothing is charged. */
    @ParameterizedTest
    @ValueSource(strings = {"waiting", "granted", "running", "again", "parked", "aside"})
    void cancelLeavesNothingBehindWhereverTheCallIs(String where) {
        policy(scope("c:x", 1, perMinute("tpm", 60_000)), scope("a:", 1));
        enter(T0, ask("run", "tpm", 1_000));
        if (where.equals("parked")) {
            enter(T0, with(in("c:y", "own").agent("a"), "a:a"));
        }
        enterAll(T0, with(ask("it", "tpm", 2_000).agent("a").host("its"), "a:a"));
        switch (where) {
            case "granted" -> end(T0, "run");
            case "running" -> {
                end(T0, "run");
                scripts.claim(T0, "its", "it");
            }
            case "again" -> {
                policy(T0, Rules.USUAL, scope("c:x", 1, perMinute("tpm", 60_000)), scope("a:", 2));
                scripts.beat(T0, "h");
            }
            case "aside" -> scripts.beat(T0 + S, "h");
            default -> {}
        }
        assertThat(scripts.settle(T0 + S, "it", "undone", Map.of())).startsWith("ended", "undone", 0L);
        assertThat(scripts.line().waiting()).isZero();
        assertThat(scripts.level(T0 + S, "c:x", "tpm").units()).isEqualTo(4_500 - 1_000 + 900);
        assertThat(scripts.redis.zrange(scripts.keys.all()[LINES], 0, -1)).containsExactly("!");
        end(T0 + S, "run");
        end(T0 + S, "own");
        assertThat(scripts.inspect(T0 + S).values())
                .allSatisfy(it -> assertThat(it.used()).isZero());
    }

    @ParameterizedTest
    @CsvSource({"settled, settled", "throttled, throttled"})
    void whoEndsAGrantItNeverClaimedHadIt(String how, String state) {
        policy(scope("c:x", 1));
        enter(T0, ask("a"));
        enterAll(T0, ask("b"));
        end(T0, "a");
        assertThat(scripts.settle(T0, "b", how, Map.of())).startsWith("ended", state, 0L);
        assertThat(scripts.settle(T0, "b", how, Map.of())).startsWith("ended", state, 1L);
    }
}
