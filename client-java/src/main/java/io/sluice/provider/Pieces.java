package io.sluice.provider;

import java.util.function.Consumer;

/**
 * Cuts bare JSON that comes in pieces into its objects: one error without {@code data:}, or one array whose elements
 * arrive one by one. Only braces and quotes are looked at. An object longer than the bound is passed over.
 */
final class Pieces {
    private final Consumer<byte[]> objects;
    private final Bytes object;
    private int arrays;
    private int braces;
    private boolean quoted;
    private boolean escaped;

    Pieces(int max, Consumer<byte[]> objects) {
        this.object = new Bytes(max);
        this.objects = objects;
    }

    /** Whether what was opened is not closed yet. */
    boolean isOpen() {
        return arrays > 0 || braces > 0;
    }

    /** Reads from {@code start} until what is open is closed, at most to {@code end}; says how far it read. */
    int feed(byte[] bytes, int start, int end) {
        int kept = start;
        int at = start;
        do {
            boolean outside = braces == 0;
            see(bytes[at]);
            if (outside) {
                kept = at;
            }
            at++;
            if (!outside && braces == 0) {
                object.add(bytes, kept, at);
                close();
                kept = at;
            }
        } while (isOpen() && at < end);
        if (braces > 0) {
            object.add(bytes, kept, at);
        }
        return at;
    }

    private void see(byte b) {
        if (quoted) {
            quoted = escaped || b != '"';
            escaped = !escaped && b == '\\';
        } else if (braces > 0) {
            quoted = b == '"';
            braces += b == '{' ? 1 : b == '}' ? -1 : 0;
        } else if (b == '{') {
            braces = 1;
        } else if (b == '[' || b == ']') {
            arrays = Math.max(0, arrays + (b == '[' ? 1 : -1));
        }
    }

    private void close() {
        if (!object.isGivenUp()) {
            objects.accept(object.toArray());
        }
        object.clear();
    }
}
