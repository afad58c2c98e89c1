package io.sluice.server.k8s;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** {@code kubectl kustomize}, where there is a kubectl: it needs no cluster. */
final class Kubectl {
    private static final long SECONDS = 60;

    private static final boolean HERE = answers();

    private Kubectl() {}

    static boolean isHere() {
        return HERE;
    }

    private static boolean answers() {
        try {
            Process process = new ProcessBuilder("kubectl", "version", "--client")
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
            return process.waitFor(SECONDS, TimeUnit.SECONDS) && process.exitValue() == 0;
        } catch (IOException e) {
            return false;
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /**
     * What a directory renders to.
     *
     * @throws IllegalStateException with what kubectl said, if it does not
     */
    static String kustomize(Path directory) throws IOException, InterruptedException {
        Path error = Files.createTempFile("kustomize", ".log");
        try {
            Process process = new ProcessBuilder("kubectl", "kustomize", directory.toString())
                    .redirectError(error.toFile())
                    .start();
            String rendered = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (!process.waitFor(SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
                process.destroyForcibly();
                throw new IllegalStateException("kubectl kustomize " + directory + ": " + Files.readString(error));
            }
            return rendered;
        } finally {
            Files.delete(error);
        }
    }
}
