package io.sluice.testbed.cli;

import java.nio.file.Files;
import java.nio.file.Path;

/** The working copy this runs from. */
final class Home {
    private Home() {}

    /** As the launcher says; without it the directory itself or the one above. */
    static Path directory() {
        String told = System.getProperty("sluice.home");
        if (told != null) {
            return Path.of(told);
        }
        return Files.isDirectory(Path.of("limiter-server")) ? Path.of("") : Path.of("..");
    }
}
