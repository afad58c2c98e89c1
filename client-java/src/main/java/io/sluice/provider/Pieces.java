package io.sluice.provider;

import java.io.ByteArrayOutputStream;
import java.util.function.Consumer;

/**
 * Cuts bare JSON that comes in pieces into its objects: one error without {@code data:}, or one array whose elements
 * arrive one by one. Only braces and quotes are looked at. An object longer than the bound is passed over.
 */
final class Pieces {
    private final int max;
    private final Consumer<byte[]> objects;
    private final ByteArrayOutputStream object = new ByteArrayOutputStream();
    private int arrays;
    private int braces;
    private boolean quoted;
    private boolean escaped;
    private boolean tooLong;

    Pieces(int max, Consumer<byte[]> objects) {
        this.max = max;
        this.objects = objects;
    }

    /** Whether what was opened is not closed yet. */
    boolean isOpen() {
        return arrays > 0 || braces > 0;
    }

    void feed(byte b) {
        if (braces == 0) {
            arrays += b == '[' ? 1 : b == ']' ? -1 : 0;
            arrays = Math.max(0, arrays);
            if (b != '{') {
                return;
            }
        }
        keep(b);
        if (quoted) {
            quoted = escaped || b != '"';
            escaped = !escaped && b == '\\';
            return;
        }
        quoted = b == '"';
        braces += b == '{' ? 1 : b == '}' ? -1 : 0;
        if (braces == 0) {
            if (!tooLong) {
                objects.accept(object.toByteArray());
            }
            object.reset();
            tooLong = false;
        }
    }

    private void keep(byte b) {
        if (tooLong) {
            return;
        }
        if (object.size() == max) {
            tooLong = true;
            object.reset();
        } else {
            object.write(b);
        }
    }
}
