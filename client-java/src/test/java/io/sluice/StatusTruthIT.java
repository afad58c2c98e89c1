package io.sluice;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What status tells is so: nobody sees slots of the dead, and a place is a place. */
@WithRedis
@Timeout(120)
class StatusTruthIT {
    private static final Sluice.Options PATIENT = Sluice.Options.DEFAULT.withCommandTimeout(Duration.ofSeconds(5));
    private static final List<String> TEAMS = List.of("red", "green", "blue");
    private static final int EACH = 20;
    private static final Duration LEASE = Duration.ofSeconds(3);

    private final String id = "t-" + UUID.randomUUID();
    private final Sluice fleet;
    private final Sluice operator;
    private final Map<String, CompletableFuture<Permit>> waits = new HashMap<>();

    StatusTruthIT(RedisServer redis) {
        fleet = Sluice.connect(redis.uri(), PATIENT);
        operator = Sluice.connect(redis.uri(), PATIENT);
    }

    @AfterEach
    void close() {
        waits.values().forEach(one -> one.cancel(true));
        fleet.close();
        operator.close();
    }

    private void install(String limits, String lease) {
        operator.install(Policy.parse("""
                project: %s
                provider: generic
                headroom: 1
                lease: %s
                teams: [{name: red, weight: 4}, {name: green}, {name: blue}]
                classes:
                  - {name: m, models: ["m-*"], max_output: 100, limits: {%s}}
                """.formatted(id, lease, limits)));
    }

    private Status status() {
        return AdminIT.get(operator.admin().status(id));
    }

    private Status whenAllWait(int howMany) {
        await().atMost(Duration.ofSeconds(30)).until(() -> status().waiters() == howMany);
        return status();
    }

    private void enter(String call, String team) {
        Call asked = Budget.CALL.id(call).team(team);
        waits.put(
                call,
                fleet.project(id).acquireAsync(asked, Duration.ofMinutes(5)).toCompletableFuture());
    }

    /** Of each team its calls in the order of their places, which are 1, 2, 3 and so on. */
    private static Map<String, Deque<String>> lines(Status status) {
        Map<String, Deque<String>> lines = new HashMap<>();
        for (String team : TEAMS) {
            List<Status.Waiting> line = status.waiting().stream()
                    .filter(one -> one.team().equals(team))
                    .toList();
            List<Long> places = new ArrayList<>();
            for (long place = 1; place <= line.size(); place++) {
                places.add(place);
            }
            assertThat(line).extracting(Status.Waiting::position).as(team).isEqualTo(places);
            lines.put(
                    team, new ArrayDeque<>(line.stream().map(Status.Waiting::id).toList()));
        }
        return lines;
    }

    /** They start by the places that were told, also after some went. */
    @Test
    void placesAreThoseInWhichCallsStart() {
        install("concurrency: 1", "15m");
        Permit running = Budget.take(operator.project(id), Budget.CALL);
        for (int i = 0; i < EACH; i++) {
            for (String team : TEAMS) {
                enter(team + "-" + i, team);
            }
        }
        lines(whenAllWait(EACH * TEAMS.size()));
        for (int gone : List.of(15, 8, 2)) {
            waits.remove("red-" + gone).cancel(true);
        }
        int left = EACH * TEAMS.size() - 3;
        Map<String, Deque<String>> lines = lines(whenAllWait(left));
        running.settle(new Usage(1, 0, 0, 1));
        for (int i = 0; i < 15; i++) {
            String next = nextToStart();
            Deque<String> line = lines.get(next.substring(0, next.indexOf('-')));
            assertThat(line).first().isEqualTo(next);
            lines = lines(whenAllWait(--left));
            settle(next);
        }
    }

    private String nextToStart() {
        await().atMost(Duration.ofSeconds(30))
                .until(() -> waits.values().stream().anyMatch(CompletableFuture::isDone));
        List<String> done = waits.entrySet().stream()
                .filter(one -> one.getValue().isDone())
                .map(Map.Entry::getKey)
                .toList();
        assertThat(done).hasSize(1);
        return done.get(0);
    }

    private void settle(String call) {
        CompletableFuture<Permit> got = waits.remove(call);
        if (got == null) {
            throw new AssertionError(call + " does not wait");
        }
        got.join().settle(new Usage(1, 0, 0, 1));
    }

    /** A host dies with all of its permits and nobody else of that project runs: whoever looks after the lease sees none of it. */
    @Test
    void slotsOfTheDeadAreGoneAfterTheirLease() {
        install("concurrency: 100", "3s");
        Desk desk = fleet.desk(id, io.sluice.provider.Profiles::of);
        List<CompletableFuture<Desk.Handout>> asked = new ArrayList<>();
        for (int i = 0; i < 70; i++) {
            Call call = Budget.CALL.agent("dead-" + i);
            asked.add(Desks.ask(desk, new Desk.Asking(call, "token", Duration.ZERO, LEASE)));
        }
        asked.forEach(Desks::get);
        assertThat(status().inFlight()).containsEntry("p", 70L).containsEntry("c:m", 70L);
        assertThat(status().agents())
                .filteredOn(one -> one.state() == Status.State.CALLING)
                .hasSize(70);
        await().atMost(Duration.ofSeconds(30)).pollDelay(LEASE.plusMillis(100)).until(() -> true);

        Status after = status();
        assertThat(after.inFlight()).containsEntry("p", 0L).containsEntry("c:m", 0L);
        assertThat(after.agents())
                .extracting(Status.Agent::state)
                .doesNotContain(Status.State.CALLING, Status.State.WAITING);
        assertThat(after.limits())
                .filteredOn(limit -> limit.limit().equals("concurrency"))
                .singleElement()
                .satisfies(limit -> assertThat(limit.level()).isEqualTo(100));
        assertThat(AdminIT.get(operator.admin().counters(id)).permits())
                .containsEntry(new Counters.Labels("m", "expired"), 70L);
    }

    /** Behind full slots nobody knows when one is free; it is not in a moment. */
    @Test
    void whoWaitsForASlotIsToldAnEstimateThatTheLeaseBounds() {
        install("concurrency: 4", "20s");
        List<Permit> running = new ArrayList<>(Collections.nCopies(4, Budget.take(operator.project(id), Budget.CALL)));
        for (int i = 1; i < 4; i++) {
            running.set(i, Budget.take(operator.project(id), Budget.CALL));
        }
        enter("red-0", "red");
        enter("red-1", "red");
        Status status = whenAllWait(2);
        // Four that each may hold a slot for 20 s: one of them is free each 5 s.
        assertThat(status.waiting()).extracting(Status.Waiting::waitMs).containsExactly(5_000L, 10_000L);
        Refusal now = Budget.refusal(operator.project(id), Budget.CALL.team("green"));
        assertThat(now.estimate()).isTrue();
        // Red starts four for each of green: its first is the fifth.
        assertThat(now.retryAfter()).isEqualTo(Duration.ofSeconds(25));
        running.forEach(permit -> permit.settle(new Usage(1, 0, 0, 1)));
    }
}
