package io.sluice.redis;

import io.sluice.redis.Scripted.Ask;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Hosts in simulated time. Each does what a client process does: it submits calls, beats every 250 ms while some of them
 * wait and at the instant it was told that something can start, claims what was granted to it, renews and settles. Redis,
 * the scripts and their messages are real; the time is not, nor is the way to Redis and back, so a run is the same
 * each time.
 */
final class Fleet {
    static final long MS = 1_000;
    static final long BEAT = 250 * MS;
    private static final int JITTER = (int) (20 * MS);
    private static final int CLAIMS = 64;
    private static final int RENEWALS = 500;

    /** A call to make: what it asks for, what it uses in the end, and how long it runs. */
    record Job(Ask ask, Map<String, Map<String, Long>> used, long runs) {
        /** One that uses what it asked for. */
        static Job of(Ask ask, long runs) {
            return new Job(ask, ask.costs(), runs);
        }
    }

    /** A call that started: when its caller asked, and when it knew that it may. */
    record Start(Job job, long asked, long at) {
        String id() {
            return job.ask().id();
        }

        String flow() {
            return job.ask().flow();
        }

        long waited() {
            return at - asked;
        }

        long units(String scope, String limit) {
            return job.used().getOrDefault(scope, Map.of()).getOrDefault(limit, 0L);
        }
    }

    /** A call that was told no. */
    record Refusal(Job job, List<Object> reply) {}

    private record Event(long at, long order, Runnable what) {}

    final Scripted scripts;
    final List<Start> starts = new ArrayList<>();
    final List<Refusal> refusals = new ArrayList<>();
    /** Calls that were told they lost their lease. */
    final List<String> lost = new ArrayList<>();

    private final Random random;
    private final PriorityQueue<Event> events =
            new PriorityQueue<>(Comparator.comparingLong(Event::at).thenComparingLong(Event::order));
    /** What was announced and to whom, since the last script. */
    private final Queue<Runnable> announced = new ConcurrentLinkedQueue<>();

    private long now = Scripted.T0;
    private long order;
    private long ids;

    /** @param seed of the jitter, and of whatever the test draws from {@link #random} */
    Fleet(Scripted scripts, long seed) {
        this.scripts = scripts;
        random = new Random(seed);
    }

    long now() {
        return now;
    }

    Random random() {
        return random;
    }

    /** An id after the flow or agent it is of; ids may not contain a bar. */
    String nextId(String name) {
        return name.replace('|', '-') + "-" + ids++;
    }

    Host host(String name, long roundTrip) {
        Host host = new Host(name, roundTrip / 2);
        scripts.listen(name, message -> announced.add(() -> host.announced(message)));
        return host;
    }

    void at(long time, Runnable what) {
        events.add(new Event(Math.max(time, now), order++, what));
    }

    /** Does {@code what} again and again, for ever. */
    void every(long period, Runnable what) {
        at(now + period, () -> {
            what.run();
            every(period, what);
        });
    }

    void runUntil(long end) {
        while (!events.isEmpty() && events.peek().at() <= end) {
            Event next = events.poll();
            now = next.at();
            next.what().run();
        }
        now = end;
    }

    void runFor(long us) {
        runUntil(now + us);
    }

    /** The start of a call, which must have happened. */
    Start started(String id) {
        return starts.stream()
                .filter(start -> start.id().equals(id))
                .findFirst()
                .orElseThrow(() -> new AssertionError(id + " has not started in " + (now - Scripted.T0) / MS + " ms"));
    }

    boolean hasStarted(String id) {
        return starts.stream().anyMatch(start -> start.id().equals(id));
    }

    List<Start> startsOf(String flow, long from, long to) {
        return starts.stream()
                .filter(start -> start.flow().equals(flow) && start.at() > from && start.at() <= to)
                .toList();
    }

    /** Runs a script; what it announced is on its way to the hosts when this returns. */
    <T> T run(Supplier<T> script) {
        T reply = script.get();
        for (Runnable message = announced.poll(); message != null; message = announced.poll()) {
            message.run();
        }
        return reply;
    }

    private record Pending(Job job, long asked, Runnable whenStarted) {}

    final class Host {
        final String name;
        private final long way;
        private final Map<String, Pending> waiting = new LinkedHashMap<>();
        /** When the lease of each running call was last prolonged. */
        private final Map<String, Long> running = new LinkedHashMap<>();

        private final Set<String> toClaim = new LinkedHashSet<>();
        private boolean dead;
        private boolean deaf;
        private boolean beating;
        private boolean beatAgain;
        private long wakes = Long.MAX_VALUE;

        private Host(String name, long way) {
            this.name = name;
            this.way = way;
        }

        /** kill -9. */
        void kill() {
            dead = true;
        }

        /** No message reaches it from now on. */
        void deafen() {
            deaf = true;
        }

        int waiting() {
            return waiting.size();
        }

        /** Keeps {@code n} calls in line: whenever one starts, the next is submitted. */
        void keep(int n, Supplier<Job> next) {
            for (int i = 0; i < n; i++) {
                submitNext(next);
            }
        }

        private void submitNext(Supplier<Job> next) {
            submit(next.get(), () -> submitNext(next));
        }

        void submit(Job job) {
            submit(job, () -> {});
        }

        private void submit(Job job, Runnable whenStarted) {
            ask(new Pending(new Job(job.ask().host(name), job.used(), job.runs()), now, whenStarted));
        }

        private void ask(Pending call) {
            exchange(() -> scripts.acquire(now, call.job().ask()), reply -> answered(call, reply));
        }

        private void answered(Pending call, List<Object> reply) {
            String id = call.job().ask().id();
            switch ((String) reply.get(0)) {
                case "granted" -> {
                    waiting.remove(id);
                    start(call);
                }
                case "waiting" -> {
                    waiting.put(id, call);
                    wakeIn((Long) reply.get(6));
                }
                case "stale" -> throw new AssertionError("the test moved the policy under " + id);
                default -> {
                    waiting.remove(id);
                    refusals.add(new Refusal(call.job(), reply));
                }
            }
        }

        private void start(Pending call) {
            String id = call.job().ask().id();
            starts.add(new Start(call.job(), call.asked(), now));
            running.put(id, now);
            wake(now + Scripted.LEASE / 3);
            after(call.job().runs(), () -> {
                running.remove(id);
                exchange(() -> scripts.settle(now, id, "settled", call.job().used()), reply -> {});
            });
            call.whenStarted().run();
        }

        void cancel(String id) {
            waiting.remove(id);
            exchange(() -> scripts.settle(now, id, "cancelled", Map.of()), reply -> {});
        }

        /** To Redis, and back with the reply, unless the host dies on the way. */
        private <T> void exchange(Supplier<T> script, Consumer<T> then) {
            after(way, () -> {
                T reply = run(script);
                after(way, () -> then.accept(reply));
            });
        }

        private void after(long us, Runnable what) {
            at(now + us, () -> {
                if (!dead) {
                    what.run();
                }
            });
        }

        private void announced(String message) {
            if (!deaf) {
                after(way, () -> {
                    List<String> words = List.of(message.split(" "));
                    if (!words.get(0).equals("g")) {
                        throw new AssertionError("host " + name + " was sent: " + message);
                    }
                    toClaim.addAll(words.subList(1, words.size()));
                    beat();
                });
            }
        }

        private void wakeIn(long next) {
            wake(now + (next < 0 ? BEAT : Math.min(BEAT, next + random.nextInt(JITTER))));
        }

        private void wake(long time) {
            if (time < wakes) {
                wakes = time;
                after(time - now, () -> {
                    if (wakes == time) {
                        wakes = Long.MAX_VALUE;
                        beat();
                    }
                });
            }
        }

        private void beat() {
            if (beating) {
                beatAgain = true;
                return;
            }
            List<String> renewals = new ArrayList<>();
            running.forEach((id, since) -> {
                if (now - since >= Scripted.LEASE / 3 && renewals.size() < RENEWALS) {
                    renewals.add(id);
                }
            });
            List<String> claims = toClaim.stream().limit(CLAIMS).toList();
            claims.forEach(toClaim::remove);
            if (waiting.isEmpty() && renewals.isEmpty() && claims.isEmpty()) {
                return;
            }
            beating = true;
            beatAgain = false;
            long sent = now;
            exchange(() -> scripts.beat(now, name, renewals, claims, List.of()), told -> {
                beating = false;
                beaten(told, sent, renewals, claims);
            });
        }

        private void beaten(Scripted.Beat told, long sent, List<String> renewals, List<String> claims) {
            for (int i = 0; i < renewals.size(); i++) {
                if (told.renewed().get(i).equals(1L)) {
                    running.replace(renewals.get(i), now);
                } else if (running.remove(renewals.get(i)) != null) {
                    lost.add(renewals.get(i));
                }
            }
            Queue<Pending> again = new ArrayDeque<>();
            for (int i = 0; i < claims.size(); i++) {
                Pending call = waiting.get(claims.get(i));
                Object answer = told.claims().get(i).get(0);
                if (call != null && answer.equals("granted")) {
                    waiting.remove(claims.get(i));
                    start(call);
                } else if (call != null && answer.equals("gone")) {
                    again.add(call);
                }
            }
            told.told("g").forEach(id -> toClaim.add((String) id));
            told.told("s").forEach(id -> again.add(Objects.requireNonNull(waiting.get((String) id), "unknown news")));
            again.forEach(this::ask);
            if (told.more() || beatAgain || !toClaim.isEmpty()) {
                beat();
            } else if (!waiting.isEmpty()) {
                wakeIn(told.next());
                wake(Math.max(now, sent + BEAT));
            }
            running.values().stream().min(Long::compare).ifPresent(since -> wake(since + Scripted.LEASE / 3));
        }
    }
}
