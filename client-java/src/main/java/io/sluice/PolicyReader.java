package io.sluice;

import java.nio.file.Path;

final class PolicyReader {
    static final int MAX_BYTES = 256 * 1024;

    private PolicyReader() {}

    static String text(Path file) {
        throw new UnsupportedOperationException(file.toString());
    }
}
