package io.sluice.testbed.bench;

import io.sluice.Policy;
import io.sluice.testbed.bench.ScriptedProject.Asker;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * A full class with calls in line that keeps its length while it is used: for each call that starts or leaves, another
 * comes.
 */
final class StandingLine {
    static final String CLASS = "sonnet";

    private static final String FREE_CLASS = "haiku";
    private static final int SLOTS = 20;
    private static final int CAP = SLOTS;
    private static final int LOOKS = 32;
    private static final int AT_ONCE = 500;
    private static final long STEP_US = 1_000;

    final Crowd crowd;
    final int waiters;
    private final Scripts scripts;
    private final Random random;
    private final ScriptedProject project;
    private final Deque<Asker> running = new ArrayDeque<>();
    private final List<Asker> waiting = new ArrayList<>();
    private int numbers;

    /** @param waiters 0: a project in which nobody waits, only to be asked by {@link #alone} */
    StandingLine(Scripts scripts, Crowd crowd, int waiters, long seed) {
        this.crowd = crowd;
        this.waiters = waiters;
        this.scripts = scripts;
        this.random = new Random(seed);
        this.project = new ScriptedProject(scripts, name(crowd, waiters));
    }

    static String name(Crowd crowd, int waiters) {
        return "line-" + crowd.name().toLowerCase(Locale.ROOT).replace('_', '-') + "-" + waiters;
    }

    /** Every rate and slots, of which those of one class are all that anybody is ever short of. */
    static Policy policy(Crowd crowd, int waiters) {
        // In a project of forty agents any of them may have all slots; the capped one has a fifth and wants more.
        int cap = crowd == Crowd.CAPPED ? CAP / 5 : CAP;
        return Policy.parse(
                """
                project: %s
                provider: anthropic
                queue: {max_waiters: 100000, max_wait: 2h}
                limits: {concurrency: 100000}
                classes:
                  - {name: %s, models: ["*sonnet*"], limits: {rpm: %5$d, itpm: %6$d, otpm: %6$d, concurrency: %4$d}}
                  - {name: %s, models: ["*"], limits: {rpm: %5$d, itpm: %6$d, otpm: %6$d, concurrency: 1000}}
                teams:
                  - {name: research, limits: {concurrency: 10000}}
                  - {name: product, limits: {concurrency: 10000}}
                each: [{by: agent, limits: {concurrency: %7$d}, max: 1000000}]
                """.formatted(name(crowd, waiters), CLASS, FREE_CLASS, SLOTS, CallSize.RPM, CallSize.TPM, cap));
    }

    /** All slots are taken, everybody stands in line. */
    void fill() {
        if (waiters == 0) {
            return;
        }
        int capped = crowd == Crowd.CAPPED ? CAP / 5 : 0;
        for (int i = 0; i < SLOTS; i++) {
            Asker call = i < capped ? Crowd.ofCapped(numbers++, random) : crowd.next(numbers++, random);
            ScriptedProject.expect(project.acquire(call), "granted");
            if (i >= capped) {
                running.add(call);
            }
        }
        int inFront = crowd == Crowd.CAPPED ? waiters - Math.max(1, waiters * Crowd.OTHERS_PERCENT / 100) : 0;
        List<CompletableFuture<List<Object>>> asked = new ArrayList<>();
        for (int i = 0; i < waiters; i++) {
            Asker call = i < inFront ? Crowd.ofCapped(numbers++, random) : crowd.next(numbers++, random);
            asked.add(project.acquireLater(call).toCompletableFuture());
            if (i >= inFront) {
                waiting.add(call);
            }
            if (asked.size() == AT_ONCE || i == waiters - 1) {
                asked.forEach(one -> ScriptedProject.expect(one.join(), "waiting"));
                asked.clear();
            }
        }
    }

    /** What the same calls cost where nobody waits: one starts at once, one ends. */
    Map<LineStep, ScriptCost> alone(int times) {
        Map<LineStep, List<ScriptCost>> costs = new EnumMap<>(LineStep.class);
        for (int i = 0; i < times; i++) {
            project.pass(STEP_US);
            Asker call = crowd.next(numbers++, random);
            measure(costs, LineStep.ENQUEUE, () -> project.acquire(call), "granted");
            measure(costs, LineStep.START_NEXT, () -> project.settle(call), "ended");
            measure(costs, LineStep.IDLE_BEAT, () -> project.beat(call.host(), List.of(), List.of()), "beat");
        }
        return medians(costs);
    }

    /** The line is used; the median cost of each step. */
    Map<LineStep, ScriptCost> use(int times) {
        Map<LineStep, List<ScriptCost>> costs = new EnumMap<>(LineStep.class);
        for (int i = 0; i < times; i++) {
            project.pass(STEP_US);
            Asker ends = running.remove();
            measure(costs, LineStep.START_NEXT, () -> project.settle(ends), "ended");
            Asker starts = granted();
            measure(costs, LineStep.CLAIM, () -> project.beat(starts.host(), List.of(starts.id()), List.of()), "beat");
            running.add(starts);
            Asker comes = crowd.next(numbers++, random);
            measure(costs, LineStep.ENQUEUE, () -> project.acquire(comes), "waiting");
            waiting.add(comes);
            Asker leaves = waiting.remove(random.nextInt(waiting.size()));
            measure(costs, LineStep.CANCEL, () -> project.cancel(leaves), "ended");
            Asker another = crowd.next(numbers++, random);
            ScriptedProject.expect(project.acquire(another), "waiting");
            waiting.add(another);
            String host = Crowd.host(i % Crowd.HOSTS);
            List<String> looks = waiting.stream()
                    .filter(one -> one.host().equals(host))
                    .limit(LOOKS)
                    .map(Asker::id)
                    .toList();
            measure(costs, LineStep.IDLE_BEAT, () -> project.beat(host, List.of(), List.of()), "beat");
            measure(costs, LineStep.LOOKING_BEAT, () -> project.beat(host, List.of(), looks), "beat");
            Asker free = ofFreeClass(crowd.next(numbers++, random));
            measure(costs, LineStep.FREE_CLASS, () -> project.acquire(free), "granted");
            ScriptedProject.expect(project.settle(free), "ended");
        }
        return medians(costs);
    }

    private void measure(
            Map<LineStep, List<ScriptCost>> costs, LineStep step, Supplier<List<Object>> script, String code) {
        Scripts.Measured<List<Object>> measured = scripts.measure(script);
        ScriptedProject.expect(measured.reply(), code);
        costs.computeIfAbsent(step, s -> new ArrayList<>()).add(measured.cost());
    }

    private static Map<LineStep, ScriptCost> medians(Map<LineStep, List<ScriptCost>> costs) {
        Map<LineStep, ScriptCost> medians = new EnumMap<>(LineStep.class);
        costs.forEach((step, runs) -> medians.put(step, ScriptCost.median(runs)));
        return medians;
    }

    /**
     * Who was let start; every host beats until it is found.
     *
     * @throws IllegalStateException if it was not exactly one
     */
    private Asker granted() {
        List<String> ids = new ArrayList<>();
        for (int host = 0; host < Crowd.HOSTS; host++) {
            ids.addAll(ScriptedProject.granted(project.beat(Crowd.host(host), List.of(), List.of())));
        }
        if (ids.size() != 1) {
            throw new IllegalStateException("one slot was free, and started " + ids.size() + " of " + waiting.size()
                    + " waiting calls in " + project.id);
        }
        for (int i = 0; i < waiting.size(); i++) {
            if (waiting.get(i).id().equals(ids.get(0))) {
                return waiting.remove(i);
            }
        }
        throw new IllegalStateException("somebody else was let start: " + ids);
    }

    private static Asker ofFreeClass(Asker call) {
        List<String> scopes = call.scopes().stream()
                .map(scope -> scope.equals("c:" + CLASS) ? "c:" + FREE_CLASS : scope)
                .toList();
        return new Asker(call.id(), call.host(), call.agent(), call.flow(), call.weight(), scopes);
    }
}
