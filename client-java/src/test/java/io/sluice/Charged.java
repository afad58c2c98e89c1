package io.sluice;

import io.sluice.redis.Peek;
import io.sluice.testbed.redis.RedisServer;

/** How much of {@link Faults}' counting limit is charged. */
final class Charged {
    private Charged() {}

    static long of(RedisServer redis, String project) {
        return of(redis.uri(), project);
    }

    static long of(String uri, String project) {
        return Peek.charged(uri, project, "c:sonnet", "charged");
    }
}
