package io.sluice.testbed.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Whose environment a server runs in: seen from a process whose own is full of settings. */
@Timeout(60)
class ServerOptionsTest {

    @Test
    void serversOfTestsDoNotSeeTheirCallersSettings() throws Exception {
        assertThat(seen("of-a-test"))
                .containsExactly("SPRING_APPLICATION_JSON={\"sluice.redis\":\"redis://x\"}", "arguments=[]");
    }

    @Test
    void serversOfPeopleSeeThemAllAndArgumentsGoBefore() throws Exception {
        assertThat(seen("of-the-caller"))
                .containsExactly(
                        "SERVER_PORT=9",
                        "SLUICE_TOKENS=a file",
                        "SPRING_APPLICATION_JSON={\"a\":1}",
                        "arguments=[--sluice.redis=redis://x]");
    }

    private static List<String> seen(String whose) throws IOException, InterruptedException {
        ProcessBuilder caller = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                Caller.class.getName(),
                whose);
        caller.environment().keySet().removeIf(name -> name.matches("(SLUICE|SERVER|SPRING)_.*"));
        caller.environment().put("SERVER_PORT", "9");
        caller.environment().put("SLUICE_TOKENS", "a file");
        caller.environment().put("SPRING_APPLICATION_JSON", "{\"a\":1}");
        Process process = caller.redirectError(ProcessBuilder.Redirect.DISCARD).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).isZero();
        return said.lines().sorted().toList();
    }

    /** Tells what a server that it starts would see. */
    static final class Caller {
        public static void main(String[] whose) {
            ServerOptions options =
                    new ServerOptions(Path.of("server.jar"), List.of(), Map.of("sluice.redis", "redis://x"));
            ProcessBuilder server = whose[0].equals("of-a-test") ? options.process() : options.processOfTheCaller();
            server.environment().forEach((name, value) -> {
                if (name.matches("(SLUICE|SERVER|SPRING)_.*")) {
                    System.out.println(name + "=" + value);
                }
            });
            List<String> command = server.command();
            System.out.println("arguments=" + command.subList(command.indexOf("server.jar") + 1, command.size()));
        }
    }
}
