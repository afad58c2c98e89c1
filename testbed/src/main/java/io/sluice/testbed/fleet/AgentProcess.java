package io.sluice.testbed.fleet;

import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The main class of one process of a fleet. Stdin carries an {@link AgentConfig}, then {@code go}, then {@code stop};
 * its end kills the process, so that none outlives the one that started it. Stdout carries {@link FleetEvent}s.
 */
public final class AgentProcess {
    private static final String GO = "go";
    private static final String STOP = "stop";

    /** What was cut off gets this long to be settled. */
    private static final long ABORT_MS = 1_000;

    private final BufferedReader in;
    private final PrintStream out;

    private AgentProcess(BufferedReader in, PrintStream out) {
        this.in = in;
        this.out = out;
    }

    /** Takes no arguments. */
    public static void main(String[] args) throws Exception {
        PrintStream events = new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
        // Whatever a library prints must not end up among the events.
        System.setOut(System.err);
        AgentProcess process =
                new AgentProcess(new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)), events);
        try {
            process.run();
        } catch (IOException | RuntimeException e) {
            if (System.getenv("SLUICE_DEBUG") != null) {
                e.printStackTrace();
            }
            process.tell(new FleetEvent.Failed(e.getClass().getSimpleName() + ": " + e.getMessage()));
        }
        // Not exit(): no hook of a library may keep a process of the fleet alive.
        Runtime.getRuntime().halt(0);
    }

    private void run() throws IOException, InterruptedException {
        AgentConfig config = Json.MAPPER.readValue(line(), AgentConfig.class);
        Target target = new Target(config.target(), config.wire());
        List<Group> roster = Roster.of(config.profile().groups(), config.processes() * config.agents());
        ScheduledThreadPoolExecutor loop = loop();
        try (Caller caller = config.caller()) {
            target.warmUp();
            caller.warmUp(new Workload(config.profile(), roster.get(0), config.seed(), config.process(), 0).next());
            tell(new FleetEvent.Ready());
            expect(GO);
            Surroundings around = new Surroundings(caller, target, loop, System.nanoTime(), this::tell);
            List<Agent> agents = new ArrayList<>();
            for (int i = 0; i < config.agents(); i++) {
                Group group = roster.get(config.process() * config.agents() + i);
                agents.add(
                        new Agent(new Workload(config.profile(), group, config.seed(), config.process(), i), around));
            }
            loop.execute(() -> start(agents, config));
            expect(STOP);
            loop.execute(() -> agents.forEach(Agent::stop));
            CompletableFuture<Void> ended = allOf(agents);
            if (!endedWithin(ended, config.drainMs())) {
                loop.execute(() -> agents.forEach(Agent::abort));
                endedWithin(ended, ABORT_MS);
            }
        }
        tell(new FleetEvent.Bye());
    }

    private static void start(List<Agent> agents, AgentConfig config) {
        for (int i = 0; i < agents.size(); i++) {
            agents.get(i).start(config.profile().stagger().startMs(config.process(), i));
        }
    }

    private static CompletableFuture<Void> allOf(List<Agent> agents) {
        return CompletableFuture.allOf(agents.stream().map(Agent::ended).toArray(CompletableFuture[]::new));
    }

    private static boolean endedWithin(CompletableFuture<Void> ended, long ms) throws InterruptedException {
        try {
            ended.get(ms, TimeUnit.MILLISECONDS);
            return true;
        } catch (TimeoutException e) {
            return false;
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }

    private static ScheduledThreadPoolExecutor loop() {
        ScheduledThreadPoolExecutor loop = new ScheduledThreadPoolExecutor(1, task -> {
            Thread thread = new Thread(task, "agents");
            thread.setDaemon(true);
            return thread;
        });
        loop.setRemoveOnCancelPolicy(true);
        return loop;
    }

    private synchronized void tell(FleetEvent event) {
        out.println(Json.MAPPER.writeValueAsString(event));
        out.flush();
    }

    private void expect(String word) throws IOException {
        String line = line();
        if (!line.equals(word)) {
            throw new IOException("expected '" + word + "' on stdin, got '" + line + "'");
        }
    }

    private String line() throws IOException {
        String line = in.readLine();
        if (line == null) {
            Runtime.getRuntime().halt(1);
            throw new IOException("the end of stdin");
        }
        return line;
    }
}
