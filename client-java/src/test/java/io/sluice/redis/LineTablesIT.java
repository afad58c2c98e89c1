package io.sluice.redis;

import static io.sluice.redis.Scripted.LEASE;
import static io.sluice.redis.Scripted.MIN;
import static io.sluice.redis.Scripted.S;
import static io.sluice.redis.Scripted.T0;
import static io.sluice.redis.Scripted.perMinute;
import static io.sluice.redis.Scripted.whole;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.redis.Scripted.Ask;
import io.sluice.redis.Scripted.Beat;
import io.sluice.redis.Scripted.Rules;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A call on its way through the line, one situation at a time, at given times. */
@WithRedis
class LineTablesIT extends LineRows {
    LineTablesIT(RedisServer server) {
        super(server);
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

    /** Law 9: alone in line, one starts when its exact wait is over, and not earlier; larger than the burst or not. */
    @ParameterizedTest
    @CsvSource({"3000", "20000"})
    void whoWaitsAloneStartsAfterItsExactWait(long tokens) {
        policy(scope("c:x", -1, perMinute("tpm", 60_000))); // burst 4,500
        enter(T0, ask("a", "tpm", 4_000));
        List<Object> reply = scripts.acquire(T0, ask("b", "tpm", tokens));
        long wait = (Long) reply.get(2);
        assertThat(reply).startsWith("waiting", wait, wait, "c:x", "tpm", 1L, wait);
        assertThat(scripts.beat(T0 + wait - 1, "h").told("g")).isEmpty();
        assertThat(scripts.beat(T0 + wait, "h").told("g")).containsExactly("b");
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

    /** Its instant lay an hour ahead then; no level gets credit for the step, and it waits no longer than its limit says. */
    @Test
    void whoIsParkedDoesNotWaitUntilATimeThatWasSetBackIsHereAgain() {
        policy(T0, Rules.USUAL, scope("a:", -1, whole("rpm", 60)));
        assertThat(enter(T0, with(ask("all", "rpm", 60).agent("a"), "a:a"))).isEqualTo("granted");
        assertThat(enter(T0, with(ask("next", "rpm", 1).agent("a"), "a:a"))).isEqualTo("waiting");
        long back = T0 - 60 * MIN;
        assertThat(beats(back)).isEmpty();
        assertThat(beats(back + S - 1)).isEmpty();
        assertThat(beats(back + S)).containsExactly("next");
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
