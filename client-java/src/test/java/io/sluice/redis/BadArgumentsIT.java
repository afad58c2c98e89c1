package io.sluice.redis;

import static io.sluice.redis.Scripted.LEASE;
import static io.sluice.redis.Scripted.MIN;
import static io.sluice.redis.Scripted.T0;
import static io.sluice.redis.Scripted.costs;
import static io.sluice.redis.Scripted.modelClass;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** An argument out of its range is named and nothing is written: a script that fails half way leaves half of its work. */
@WithRedis
class BadArgumentsIT {
    private static final String NOW = Long.toString(T0);

    private final RedisServer server;
    private Scripted scripts;

    BadArgumentsIT(RedisServer server) {
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

    private void refuses(Script script, List<String> arguments, String named) {
        assertThatThrownBy(() -> scripts.run(script, arguments)).hasMessageContaining("BADARG " + named);
    }

    @ParameterizedTest
    @CsvSource({
        "held, 2, x",
        "mode, 7, ''",
        "mode, 7, off",
        "max_waiters, 8, -1",
        "max_waiters, 8, nan",
        "scopes, 9, 0",
        "scopes, 9, 1001",
        "scopes, 9, nan",
        "scopes, 9, 2", // one more than follow
        "calendars, 10, -1",
        "calendars, 10, nan",
        "calendars, 10, 1001",
        "calendars, 11, ''",
        "calendars, 11, day UTC x",
        "scopes, 12, c:m", // the project must be the first
        "slots, 13, -2",
        "slots, 13, nan", // no number is fewer than that: it would be unlimited
        "slots, 13, 1.5",
        "max, 14, -1",
        "max, 14, nan",
        "ramp, 15, 1000001",
        "ramp, 15, nan",
        "every, 16, -1",
        "every, 16, nan",
        "every, 16, 0", // it would never end
        "limits, 17, -1",
        "limits, 17, 33",
        "limits, 17, 0.5",
        "name, 18, 'two words'",
        "name, 18, ''",
        "rate, 19, -1",
        "rate, 19, nan",
        "rate, 19, 0.5",
        "rate, 19, 9007199254740992", // 2^53
        "factor, 20, 0", // everything would cost nothing
        "tick, 21, 0",
        "capacity, 22, 1e300",
        "ceiling, 23, ''",
        "width, 24, inf",
        "gate, 25, x",
        "minute, 26, 0",
        "unit, 27, 0",
        "calendar, 28, -1",
        "calendar, 28, 2", // there is one
        "calendar, 28, nan",
        "calendar, 28, 1", // it refills
        "start, 29, 1000001",
        "start, 29, nan",
        "finds, 30, 3",
        "finds, 30, nan",
    })
    void policyNamesWhatIsWrongAndLeavesEvenADamagedProjectAsItWas(String named, int index, String value) {
        scripts.install(T0, modelClass(3));
        scripts.redis.hdel(scripts.keys.all()[1], "p");
        Map<String, String> before = scripts.redis.hgetall(scripts.keys.all()[1]);
        String limit = "rpm 54 60000000 1 270000000 54 5000000 60 60 1 0 1000000 0";
        List<String> arguments = new ArrayList<>(
                List.of(NOW, "e", "0", "", "digest", "text", "", "enforce", "100", "1", "1", "day UTC 0"));
        arguments.addAll(List.of("p", "-1", "0", "100000", "60000000", "1"));
        arguments.addAll(List.of(limit.split(" ")));
        arguments.set(index, value);
        refuses(Script.POLICY, arguments, named);
        assertThat(scripts.redis.hgetall(scripts.keys.all()[1])).isEqualTo(before);
    }

    /** What counts by windows has nothing finer than units of cost, and one way to end. */
    @ParameterizedTest
    @CsvSource({
        "factor, rpm 0 2 1 100 100 0 100 1 1 1 1000000 0",
        "factor, rpm 0 1 2 100 100 0 100 1 1 1 1000000 0",
        "factor, rpm 0 2 1 100 100 1000 100 1 1 0 1000000 0",
        "calendar, rpm 0 1 1 100 100 1000 100 1 1 1 1000000 0",
    })
    void policyWantsWindowsThatAreWhole(String named, String limit) {
        List<String> arguments = new ArrayList<>(List.of(
                NOW,
                "e",
                "0",
                "",
                "d",
                "",
                "",
                "enforce",
                "100",
                "1",
                "1",
                "day UTC 0",
                "p",
                "-1",
                "0",
                "0",
                "0",
                "1"));
        arguments.addAll(List.of(limit.split(" ")));
        refuses(Script.POLICY, arguments, named);
    }

    @Test
    void policyWantsEachScopeOnce() {
        refuses(
                Script.POLICY,
                List.of(
                        NOW, "e", "0", "", "d", "", "", "enforce", "100", "2", "0", "p", "-1", "0", "0", "0", "0", "p",
                        "1", "0", "0", "0", "0"),
                "scopes");
        assertThat(scripts.redis.exists(scripts.keys.all())).isZero();
    }

    /** Each mention read the scope as it was stored: one was charged, two were given back. */
    @Test
    void acquireWantsEachScopeOnce() {
        scripts.install(T0, modelClass(2));
        String lease = Long.toString(LEASE);
        List<String> twice = List.of(
                NOW,
                scripts.stamp,
                "a",
                "",
                "",
                "h",
                lease,
                "",
                "f|n",
                "4",
                "-",
                "",
                "0",
                "p",
                "0",
                "c:m",
                "0",
                "c:m",
                "0");
        refuses(Script.ACQUIRE, twice, "scopes");
        assertThat(scripts.recount()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "permits, 2, 501",
        "permits, 2, nan",
        "permits, 2, 2",
        "permits, 2, 0",
        "permits, 2, -1",
        "claims, 3, 65",
        "claims, 3, nan",
        "claims, 3, -1",
        "looks, 4, 65",
        "looks, 4, nan",
        "looks, 4, -1",
        "asserts, 5, 65",
        "asserts, 5, nan",
        "asserts, 5, -1",
    })
    void beatNamesWhatIsWrongAndExpiresNothing(String named, int index, String value) {
        scripts.install(T0, modelClass(2));
        scripts.acquire(T0, "a", costs(Map.of()));
        List<String> arguments = new ArrayList<>(List.of(Long.toString(T0 + MIN), "h", "1", "0", "0", "0", "a", "n-a"));
        arguments.set(index, value);
        refuses(Script.BEAT, arguments, named);
        assertThat(scripts.recount()).containsEntry("c:m", 1L);
        assertThat(scripts.inspect(T0 + MIN).get("c:m").used()).isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource({"how, 3, ended", "how, 3, ''", "limits, 6, x", "limits, 6, 33", "cost, 7, -1", "cost, 7, nan"})
    void settleNamesWhatIsWrongAndEndsNothing(String named, int index, String value) {
        scripts.install(T0, modelClass(2));
        scripts.acquire(T0, "a", costs(Map.of()));
        List<String> arguments = new ArrayList<>(List.of(NOW, "a", "n-a", "settled", "", "p", "1", "5"));
        arguments.set(index, value);
        refuses(Script.SETTLE, arguments, named);
        assertThat(scripts.recount()).containsEntry("c:m", 1L);
    }

    @Test
    void inspectKnowsThreeThings() {
        scripts.install(T0, modelClass(2));
        refuses(Script.INSPECT, List.of(NOW, "everything"), "what");
    }
}
