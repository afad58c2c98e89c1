package io.sluice.testbed.fleet;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A fleet to do things to while it works: its processes are killed and replaced, stopped and let go on. What its agents say
 * is only counted; a run with faults is judged by others. A process that ends by itself is replaced too, as a supervisor
 * would, and told as a trouble.
 */
public final class Crew implements AutoCloseable {
    private static final int START_TRIES = 3;

    private final FleetOptions options;
    private final PolicyNumbers numbers;
    private final String run;
    private final Map<Integer, Place> places = new ConcurrentHashMap<>();
    private final List<Child> all = new CopyOnWriteArrayList<>();
    private final Map<String, AtomicInteger> outcomes = new ConcurrentHashMap<>();
    private final Queue<Long> aloneNs = new ConcurrentLinkedQueue<>();
    private final Queue<Long> waitsMs = new ConcurrentLinkedQueue<>();
    private final List<String> troubles = new CopyOnWriteArrayList<>();
    private final Thread onExit = new Thread(() -> all.forEach(Child::close));
    private int replaced;

    /** One process's place in the fleet, and who is in it. */
    private record Place(Child child, String host) {}

    private Crew(FleetOptions options) {
        this.options = options;
        this.numbers =
                PolicyNumbers.of(options.policy().toJson(), options.profile().model());
        this.run = Long.toString(System.currentTimeMillis(), Character.MAX_RADIX);
        Runtime.getRuntime().addShutdownHook(onExit);
    }

    /**
     * Starts the processes of a {@link Strategy#SLUICE} fleet, whose policy is installed already. They can begin when this
     * returns.
     *
     * @throws IOException if one does not come up
     */
    public static Crew start(FleetOptions options) throws IOException, InterruptedException {
        Crew crew = new Crew(options);
        try {
            for (int process = 0; process < options.processes(); process++) {
                Child unused = crew.hire(process, crew.run);
            }
            for (int process = 0; process < options.processes(); process++) {
                crew.awaitReady(process);
            }
            return crew;
        } catch (IOException | InterruptedException | RuntimeException e) {
            crew.close();
            throw e;
        }
    }

    /** On a machine that is busy starting others one may find that Redis does not answer in time: it is started again. */
    private void awaitReady(int process) throws IOException, InterruptedException {
        for (int tries = 1; ; tries++) {
            try {
                place(process).child.awaitReady(System.nanoTime() + Fleet.READY.toNanos());
                return;
            } catch (IOException e) {
                if (tries == START_TRIES) {
                    throw e;
                }
                place(process).child.close();
                Child unused = hire(process, run + "-again" + tries);
            }
        }
    }

    /** Lets all begin. */
    public void go() throws IOException {
        for (Place place : places.values()) {
            place.child.go();
        }
    }

    /** The name in Redis of who is in this place now. */
    public String host(int process) {
        return place(process).host;
    }

    /** Kills a process (SIGKILL) and starts another in its place, with a host name of its own, which begins when it can. */
    public void kill(int process) throws IOException {
        place(process).child.close();
        replace(process);
    }

    /** Stops a process in its tracks (SIGSTOP). */
    public void pause(int process) throws IOException, InterruptedException {
        place(process).child.pause();
    }

    /** Lets it go on. */
    public void resume(int process) throws IOException, InterruptedException {
        place(process).child.resume();
    }

    /** Replaces whoever ended by itself. To be called now and then. */
    public void supervise() throws IOException {
        for (int process = 0; process < options.processes(); process++) {
            String trouble = place(process).child.trouble();
            if (trouble != null) {
                troubles.add(trouble);
                place(process).child.close();
                replace(process);
            }
        }
    }

    /** No new call from now on; returns when those in flight have ended, or were cut off. */
    public void stop() throws IOException, InterruptedException {
        for (Place place : places.values()) {
            place.child.stop();
        }
        long drainedNs =
                System.nanoTime() + Fleet.DRAIN.plus(Duration.ofSeconds(5)).toNanos();
        for (Place place : places.values()) {
            place.child.awaitEnd(drainedNs);
        }
    }

    /** How many calls ended how: {@code completed}, {@code cut off}, or why they were given up. */
    public Map<String, Integer> outcomes() {
        Map<String, Integer> counts = new TreeMap<>();
        outcomes.forEach((what, count) -> counts.put(what, count.get()));
        return counts;
    }

    /** When calls were sent that Redis had not allowed, by {@link System#nanoTime}. */
    public List<Long> aloneNs() {
        return List.copyOf(aloneNs);
    }

    /** How long completed calls had waited, in ms, sorted. */
    public List<Long> waitsMs() {
        return waitsMs.stream().sorted().toList();
    }

    /** Why processes ended that nobody had killed. */
    public List<String> troubles() {
        return List.copyOf(troubles);
    }

    @Override
    public void close() {
        all.forEach(Child::close);
        Fleet.removeHook(onExit);
    }

    private Place place(int process) {
        Place place = places.get(process);
        if (place == null) {
            throw new IllegalArgumentException("no process " + process);
        }
        return place;
    }

    private Child hire(int process, String name) throws IOException {
        AgentConfig config = Fleet.config(options, numbers, name, process);
        Child child = Child.start(config, this::hear);
        all.add(child);
        places.put(process, new Place(child, config.host()));
        return child;
    }

    private void replace(int process) throws IOException {
        replaced++;
        Child child = hire(process, run + "-" + replaced);
        Thread starter = new Thread(() -> begin(child), "fleet-start");
        starter.setDaemon(true);
        starter.start();
    }

    private static void begin(Child child) {
        try {
            child.awaitReady(System.nanoTime() + Fleet.READY.toNanos());
            child.go();
        } catch (IOException e) {
            // Found by the next look at the fleet.
            child.close();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void hear(FleetEvent event) {
        if (event instanceof FleetEvent.Alone) {
            aloneNs.add(System.nanoTime());
        }
        if (event instanceof FleetEvent.Call call) {
            String what = switch (call.outcome()) {
                case COMPLETED -> "completed";
                case CUT_OFF -> "cut off";
                case GIVEN_UP -> String.valueOf(call.why());
            };
            if (call.outcome() == FleetEvent.Outcome.COMPLETED) {
                waitsMs.add(call.waitedMs());
            }
            outcomes.computeIfAbsent(what, any -> new AtomicInteger()).incrementAndGet();
        }
    }
}
