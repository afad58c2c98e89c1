package io.sluice;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * An agent in a process of its own, for tests that kill and pause it. Takes permits, says {@code held}, then settles its
 * first permit on each line it reads and says how that ended; says {@code lost} when a lease is lost. Told to stop (SIGTERM) it
 * closes its client, permits or not.
 */
final class AgentMain {
    private AgentMain() {}

    public static void main(String[] args) throws Exception {
        Sluice sluice = Sluice.connect(args[0]);
        Runtime.getRuntime().addShutdownHook(new Thread(sluice::close));
        Project project = sluice.project(args[1]);
        Permit first = null;
        for (int i = 0; i < Integer.parseInt(args[2]); i++) {
            Permit permit = project.acquire(Faults.CALL, Duration.ofSeconds(5));
            permit.onLost(() -> say("lost"));
            first = first == null ? permit : first;
        }
        say("held");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        while (in.readLine() != null && first != null) {
            say(first.settle(new Usage(1, 0, 0, 1)).ended().name());
        }
    }

    @SuppressWarnings("SystemOut")
    private static void say(String line) {
        System.out.println(line);
        System.out.flush();
    }

    /** One such process; ends with the test, and with this JVM because its input ends. */
    static final class Running implements AutoCloseable {
        private final Process process;
        private final BufferedReader out;

        /** @param options of its JVM */
        Running(String uri, String project, int permits, String... options) {
            this(ProcessBuilder::start, uri, project, permits, options);
        }

        /** How a process is started, such as on a host of its own. */
        interface Starter {
            Process start(ProcessBuilder builder) throws IOException;
        }

        Running(Starter starter, String uri, String project, int permits, String... options) {
            List<String> command = new ArrayList<>(List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-Xmx128m",
                    "-XX:+UseSerialGC"));
            command.addAll(List.of(options));
            command.addAll(List.of("-cp", System.getProperty("java.class.path"), AgentMain.class.getName()));
            command.addAll(List.of(uri, project, Integer.toString(permits)));
            try {
                process = starter.start(new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT));
                out = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
                expect("held");
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        void expect(String line) throws IOException {
            String read = out.readLine();
            if (!line.equals(read)) {
                throw new AssertionError("the agent said " + read + ", not " + line);
            }
        }

        void tellToSettle() throws IOException {
            process.getOutputStream().write('\n');
            process.getOutputStream().flush();
        }

        void kill() throws InterruptedException {
            process.destroyForcibly();
            process.waitFor(5, TimeUnit.SECONDS);
        }

        /** SIGTERM; returns when it is gone. */
        void stop() throws InterruptedException {
            process.destroy();
            if (!process.waitFor(10, TimeUnit.SECONDS)) {
                throw new AssertionError("the agent does not stop");
            }
        }

        void signal(String name) throws IOException, InterruptedException {
            new ProcessBuilder("kill", "-" + name, Long.toString(process.pid()))
                    .start()
                    .waitFor();
        }

        @Override
        public void close() {
            process.destroyForcibly();
        }
    }
}
