package io.sluice.provider;

import java.util.Arrays;

/** Bytes up to a bound. One that would be longer is given up: it holds nothing more until it is emptied. */
final class Bytes {
    private static final int SMALL = 4 * 1024;
    /** What a stream keeps between its events. */
    private static final int KEPT = 64 * 1024;

    private final int max;
    private byte[] bytes = new byte[SMALL];
    private int size;
    private boolean givenUp;

    Bytes(int max) {
        this.max = max;
    }

    void add(byte[] from, int start, int end) {
        int length = end - start;
        if (givenUp || length > max - size) {
            givenUp = true;
            size = 0;
            return;
        }
        if (size + length > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.min(max, Math.max(size + length, 2 * bytes.length)));
        }
        System.arraycopy(from, start, bytes, size, length);
        size += length;
    }

    boolean isEmpty() {
        return size == 0 && !givenUp;
    }

    boolean isGivenUp() {
        return givenUp;
    }

    /** What it holds. */
    byte[] toArray() {
        return Arrays.copyOf(bytes, size);
    }

    void clear() {
        size = 0;
        givenUp = false;
        if (bytes.length > KEPT) {
            bytes = new byte[SMALL];
        }
    }
}
