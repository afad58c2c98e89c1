package io.sluice;

import static io.sluice.Desks.SOON;
import static io.sluice.Desks.ask;
import static io.sluice.Desks.get;
import static io.sluice.Desks.refusal;
import static io.sluice.Desks.refused;
import static io.sluice.Desks.take;
import static io.sluice.Desks.used;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.sluice.Desk.Handout;
import io.sluice.testbed.redis.Fault;
import io.sluice.testbed.redis.FaultyProxy;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Calls that wait at desks: their places, what ends a wait, and what becomes of both when a process goes. One call runs at a time. */
@WithRedis
@Tag("contract")
@Timeout(120)
class DeskWaitsIT {
    private static final String CALLER = "token/bot";

    private final FaultyProxy wire;
    private final Desks desks;

    DeskWaitsIT(RedisServer redis) {
        wire = FaultyProxy.to(redis);
        desks = new Desks(redis.uri(), wire.uri());
        desks.second.install(Budget.policy(desks.id, "concurrency: 1", "15s"));
    }

    @AfterEach
    void close() {
        wire.heal();
        desks.close();
        wire.close();
    }

    private Desk desk(boolean other) {
        return other ? desks.there : desks.here;
    }

    /** One of this id that stands in line, after all that wait already. */
    private CompletableFuture<Handout> waits(Desk desk, String callId) {
        long before = desks.levels().waiters();
        CompletableFuture<Handout> wait = ask(desk, callId, SOON);
        await().until(() -> desks.levels().waiters() == before + 1);
        return wait;
    }

    private void ends(Handout handout) {
        assertThat(get(desks.there.settle(handout.permit(), used(1, 1)))
                        .ending()
                        .ended())
                .isEqualTo(Permit.How.SETTLED);
    }

    private void nobodyWaits() {
        await().until(() -> desks.levels().waiters() == 0);
    }

    @Test
    void theyStandInOneLineWithJavaClientsAndAreTold() {
        Permit first = Budget.take(desks.second.project(desks.id), Desks.CALL);
        List<WaitListener.Waiting> told = new CopyOnWriteArrayList<>();
        CompletableFuture<Handout> one =
                desks.here.acquire(Desks.asking("job-1", SOON), told::add).toCompletableFuture();
        await().until(() -> desks.levels().waiters() == 1);
        CompletableFuture<Permit> two =
                desks.second.project(desks.id).acquireAsync(Desks.CALL, SOON).toCompletableFuture();
        await().until(() -> desks.levels().waiters() == 2);
        CompletableFuture<Handout> three = waits(desks.there, "job-3");

        await().until(() -> !told.isEmpty());
        assertThat(told.get(0).limit()).isEqualTo("concurrency");
        assertThat(told.get(0).position()).isEqualTo(1);
        first.cancel();
        Handout handout = get(one);
        assertThat(handout.waited()).isPositive();
        assertThat(handout.again()).isFalse();
        assertThat(two).isNotDone();
        ends(handout);
        Permit second = get(two);
        assertThat(three).isNotDone();
        second.cancel();
        ends(get(three));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void theSameQuestionJoinsTheWaitAndKeepsItsPlace(boolean other) {
        Handout running = take(desks.here, "running");
        CompletableFuture<Handout> wait = waits(desks.here, "job-1");
        CompletableFuture<Handout> rival = waits(desks.here, "rival");

        CompletableFuture<Handout> joined = ask(desk(other), "job-1", SOON);
        assertThat(catchThrowable(() -> joined.get(300, TimeUnit.MILLISECONDS))).isInstanceOf(TimeoutException.class);
        assertThat(desks.levels().waiters()).isEqualTo(2);
        ends(running);

        assertThat(get(joined).permit()).isEqualTo(get(wait).permit());
        assertThat(rival).isNotDone();
        ends(get(joined));
        ends(get(rival));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void oneOfTwoWhoWaitForTheSameMayGo(boolean other) {
        Handout running = take(desks.here, "running");
        CompletableFuture<Handout> wait = waits(desks.here, "job-1");
        CompletableFuture<Handout> joined = ask(desk(other), "job-1", SOON);
        await().pollDelay(Duration.ofMillis(100)).until(() -> desks.levels().waiters() == 1);
        wait.cancel(true);
        ends(running);

        Handout handout = get(joined);
        assertThat(get(desks.there.renew(handout.permit()))).isPresent();
        ends(handout);
    }

    @Test
    void aCallerThatIsGoneLeavesNothingBehind() {
        Handout running = take(desks.here, "running");
        CompletableFuture<Handout> wait = waits(desks.here, "job-1");

        wait.cancel(true);
        nobodyWaits();
        ends(running);
        assertThat(desks.levels().used()).isZero();
        // Nothing was handed out: the id is as new.
        assertThat(take(desks.there, "job-1").again()).isFalse();
    }

    @Test
    void itsDeadlineRefusesItAndKeepsItsPlace() {
        Handout running = take(desks.here, "running");
        Refusal refusal = refusal(ask(desks.here, "job-1", Duration.ofMillis(300)));
        assertThat(refusal.kind()).isEqualTo(Refusal.Kind.DEADLINE);
        nobodyWaits();
        CompletableFuture<Handout> rival = waits(desks.here, "rival");
        CompletableFuture<Handout> again = waits(desks.there, "job-1");

        ends(running);
        ends(get(again));
        ends(get(rival));
    }

    // ---- taken back

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void itsCallerTakesAWaitBackAtAnyDesk(boolean other) {
        Handout running = take(desks.here, "running");
        CompletableFuture<Handout> wait = waits(desks.here, "job-1");

        assertThat(get(desk(other).cancelWait(CALLER, "job-1"))).isTrue();
        assertThat(refused(wait)).isEqualTo(Refusal.Kind.CANCELLED);
        assertThat(desks.levels().waiters()).isZero();
        assertThat(get(desk(other).cancelWait(CALLER, "job-1"))).isFalse();
        ends(running);
        // It is a new call now.
        Handout anew = take(desks.there, "job-1");
        assertThat(anew.again()).isFalse();
        ends(anew);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void nobodyElseDoes(boolean other) {
        Handout running = take(desks.here, "running");
        CompletableFuture<Handout> wait = waits(desks.here, "job-1");

        assertThat(get(desk(other).cancelWait("token/bat", "job-1"))).isFalse();
        assertThat(get(desk(other).cancelWait(CALLER, "job-2"))).isFalse();
        // A permit is no wait.
        assertThat(get(desk(other).cancelWait(CALLER, "running"))).isFalse();
        ends(running);
        ends(get(wait));
    }

    // ---- processes that go

    /** The place is another desk's from the moment it is asked there; what the first one still says of it counts for nothing. */
    @Test
    void aDeadProcessCostsAWaitingCallNoPlace() {
        Handout running = take(desks.there, "running");
        CompletableFuture<Handout> lost = waits(desks.here, "job-1");
        wire.set(new Fault.Refuse());
        wire.cut();
        CompletableFuture<Handout> rival = waits(desks.there, "rival");

        CompletableFuture<Handout> again = ask(desks.there, "job-1", SOON);
        await().pollDelay(Duration.ofMillis(100)).until(() -> desks.levels().waiters() == 2);
        ends(running);
        Handout handout = get(again);
        assertThat(rival).isNotDone();

        wire.heal();
        lost.cancel(true);
        assertThat(get(desks.there.renew(handout.permit()))).isPresent();
        ends(handout);
        ends(get(rival));
        nobodyWaits();
    }

    @Test
    void oneThatStopsHandsItsLineOver() {
        Handout running = take(desks.there, "running");
        List<CompletableFuture<Handout>> waits = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            waits.add(waits(desks.here, "job-" + i));
        }
        CompletableFuture<Handout> nameless =
                desks.here.acquire(Desks.asking(null, SOON), any -> {}).toCompletableFuture();
        await().until(() -> desks.levels().waiters() == 6);
        get(desks.here.closeLine());
        for (CompletableFuture<Handout> wait : waits) {
            assertThat(Blocking.cause(catchThrowable(() -> get(wait))))
                    .isInstanceOfSatisfying(
                            OutageException.class, e -> assertThat(e.reason()).isEqualTo("closing"));
        }
        assertThat(catchThrowable(() -> get(nameless))).isNotNull();
        assertThat(catchThrowable(() -> get(ask(desks.here, "late", SOON)))).hasMessageContaining("stops");
        nobodyWaits();
        desks.first.close();

        CompletableFuture<Handout> rival = waits(desks.there, "rival");
        // Asked again in any order, they have their places.
        List<CompletableFuture<Handout>> again = new ArrayList<>();
        for (int i = 4; i >= 0; i--) {
            again.add(0, waits(desks.there, "job-" + i));
        }
        ends(running);
        for (CompletableFuture<Handout> each : again) {
            assertThat(rival).isNotDone();
            ends(get(each));
        }
        ends(get(rival));
    }
}
