package io.sluice.redis;

import static io.sluice.redis.Scripted.MIN;
import static io.sluice.redis.Scripted.S;
import static io.sluice.redis.Scripted.T0;
import static io.sluice.redis.Scripted.whole;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.redis.Scripted.Ask;
import io.sluice.redis.Scripted.Beat;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Who starts first, one situation at a time, at given times. */
@WithRedis
class LineOrderIT extends LineRows {
    LineOrderIT(RedisServer server) {
        super(server);
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

    /** Of the others in the flow at most those behind whoever goes are told one more than is true, and whoever comes later is not. */
    @Test
    void whoAsksAgainOrGoesShiftsNobodysPlaceForGood() {
        policy(scope("c:x", 1));
        enter(T0, ask("run"));
        for (int i = 10; i < 30; i++) {
            enterAll(T0, ask("w" + i));
        }
        // A client asks again whenever it learned what its calls use; at another server a call may be asked for anew.
        for (int round = 0; round < 5; round++) {
            for (int i = 10; i < 30; i++) {
                assertThat(scripts.acquire(T0, ask("w" + i)).get(5)).as("w" + i).isEqualTo(i - 9L);
            }
        }
        for (int round = 0; round < 40; round++) {
            enterAll(T0, ask("short" + round), ask("behind" + round));
            scripts.settle(T0, "short" + round, "cancelled", Map.of());
            scripts.settle(T0, "behind" + round, "cancelled", Map.of());
        }
        assertThat(scripts.acquire(T0, ask("last")).get(5)).isEqualTo(21L);
        assertThat(order(T0, "run", 5)).isEqualTo("wwwww");
        for (int i = 15; i < 30; i++) {
            assertThat(scripts.acquire(T0, ask("w" + i)).get(5)).as("w" + i).isEqualTo(i - 14L);
        }
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
}
