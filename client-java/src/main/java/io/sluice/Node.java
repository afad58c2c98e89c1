package io.sluice;

import java.math.BigDecimal;
import java.util.List;
import java.util.Map;

/** One value of a document with its place: a JSON Pointer and a line, from 1 (a member's is its key's line). */
sealed interface Node {
    String path();

    int line();

    /** The value for a message, shortened. */
    String shown();

    record Members(String path, int line, Map<String, Node> values) implements Node {
        @Override
        public String shown() {
            return values.isEmpty() ? "{}" : "{…}";
        }
    }

    record Items(String path, int line, List<Node> values) implements Node {
        @Override
        public String shown() {
            return values.isEmpty() ? "[]" : "[…]";
        }
    }

    record Text(String path, int line, String value) implements Node {
        @Override
        public String shown() {
            return shorten(value);
        }
    }

    record Decimal(String path, int line, BigDecimal value, String shown) implements Node {}

    record Flag(String path, int line, boolean value) implements Node {
        @Override
        public String shown() {
            return String.valueOf(value);
        }
    }

    /** {@code null}: the same as absent, but its key is known. */
    record Nothing(String path, int line) implements Node {
        @Override
        public String shown() {
            return "null";
        }
    }

    /** A part of the document that could not be read and was reported already. */
    record Broken(String path, int line, String shown) implements Node {}

    /** Text for a message: one line of at most 128 characters. */
    static String shorten(String text) {
        String line = text.length() <= 128 ? text : text.substring(0, 128) + "…";
        return line.replaceAll("\\p{Cntrl}+", " ");
    }
}
