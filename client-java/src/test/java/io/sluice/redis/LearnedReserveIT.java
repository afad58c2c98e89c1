package io.sluice.redis;

import static io.sluice.redis.Scripted.MIN;
import static io.sluice.redis.Scripted.S;
import static io.sluice.redis.Scripted.T0;
import static io.sluice.redis.Scripted.costs;
import static io.sluice.redis.Scripted.modelClass;
import static io.sluice.redis.Scripted.perMinute;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.Store.Effect.Knows;
import io.sluice.Store.Observation;
import io.sluice.Store.Observation.Learn;
import io.sluice.Store.Observation.Outputs;
import io.sluice.Store.Observations;
import io.sluice.Store.Observed;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.function.LongUnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A saturating fleet in simulated time, on the real scripts: a cap of 32,000 tokens on every call, answers of about 500. What
 * counts is how much of the output limit is used, and that no more is.
 */
@WithRedis
class LearnedReserveIT {
    private static final int AGENTS = 60;
    private static final long OTPM = 200_000;
    private static final long CAP = 32_000;
    private static final long CLASS_CAP = 8_192;

    private final RedisServer server;
    private final long seed = System.nanoTime();
    private final Random random = new Random(seed);
    private Scripted scripts;

    /** What calls reserve at first. */
    private long known;

    private List<Outputs> untold = new ArrayList<>();
    private long toldAt = T0;

    LearnedReserveIT(RedisServer server) {
        this.server = server;
    }

    @BeforeEach
    void connect() {
        scripts = new Scripted(server);
        scripts.install(T0, modelClass(-1, perMinute("otpm", OTPM)));
        System.out.println("LearnedReserveIT seed " + seed);
    }

    @AfterEach
    void close() {
        scripts.close();
    }

    /** An agent that does something at an instant: asks, or gets its answer. */
    private record Step(long at, int agent, long output, long reserved) {
        boolean asks() {
            return output < 0;
        }
    }

    /** Returns the output tokens of the answers that came in the minute after the first. */
    private long run(LongUnaryOperator reserve) {
        PriorityQueue<Step> steps = new PriorityQueue<>(Comparator.comparingLong(Step::at));
        for (int agent = 0; agent < AGENTS; agent++) {
            steps.add(new Step(T0 + agent, agent, -1, 0));
        }
        long used = 0;
        while (steps.element().at() < T0 + 2 * MIN) {
            Step step = steps.remove();
            long now = step.at();
            if (!step.asks()) {
                scripts.settle(now, id(step), "settled", costs(Map.of("otpm", step.output())));
                learn(now, step.output());
                used += now >= T0 + MIN ? step.output() : 0;
                steps.add(new Step(now + 1, step.agent() + AGENTS, -1, 0));
                continue;
            }
            long wanted = reserve.applyAsLong(known);
            List<Object> reply = scripts.acquire(now, id(step), costs(Map.of("otpm", wanted)));
            if (reply.get(0).equals("granted")) {
                steps.add(new Step(now + 5 * S + random.nextLong(5 * S), step.agent(), output(), wanted));
            } else {
                assertThat(reply.get(0)).as("seed %s: %s", seed, reply).isEqualTo("wait");
                steps.add(new Step(now + (Long) reply.get(1) + random.nextLong(20_000), step.agent(), -1, 0));
            }
        }
        return used;
    }

    private static String id(Step step) {
        return "call-" + step.agent();
    }

    /** About 500, some a good deal more. */
    private long output() {
        return Math.max(1, (long) (500 * Math.exp(0.3 * random.nextGaussian() - 0.045)));
    }

    /** As a client does: once a second. */
    private void learn(long now, long output) {
        untold.add(new Outputs(output, 1));
        if (now - toldAt < S) {
            return;
        }
        toldAt = now;
        List<Observation> told = List.of(new Learn("m", "-", 0, 0, 0, 0, untold));
        untold = new ArrayList<>();
        List<String> arguments = new ArrayList<>(Arguments.of(new Observations("any", "h", told)));
        arguments.set(0, Long.toString(now));
        Observed.Done done = (Observed.Done) ObserveReply.read(scripts.run(Script.OBSERVE, arguments), told);
        known = ((Knows) done.effects().get(0)).ofClass().output();
    }

    @Test
    void whatIsLearnedUsesTheLimitThatTheCapWouldLeaveIdle() {
        long allowed = OTPM * 9 / 10;
        long used = run(output -> Math.min(CAP, output > 0 ? output : CLASS_CAP));

        assertThat(used).as("seed %s", seed).isBetween(allowed * 9 / 10, allowed + OTPM / 12);
        assertThat(known).isBetween(600L, 1_300L);
    }

    @Test
    void reservingTheCapLeavesItIdle() {
        assertThat(run(output -> CAP)).as("seed %s", seed).isLessThan(OTPM * 9 / 10 / 20);
    }
}
