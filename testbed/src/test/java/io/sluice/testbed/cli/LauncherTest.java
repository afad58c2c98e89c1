package io.sluice.testbed.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The launcher as a process, in a project of its own: its {@code java} says what it was called with, its {@code mvn}
 * makes an empty jar. So no build of ours is touched.
 */
@Timeout(60)
class LauncherTest {
    @TempDir
    private Path directory;

    private Path home;
    private Path tools;

    @BeforeEach
    void makeAProject() throws IOException {
        home = Files.createDirectories(directory.resolve("a project"));
        tools = Files.createDirectories(directory.resolve("tools"));
        Path launcher = Path.of("..").resolve("sluice").toAbsolutePath().normalize();
        Files.copy(launcher, home.resolve("sluice"));
        executable(home.resolve("sluice"));
        for (String source : List.of("pom.xml", "testbed/src/main/A.java", "lua/a.lua")) {
            Path file = home.resolve(source);
            Files.createDirectories(file.getParent());
            Files.writeString(file, "");
        }
        tool("java", javaThatIs("17.0.15"));
        tool("javac", "");
        tool("mvn", """
                echo run >>mvn.runs
                mkdir -p testbed/target
                sleep 0.3
                : >testbed/target/sluice-testbed-1.jar
                """);
    }

    @Test
    void buildsOnFirstUseAndThenOnlyWhenASourceIsNewer() throws Exception {
        assertThat(run("fleet", "--seed", "a b").err()).contains("building (first use, about a minute)…");
        Result second = run("fleet", "--seed", "a b");
        assertThat(second.err()).isEmpty();
        assertThat(second.out()).endsWith("io.sluice.testbed.cli.Main\nfleet\n--seed\na b\n");
        assertThat(builds()).isEqualTo(1);

        Files.setLastModifiedTime(
                home.resolve("lua/a.lua"), FileTime.from(Instant.now().plusSeconds(5)));
        assertThat(run("fleet").err()).contains("building");
        assertThat(builds()).isEqualTo(2);
    }

    @Test
    void passesTheExitCodeOn() throws Exception {
        tool("java", javaThatIs("17.0.15") + "exit 1\n");

        assertThat(run("demo").exit()).isEqualTo(1);
    }

    @Test
    void worksFromAnotherDirectoryAndThroughASymbolicLink() throws Exception {
        Path link = Files.createSymbolicLink(directory.resolve("link"), Path.of("a project", "sluice"));
        Path second = Files.createSymbolicLink(directory.resolve("second"), link);

        Result result = launch(directory, path(), second.toString(), "doctor");

        assertThat(result.exit()).isZero();
        assertThat(result.out()).contains(home.toRealPath() + "/testbed/target/sluice-testbed-1.jar");
    }

    @Test
    void concurrentRunsBuildOnce() throws Exception {
        List<Process> processes = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            processes.add(start(home, path(), "./sluice", "doctor"));
        }
        for (Process process : processes) {
            assertThat(process.waitFor()).isZero();
        }
        assertThat(builds()).isEqualTo(1);
    }

    @Test
    void aLockWhoseOwnerDiedIsTakenOver() throws Exception {
        Path lock = Files.createDirectories(home.resolve("target/sluice-build.lock"));
        Process gone = new ProcessBuilder("true").start();
        gone.waitFor();
        Files.writeString(lock.resolve("pid"), gone.pid() + "\n");

        assertThat(run("doctor").exit()).isZero();
        assertThat(lock).doesNotExist();
    }

    @Test
    void aFailedBuildShowsWhatMavenSaidAndIsTriedAgain() throws Exception {
        tool("mvn", "echo run >>mvn.runs; echo '[ERROR] no such thing'; exit 1\n");

        Result result = run("doctor");

        assertThat(result.exit()).isEqualTo(3);
        assertThat(result.err()).contains("[ERROR] no such thing").contains("the build failed");
        assertThat(run("doctor").exit()).isEqualTo(3);
        assertThat(builds()).isEqualTo(2);
    }

    @Test
    void aMissingJdkIsOneLineAndExitThree() throws Exception {
        Result result = launch(home, "", "/bin/sh", "./sluice", "doctor");

        assertThat(result.exit()).isEqualTo(3);
        assertThat(result.err())
                .isEqualTo("sluice: no java on PATH and JAVA_HOME is not set; Sluice needs JDK 17 or newer\n");
    }

    @Test
    void tooOldAJdkIsOneLineAndExitThree() throws Exception {
        for (String version : List.of("1.8.0_402", "11.0.2")) {
            tool("java", javaThatIs(version));

            Result result = run("doctor");

            assertThat(result.exit()).isEqualTo(3);
            assertThat(result.err().lines()).singleElement().asString().contains("too old", version);
        }
    }

    @Test
    void aMissingMavenIsOneLineAndExitThree() throws Exception {
        Files.delete(tools.resolve("mvn"));
        // Only what the launcher needs besides, so that no Maven of this machine is found.
        for (String name : List.of("find", "mkdir", "rm", "cat", "sleep")) {
            tool(name, "exec " + which(name) + " \"$@\"\n");
        }

        Result result = launch(home, tools.toString(), "/bin/sh", "./sluice", "doctor");

        assertThat(result.exit()).isEqualTo(3);
        assertThat(result.err()).isEqualTo("sluice: no mvn on PATH; building Sluice needs Maven 3.8.7 or newer\n");
    }

    private record Result(int exit, String out, String err) {}

    private Result run(String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of("./sluice"));
        command.addAll(List.of(arguments));
        return launch(home, path(), command.toArray(String[]::new));
    }

    private Result launch(Path in, String path, String... command) throws Exception {
        Process process = start(in, path, command);
        assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
        return new Result(
                process.exitValue(),
                new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8),
                new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8));
    }

    private static Process start(Path in, String path, String... command) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command).directory(in.toFile());
        builder.environment().put("PATH", path);
        builder.environment().remove("JAVA_HOME");
        return builder.start();
    }

    private String path() {
        return tools + File.pathSeparator + System.getenv("PATH");
    }

    private int builds() throws IOException {
        return Files.readAllLines(home.resolve("mvn.runs")).size();
    }

    private void tool(String name, String body) throws IOException {
        executable(Files.writeString(tools.resolve(name), "#!/bin/sh\n" + body));
    }

    /** A {@code java} that tells its version, or else its arguments one a line. */
    private static String javaThatIs(String version) {
        return """
                [ "$1" = -version ] && { echo 'openjdk version "%s" 2025-04-15' >&2; exit 0; }
                printf '%%s\\n' "$@"
                """.formatted(version);
    }

    private static Path which(String name) {
        return List.of("/bin", "/usr/bin").stream()
                .map(directory -> Path.of(directory, name))
                .filter(Files::isExecutable)
                .findFirst()
                .orElseThrow();
    }

    private static void executable(Path file) throws IOException {
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }
}
