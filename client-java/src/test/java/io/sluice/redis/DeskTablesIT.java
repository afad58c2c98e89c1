package io.sluice.redis;

import static io.sluice.redis.Scripted.MIN;
import static io.sluice.redis.Scripted.S;
import static io.sluice.redis.Scripted.T0;
import static io.sluice.redis.Scripted.whole;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * An id that is asked for at two hosts, as callers of a server do whose first one went away: {@code old} and {@code new}. Each
 * has a nonce of its own for it.
 */
@WithRedis
class DeskTablesIT extends LineRows {
    DeskTablesIT(RedisServer server) {
        super(server);
    }

    private void oneAtATime() {
        policy(scope("c:x", 1, whole("tpm", 1_000)));
        enter(T0, ask("a", "tpm", 100));
    }

    private List<Object> asks(long at, String host) {
        return scripts.acquire(at, ask("b", "tpm", 10).host(host), host);
    }

    // ---- whose it is

    @Test
    void aWaitIsOfWhoAskedLastAndKeepsItsPlace() {
        oneAtATime();
        assertThat(asks(T0, "old").get(0)).isEqualTo("waiting");
        enterAll(T0, ask("c", "tpm", 10));
        assertThat(asks(T0 + S, "new").get(0)).isEqualTo("waiting");

        assertThat(scripts.end(T0 + S, "b", "old", "undone", "old"))
                .as("what the first one gives up is no longer its own")
                .containsExactly("unknown");
        scripts.beat(T0 + S, "new");
        scripts.beat(T0 + S, "h");
        end(T0 + S, "a");
        assertThat(scripts.beat(T0 + S, "old").told("g")).isEmpty();
        assertThat(scripts.beat(T0 + S, "new").told("g")).containsExactly("b");
        assertThat(scripts.claim(T0 + S, "new", "b").claims().get(0)).startsWith("granted", "new");
    }

    @Test
    void aGrantThatNobodyClaimedIsOfWhoAskedLast() {
        oneAtATime();
        asks(T0, "old");
        end(T0, "a");
        assertThat(inState("granted")).containsExactly("b");

        assertThat(asks(T0, "new")).startsWith("granted", "new").endsWith(1L);
        assertThat(scripts.end(T0, "b", "old", "undone", "old")).containsExactly("unknown");
        assertThat(inState("running")).containsExactly("b");
        assertThat(scripts.beat(T0, "old").told("g")).as("it is claimed").isEmpty();
    }

    /** It was claimed where nobody wants it any more, and asked for elsewhere before that was told. */
    @Test
    void onlyTheHostThatHeardOfItLastUndoesAPermit() {
        oneAtATime();
        asks(T0, "old");
        end(T0, "a");
        scripts.claim(T0, "old", "b");
        assertThat(asks(T0, "new")).startsWith("granted", "old").endsWith(1L);

        assertThat(scripts.end(T0, "b", "old", "undone", "old")).containsExactly("unknown");
        assertThat(inState("running")).containsExactly("b");
        assertThat(scripts.claim(T0, "old", "b").claims().get(0)).startsWith("granted", "old");
        assertThat(scripts.end(T0, "b", "old", "undone", "new"))
                .as("now the first one has it")
                .containsExactly("unknown");
        assertThat(scripts.end(T0, "b", "old", "undone", "old")).startsWith("ended", "undone");
        assertThat(inState("running")).isEmpty();
        assertThat(scripts.inspect(-1).get("c:x").used()).isZero();
    }

    // ---- taken back

    @Test
    void aWithdrawnWaitLeavesTheLineAndItsHostIsTold() {
        oneAtATime();
        asks(T0, "old");
        enterAll(T0, ask("c", "tpm", 10));
        List<String> told = new ArrayList<>();
        scripts.listen("old", told::add);

        assertThat(scripts.end(T0, "b", "old", "withdrawn", "")).startsWith("ended", "withdrawn");
        assertThat(waiting()).containsExactly("c");
        assertThat(told).containsExactly("g b");
        assertThat(scripts.claim(T0, "old", "b").claims()).containsExactly(List.of("gone"));
        assertThat(asks(T0, "old")).as("it asks again").containsExactly("ended", "withdrawn");
        end(T0, "a");
        assertThat(beats(T0)).containsExactly("c");
    }

    @Test
    void aWithdrawnIdIsFreeForAnotherQuestion() {
        oneAtATime();
        asks(T0, "old");
        scripts.end(T0, "b", "old", "withdrawn", "");

        assertThat(scripts.acquire(T0, ask("b", "tpm", 10).host("new").digest("another"), "new")
                        .get(0))
                .isEqualTo("waiting");
        assertThat(waiting()).containsExactly("b");
    }

    @Test
    void aWithdrawnIdIsForgottenInTenSeconds() {
        oneAtATime();
        asks(T0, "old");
        scripts.end(T0, "b", "old", "withdrawn", "");
        scripts.beat(T0 + 10 * S - 1, "h");
        assertThat(scripts.find(T0 + 10 * S, "b")).startsWith("call", "permit", "withdrawn");
        scripts.beat(T0 + 10 * S, "h");

        assertThat(scripts.find(T0 + 10 * S, "b")).containsExactly("call", "none");
    }

    @Test
    void aGrantThatNobodyClaimedIsAWaitStill() {
        oneAtATime();
        asks(T0, "old");
        end(T0, "a");

        assertThat(scripts.end(T0, "b", "old", "withdrawn", "")).startsWith("ended", "withdrawn");
        assertThat(scripts.inspect(-1).get("c:x").used()).isZero();
        assertThat(asks(T0, "old")).containsExactly("ended", "withdrawn");
    }

    @ParameterizedTest
    @ValueSource(strings = {"running", "settled", "expired"})
    void aPermitIsNotWithdrawn(String state) {
        oneAtATime();
        long at = state.equals("expired") ? T0 + 31 * S : T0;
        if (state.equals("settled")) {
            end(T0, "a");
        }

        assertThat(scripts.end(at, "a", "n-a", "withdrawn", "").get(0)).isIn("unknown", "ended");
        assertThat(scripts.find(at, "a")).startsWith("call", "permit", state);
        assertThat(scripts.end(at, "a", "wrong", "withdrawn", "")).containsExactly("unknown");
    }

    // ---- who goes by an id

    @Test
    void whoGoesByAnIdIsTold() {
        oneAtATime();
        asks(T0, "old");
        assertThat(scripts.find(T0, "a").subList(0, 11))
                .containsExactly(
                        "call", "permit", "running", "d", "n-a", "memo", "h", scripts.stamp, T0, Scripted.LEASE, "-");
        assertThat(scripts.find(T0, "a").subList(11, 15)).containsExactly("p", List.of(), "c:x", List.of(100L));
        assertThat(scripts.find(T0, "b")).containsExactly("call", "waiter", "d", "old", "old");
        assertThat(scripts.find(T0, "nobody")).containsExactly("call", "none");
        assertThat(scripts.find(T0, "!")).containsExactly("call", "none");
        end(T0, "a");
        assertThat(scripts.find(T0, "a")).containsExactly("call", "permit", "settled", "d", "n-a", "memo");
    }

    /** For 10 minutes, and in steps of 5 s. */
    @Test
    void anEndedIdIsANewCallAfterTenMinutes() {
        oneAtATime();
        end(T0, "a");
        assertThat(scripts.acquire(T0 + 10 * MIN - 1, ask("a", "tpm", 100))).containsExactly("ended", "settled");
        assertThat(scripts.acquire(T0 + 10 * MIN + 6 * S, ask("a", "tpm", 100)).get(0))
                .isEqualTo("granted");
    }

    /** A lease that ran out: its usage is booked within the hour. */
    @Test
    void anExpiredPermitSettlesWithinTheHour() {
        oneAtATime();
        scripts.beat(T0 + 31 * S, "h");
        assertThat(scripts.find(T0 + 60 * MIN, "a")).startsWith("call", "permit", "expired");
        scripts.beat(T0 + 61 * MIN, "h");
        assertThat(scripts.find(T0 + 61 * MIN, "a")).containsExactly("call", "none");
        assertThat(scripts.settle(T0 + 61 * MIN, "a", "settled", Map.of())).containsExactly("unknown");
    }
}
