package io.sluice.testbed.cli;

import io.sluice.testbed.server.Readiness;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.ProcessBuilder.Redirect;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** One run of a server in front of people: its log goes by as it comes, and where it is reached is told once it is ready. */
final class ServerRun {
    /** A little more than the server gives to answers that are under way. */
    private static final Duration STOP = Duration.ofSeconds(40);

    private static final Duration LAST_WORDS = Duration.ofSeconds(1);

    private static final Duration POLL = Duration.ofMillis(50);
    private static final Duration SLOW_POLL = Duration.ofSeconds(2);

    /** A server lives without its Redis: after a while it is told where it listens all the same. */
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private static final int LAST_LINES = 20;

    private final ProcessBuilder builder;
    private final PrintWriter out;
    private final PrintWriter err;
    private final Deque<String> last = new ArrayDeque<>();
    private final CountDownLatch heardOut = new CountDownLatch(1);
    private volatile boolean told;
    private volatile boolean stopping;

    ServerRun(ProcessBuilder builder, PrintWriter out, PrintWriter err) {
        this.builder = builder;
        this.out = out;
        this.err = err;
    }

    /** Its exit code; never 0 if it ended before it was ready. */
    int untilItsEnd() throws IOException, InterruptedException {
        Process server = builder.redirectInput(Redirect.INHERIT)
                .redirectErrorStream(true)
                .start();
        // Our end is its end, but not before it has told those who wait.
        Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(server)));
        try {
            follow(server);
        } finally {
            heardOut.countDown();
        }
        int exit = server.waitFor();
        if (told || stopping) {
            return exit;
        }
        say("the server ended before it was ready; it said last\n  " + String.join("\n  ", last));
        return Math.max(1, exit);
    }

    private void follow(Process server) throws IOException {
        boolean listens = false;
        try (BufferedReader lines = server.inputReader()) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                out.println(line);
                keep(line);
                URI at = listens ? null : Readiness.listensAt(line).orElse(null);
                if (at != null) {
                    listens = true;
                    Thread waiting = new Thread(() -> tell(server, at), "sluice-server-ready");
                    waiting.setDaemon(true);
                    waiting.start();
                }
            }
        }
    }

    private void keep(String line) {
        if (line.isBlank()) {
            return;
        }
        last.addLast(line);
        if (last.size() > LAST_LINES) {
            last.removeFirst();
        }
    }

    private void tell(Process server, URI at) {
        String address = at.getScheme() + "://localhost:" + at.getPort() + "/";
        try {
            long patient = System.nanoTime() + PATIENCE.toNanos();
            while (server.isAlive() && !Readiness.isReady(at)) {
                if (!told && System.nanoTime() > patient) {
                    told = true;
                    say("it listens at " + address + " but is not ready yet: " + address
                            + "actuator/health/readiness tells why");
                }
                TimeUnit.NANOSECONDS.sleep((told ? SLOW_POLL : POLL).toNanos());
            }
            if (server.isAlive()) {
                told = true;
                say("dashboard and API at " + address);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void stop(Process server) {
        stopping = true;
        // Its handle: to destroy the process itself would close the pipe, and its last words would be lost.
        server.toHandle().destroy();
        try {
            if (!server.waitFor(STOP.toMillis(), TimeUnit.MILLISECONDS)) {
                server.destroyForcibly();
            }
            heardOut.await(LAST_WORDS.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            server.destroyForcibly();
        }
    }

    private void say(String text) {
        err.println(text);
        err.flush();
    }
}
