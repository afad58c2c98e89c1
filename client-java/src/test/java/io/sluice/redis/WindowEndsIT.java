package io.sluice.redis;

import static io.sluice.redis.Scripted.S;
import static io.sluice.redis.Scripted.T0;
import static io.sluice.redis.Scripted.calendar;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.CalendarTexts;
import io.sluice.ScopeLimits;
import io.sluice.redis.Scripted.Ask;
import io.sluice.redis.Scripted.Rules;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Limits by windows, where many of them end at once. */
@WithRedis
class WindowEndsIT {
    private static final long DAY = 86_400 * S;
    private static final long MIDNIGHT = (T0 / DAY + 1) * DAY;

    private final RedisServer server;
    private Scripted scripts;

    WindowEndsIT(RedisServer server) {
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

    private static Map<String, Map<String, Long>> ofAgent(int agent, long requests) {
        return Map.of("p", Map.of(), "c:m", Map.of(), "a:g" + agent, Map.of("rpd", requests));
    }

    /**
     * At midnight the days of all agents end, a part of them in each run. Who had asked in vain before its turn was written down
     * had its day end again with its next question, after it had had some of it.
     */
    @Test
    void aDayEndsOnceAlsoForWhoLooksBeforeItsTurn() {
        int agents = 40; // a run expires 32
        scripts.install(
                MIDNIGHT - 10 * S,
                Rules.USUAL.calendars(CalendarTexts.of("day UTC")),
                new ScopeLimits("p", -1, List.of()),
                new ScopeLimits("c:m", -1, List.of()),
                new ScopeLimits("a:", -1, List.of(calendar("rpd", 10, 1))));
        for (int i = 10; i < 10 + agents; i++) {
            scripts.acquire(MIDNIGHT - 10 * S, Ask.of("before-" + i, ofAgent(i, 1)));
        }
        int last = 10 + agents - 1;
        assertThat(scripts.acquire(MIDNIGHT, Ask.of("vain", ofAgent(last, 11)))).startsWith("never");
        scripts.beat(MIDNIGHT, "h");

        int granted = 0;
        for (int i = 0; i < 30; i++) {
            List<Object> reply = scripts.acquire(MIDNIGHT + 1 + i, Ask.of("after-" + i, ofAgent(last, 1)));
            granted += reply.get(0).equals("granted") ? 1 : 0;
        }
        assertThat(granted).isEqualTo(10);
    }
}
