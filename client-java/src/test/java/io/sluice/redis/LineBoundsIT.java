package io.sluice.redis;

import static io.sluice.redis.Scripted.MIN;
import static io.sluice.redis.Scripted.S;
import static io.sluice.redis.Scripted.T0;
import static io.sluice.redis.Scripted.perMinute;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.ScopeLimits;
import io.sluice.redis.Scripted.Ask;
import io.sluice.redis.Scripted.Beat;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Law 12 in the line: one run does a bounded part of the work, in order, and says that some is left. */
@WithRedis
class LineBoundsIT {
    /** More than one run tries; {@code -Dline.long=2}: 200. */
    private static final int CLASSES = Long.getLong("line.long", 1) > 1 ? 200 : 70;

    private static final Map<String, Long> WEIGHTS = Map.of("i", 16L, "n", 4L, "b", 1L);

    private static final int TWO_WAIT_IN = 20;

    private static final int GRANTS = 16;
    private static final int TRIES = 64;
    /** What a run may ask of Redis: so much a grant, a claim, a try, and once. Measured, and a fifth more. */
    private static final int A_GRANT = 20;

    private static final int A_CLAIM = 6;
    private static final int A_TRY = 20;
    private static final int ONCE = 60;

    private static final Pattern CALLS = Pattern.compile("cmdstat_(\\S+?):calls=(\\d+)");

    private final RedisServer server;
    private Scripted scripts;

    LineBoundsIT(RedisServer server) {
        this.server = server;
    }

    @BeforeEach
    void connect() {
        scripts = new Scripted(server);
    }

    @AfterEach
    void close() {
        scripts.close();
    }

    private static String modelClass(int i) {
        return String.format("c%03d", i);
    }

    /** Each class has its own limit, ten requests at most and one more a second, and the project one for all. */
    private static ScopeLimits[] policy() {
        List<ScopeLimits> scopes = new ArrayList<>();
        scopes.add(new ScopeLimits("p", -1, List.of(perMinute("tpm", 600_000, 10, 1))));
        for (int i = 0; i < CLASSES; i++) {
            scopes.add(new ScopeLimits("c:" + modelClass(i), -1, List.of(perMinute("rpm", 60, 10, 10))));
        }
        return scopes.toArray(ScopeLimits[]::new);
    }

    private static Ask ask(String modelClass, String priority, int number) {
        return Ask.of(
                        modelClass + priority + number,
                        Map.of("p", Map.of("tpm", 1L), "c:" + modelClass, Map.of("rpm", 1L)))
                .flow("other|" + priority, WEIGHTS.get(priority))
                .waiting(10 * MIN);
    }

    /** How many commands scripts have run. */
    private long commands() {
        return CALLS.matcher(server.command("info", "commandstats"))
                .results()
                .filter(result -> !result.group(1).matches("evalsha|eval|info"))
                .mapToLong(result -> Long.parseLong(result.group(2)))
                .sum();
    }

    @Test
    void hundredsOfLanesAreServedInOrderSixteenARun() {
        scripts.install(T0, policy());
        scripts.acquire(T0, Ask.of("all", Map.of("p", Map.of("tpm", 10_000L), "c:c000", Map.of())));
        for (String priority : List.of("b", "n", "i")) {
            for (int i = 0; i < CLASSES; i++) {
                assertThat(scripts.acquire(T0, ask(modelClass(i), priority, 0))).startsWith("waiting");
                if (i < TWO_WAIT_IN) {
                    assertThat(scripts.acquire(T0, ask(modelClass(i), priority, 1)))
                            .startsWith("waiting");
                }
            }
        }
        // All tags are 0: the first round goes by arrival. Then a lane's tag is what it got, over its weight.
        List<String> expected = new ArrayList<>();
        for (String next : List.of("b0", "n0", "i0", "i1", "n1", "b1")) {
            for (int i = 0; i < (next.endsWith("0") ? CLASSES : TWO_WAIT_IN); i++) {
                expected.add(modelClass(i) + next);
            }
        }
        long at = T0 + S; // the project has enough for all again
        String[] claims = {};
        for (int done = 0; done < expected.size(); done += GRANTS) {
            int end = Math.min(done + GRANTS, expected.size());
            long before = commands();
            Beat beat = scripts.claim(at, "h", claims);
            assertThat(commands() - before)
                    .as("commands of the run that grants no. %d and on", done)
                    .isLessThanOrEqualTo(GRANTS * A_GRANT + claims.length * A_CLAIM + ONCE);
            claims = beat.told("g").toArray(String[]::new);
            assertThat(claims)
                    .as("grants from no. %d", done)
                    .containsExactlyInAnyOrderElementsOf(expected.subList(done, end));
            assertThat(beat.more()).isEqualTo(end < expected.size());
        }
    }

    /** All are short on something of their own class: a few runs, each bounded, until all were looked at, and then rest. */
    @Test
    void aRunThatFindsNobodyToStartIsBoundedToo() {
        scripts.install(T0, policy());
        for (int i = 0; i < CLASSES; i++) {
            drain(i);
        }
        for (int i = 0; i < CLASSES; i++) {
            for (String priority : WEIGHTS.keySet()) {
                assertThat(scripts.acquire(T0, ask(modelClass(i), priority, 0))).startsWith("waiting");
            }
        }
        assertThat(grantedWhileWorkIsLeft()).isEmpty();
    }

    /** Beats again at once as long as that is asked for: whatever one run leaves, a few find. */
    private List<Object> grantedWhileWorkIsLeft() {
        List<Object> granted = new ArrayList<>();
        for (int run = 0; run <= 2 * CLASSES / TRIES + 1; run++) {
            long before = commands();
            Beat beat = scripts.beat(T0, "h");
            assertThat(commands() - before).isLessThanOrEqualTo(TRIES * A_TRY + GRANTS * A_GRANT + ONCE);
            granted.addAll(beat.told("g"));
            if (!beat.more()) {
                return granted;
            }
        }
        throw new AssertionError("work is left for ever");
    }

    private void startsAtTheNextBeatAtLatest(Ask ask) {
        List<Object> reply = scripts.acquire(T0, ask);
        if (!reply.get(0).equals("granted")) {
            assertThat(reply).startsWith("waiting");
            assertThat(grantedWhileWorkIsLeft()).contains(ask.id());
            scripts.claim(T0, "h", ask.id());
        }
    }

    private void drain(int i) {
        for (int number = 0; number < 10; number++) {
            Ask ask = ask(modelClass(i), "n", 100 + number).waiting(0);
            assertThat(scripts.acquire(T0, ask)).startsWith("granted");
        }
    }

    /** A full class never delays another, and be there more full ones than a run tries. */
    @Test
    void moreFullClassesThanARunTriesDoNotDelayTheOneThatIsNot() {
        scripts.install(T0, policy());
        for (int i = 0; i < CLASSES - 1; i++) {
            drain(i);
        }
        for (int i = 0; i < CLASSES - 1; i++) {
            assertThat(scripts.acquire(T0, ask(modelClass(i), "n", 0))).startsWith("waiting");
        }
        for (int number = 0; number < 10; number++) {
            startsAtTheNextBeatAtLatest(ask(modelClass(CLASSES - 1), "n", number));
        }
    }

    /** The same of lanes: more teams at their own limits than a run tries, and one that is not. */
    @Test
    void moreFullTeamsThanARunTriesDoNotDelayTheOneThatIsNot() {
        List<ScopeLimits> scopes = new ArrayList<>();
        scopes.add(new ScopeLimits("p", -1, List.of()));
        scopes.add(new ScopeLimits("c:m", -1, List.of()));
        for (int i = 0; i < 100; i++) {
            scopes.add(new ScopeLimits("t:t" + i, i == 99 ? 10 : 1, List.of()));
        }
        scripts.install(T0, scopes.toArray(ScopeLimits[]::new));
        for (int i = 0; i < 99; i++) {
            assertThat(scripts.acquire(T0, ofTeam(i, "runs"))).startsWith("granted");
        }
        for (int i = 0; i < 99; i++) {
            assertThat(scripts.acquire(T0, ofTeam(i, "waits"))).startsWith("waiting");
        }
        // With each that starts the others come before it in the order.
        for (int number = 0; number < 10; number++) {
            startsAtTheNextBeatAtLatest(ofTeam(99, "runs-" + number));
        }
    }

    /** What an earlier run closed is still closed for those that it did not come to. */
    @Test
    void nobodyTakesWhatAnEarlierOneIsShortOnBecauseARunHadToStop() {
        List<ScopeLimits> scopes = new ArrayList<>();
        scopes.add(new ScopeLimits("p", -1, List.of(perMinute("tpm", 60_000, 10, 1))));
        for (int i = 0; i < CLASSES; i++) {
            scopes.add(new ScopeLimits("c:" + modelClass(i), -1, List.of()));
        }
        scripts.install(T0, scopes.toArray(ScopeLimits[]::new));
        assertThat(scripts.acquire(T0, ofTokens(0, "earlier", 900))).startsWith("granted");
        assertThat(scripts.acquire(T0, ofTokens(0, "large", 800))).startsWith("waiting");
        for (int i = 1; i < CLASSES; i++) {
            assertThat(scripts.acquire(T0, ofTokens(i, "small", 10)))
                    .as("class %d", i)
                    .startsWith("waiting");
        }
        assertThat(grantedWhileWorkIsLeft()).isEmpty();
        assertThat(scripts.beat(T0 + 700 * 1_000, "h").told("g")).containsExactly("large0");
    }

    private static Ask ofTokens(int i, String what, long units) {
        return Ask.of(what + i, Map.of("p", Map.of("tpm", units), "c:" + modelClass(i), Map.of()))
                .waiting(10 * MIN);
    }

    private static Ask ofTeam(int i, String what) {
        return Ask.of(what + i, Map.of("p", Map.of(), "c:m", Map.of(), "t:t" + i, Map.of()))
                .flow("t" + i + "|n", 4)
                .waiting(10 * MIN);
    }
}
