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
import java.util.concurrent.TimeUnit;

/**
 * The main class of one process of a fleet. Stdin carries an {@link AgentConfig}, then {@code go}, then {@code stop};
 * its end kills the process, so that none outlives the one that started it. Stdout carries {@link FleetEvent}s.
 */
public final class AgentProcess {
    private static final String GO = "go";
    private static final String STOP = "stop";

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
        Target target = new Target(config.target());
        try (Admission admission = config.admission()) {
            target.warmUp();
            List<Agent> agents = new ArrayList<>();
            for (int i = 0; i < config.agents(); i++) {
                Workload workload = new Workload(config.profile(), config.seed(), config.process(), i);
                agents.add(new Agent(workload, admission, target, this::tell));
            }
            tell(new FleetEvent.Ready());
            expect(GO);
            agents.forEach(Thread::start);
            expect(STOP);
            stop(agents, config.drainMs());
        }
        tell(new FleetEvent.Bye());
    }

    /** Waits for calls in flight up to the bound, then aborts them. */
    private static void stop(List<Agent> agents, long drainMs) throws InterruptedException {
        agents.forEach(Agent::signalStop);
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(drainMs);
        for (Agent agent : agents) {
            agent.join(Math.max(1, TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime())));
        }
        agents.forEach(Thread::interrupt);
        for (Agent agent : agents) {
            agent.join(1_000);
        }
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
