package io.sluice.testbed.bench;

import io.sluice.testbed.redis.RedisServer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What the server says of itself around a measured round. */
final class RedisUnderTest {
    private static final Pattern MAIN_THREAD = Pattern.compile("(?m)^used_cpu_(?:sys|user)_main_thread:([0-9.]+)\\s*$");

    private final RedisServer server;

    RedisUnderTest(RedisServer server) {
        this.server = server;
    }

    void empty() {
        server.command("FLUSHALL", "SYNC");
    }

    void resetStats() {
        server.command("CONFIG", "RESETSTAT");
    }

    CommandStats commandStats() {
        return CommandStats.parse(server.command("INFO", "commandstats"));
    }

    /** CPU time of the thread that runs the commands, since the server started: reading and answering included. */
    double mainThreadMicros() {
        return mainThreadMicros(server.command("INFO", "cpu"));
    }

    static double mainThreadMicros(String info) {
        double seconds = 0;
        Matcher matcher = MAIN_THREAD.matcher(info);
        while (matcher.find()) {
            seconds += Double.parseDouble(matcher.group(1));
        }
        return seconds * 1e6;
    }
}
