package io.sluice.testbed.bench;

import io.sluice.Policy;
import io.sluice.Sluice;
import io.sluice.testbed.bench.ScriptedProject.Asker;
import io.sluice.testbed.redis.RedisServer;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * What permits and waiters weigh in Redis, and that nothing of them stays. Bytes are {@code used_memory_dataset}: what was
 * really allocated, less clients' buffers and scripts. Beside it {@code MEMORY USAGE}, which rounds nothing up as allocators
 * do, and by which Redis builds with another allocator differ less.
 */
final class LineMemory {
    private static final String PLAIN = "plain";
    private static final Pattern DATASET = Pattern.compile("(?m)^used_memory_dataset:(\\d+)\\s*$");
    private static final int WARM_UP = 200;
    private static final int AT_ONCE = 500;

    /** Longer than anything that ended is remembered, and longer than a host. */
    private static final long LONG_AFTER = 1_200 * ScriptedProject.SECOND;

    private final RedisServer server;
    private final ScriptedProject project;
    private final int calls;
    private final Random random;

    /** @param calls how many slots there are; as many wait */
    private LineMemory(RedisServer server, Scripts scripts, String name, int calls, long seed) {
        this.server = server;
        this.calls = calls;
        this.random = new Random(seed);
        try (Sluice sluice = Sluice.connect(server.uri())) {
            sluice.install(policy(name, calls));
        }
        this.project = new ScriptedProject(scripts, name);
    }

    private static Policy policy(String name, int slots) {
        return Policy.parse("""
                project: %s
                provider: anthropic
                queue: {max_waiters: 100000, max_wait: 2h}
                classes:
                  - {name: sonnet, models: ["*"], limits: {rpm: %d, itpm: %4$d, otpm: %4$d, concurrency: %d}}
                teams:
                  - {name: research, limits: {concurrency: 100000}}
                """.formatted(name, CallSize.RPM, slots, CallSize.TPM));
    }

    /** @param calls permits, and as many waiters */
    static List<Reached> measure(RedisServer server, Scripts scripts, int calls, long seed, Consumer<String> progress) {
        progress.accept(String.format(
                Locale.ROOT, "memory  %,d permits and %,d waiters come, end, are forgotten", calls, calls));
        // Once before, because Redis keeps a histogram of every command it ever ran.
        new LineMemory(server, scripts, "line-memory-warm-up", WARM_UP, seed).comeAndGo();
        double bare = bare(server, calls);
        Weights weights = new LineMemory(server, scripts, "line-memory", calls, seed).comeAndGo();
        return weights.judge(calls, bare);
    }

    private Weights comeAndGo() {
        List<Asker> asked = IntStream.range(0, 2 * calls).mapToObj(this::call).toList();
        List<Asker> permits = asked.subList(0, calls);
        List<Asker> waiters = asked.subList(calls, 2 * calls);
        Weight base = weigh();
        askAll(permits, "granted");
        Weight running = weigh();
        askAll(waiters, "waiting");
        Weight full = weigh();
        waiters.forEach(call -> ScriptedProject.expect(project.cancel(call), "ended"));
        permits.forEach(call -> ScriptedProject.expect(project.settle(call), "ended"));
        forget();
        return new Weights(base, running, full, weigh());
    }

    /** By Redis as a whole, and by the project's keys alone. */
    private record Weight(long dataset, long keys) {}

    private record Weights(Weight base, Weight running, Weight full, Weight idle) {
        List<Reached> judge(int calls, double bare) {
            return List.of(
                    each("Redis memory of a permit, B", Bound.atMost(450), base, running, calls, bare),
                    each("Redis memory of a waiter, B", Bound.atMost(600), running, full, calls, bare),
                    new Reached(
                            "left when all are forgotten, B a call",
                            Bound.atMost(1),
                            Spread.of((idle.keys - base.keys) / (2.0 * calls)),
                            2,
                            told(
                                    "the project's keys: %,d B before, %,d B full, %,d B after",
                                    base.keys, full.keys, idle.keys)));
        }

        private static Reached each(String what, Bound bound, Weight before, Weight after, int calls, double bare) {
            double keys = (after.keys - before.keys) / (double) calls;
            return new Reached(
                    what,
                    bound,
                    Spread.of((after.dataset - before.dataset) / (double) calls),
                    0,
                    told("by MEMORY USAGE %.0f B; the id alone in a hash %.0f B", keys, bare));
        }
    }

    /** What an id weighs of which nothing is known. */
    private static double bare(RedisServer server, int ids) {
        Random random = new Random(0);
        long before = dataset(server);
        for (int from = 0; from < ids; from += AT_ONCE) {
            Stream<String> fields = IntStream.range(from, Math.min(from + AT_ONCE, ids))
                    .boxed()
                    .flatMap(number -> Stream.of(Crowd.id(number, random), ""));
            server.command(Stream.concat(Stream.of("HSET", PLAIN), fields).toArray(String[]::new));
        }
        double each = (dataset(server) - before) / (double) ids;
        server.command("DEL", PLAIN);
        return each;
    }

    private void askAll(List<Asker> calls, String code) {
        for (int from = 0; from < calls.size(); from += AT_ONCE) {
            List<CompletableFuture<List<Object>>> part = new ArrayList<>();
            for (Asker call : calls.subList(from, Math.min(from + AT_ONCE, calls.size()))) {
                part.add(project.acquireLater(call).toCompletableFuture());
            }
            part.forEach(one -> ScriptedProject.expect(one.join(), code));
        }
    }

    /**
     * Time passes, and a host beats until nothing is due; then a little longer, because Redis makes a table that became too
     * large smaller by a few places with each command.
     */
    private void forget() {
        project.pass(LONG_AFTER);
        int beats = 0;
        while (!beat().get(4).equals(0L)) {
            if (beats++ > calls) {
                throw new IllegalStateException("something is still due after " + beats + " beats");
            }
        }
        for (int i = 0; i < calls / 4; i++) {
            beat();
        }
    }

    private List<Object> beat() {
        return ScriptedProject.expect(project.beat(Crowd.host(0), List.of(), List.of()), "beat");
    }

    private Asker call(int number) {
        int agent = random.nextInt(40);
        return new Asker(
                Crowd.id(number, random),
                Crowd.host(agent % Crowd.HOSTS),
                "host-" + agent % Crowd.HOSTS + "/agent-" + agent,
                "research|n",
                4,
                List.of("p", "c:sonnet", "t:research"));
    }

    private Weight weigh() {
        long keys = Stream.of(Scripts.keys(project.id))
                .mapToLong(key -> Long.parseLong(server.command("MEMORY", "USAGE", key, "SAMPLES", "0")))
                .sum();
        return new Weight(dataset(server), keys);
    }

    private static long dataset(RedisServer server) {
        Matcher matcher = DATASET.matcher(server.command("INFO", "memory"));
        if (!matcher.find()) {
            throw new IllegalStateException("INFO memory tells no used_memory_dataset");
        }
        return Long.parseLong(matcher.group(1));
    }

    private static String told(String format, Object... numbers) {
        return String.format(Locale.ROOT, format, numbers);
    }
}
