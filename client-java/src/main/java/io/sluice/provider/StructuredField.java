package io.sluice.provider;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A list of strings with parameters, as RFC 9651 writes them: {@code "burst";q=100;w=60, "daily";q=1000}. Whatever is
 * malformed makes all of the field nothing.
 *
 * @param name the string
 * @param numbers its parameters that are whole numbers
 * @param texts its parameters that are strings
 */
record StructuredField(String name, Map<String, Long> numbers, Map<String, String> texts) {
    private static final int MAX_LENGTH = 8 * 1024;

    /** The members; empty if the field is malformed. */
    static List<StructuredField> list(List<String> lines) {
        String text = String.join(",", lines);
        List<StructuredField> members = text.length() > MAX_LENGTH ? null : new Reader(text).list();
        return members == null ? List.of() : members;
    }

    private static final class Reader {
        private final String text;
        private int at;

        Reader(String text) {
            this.text = text.strip();
        }

        @Nullable
        List<StructuredField> list() {
            List<StructuredField> members = new ArrayList<>();
            while (at < text.length()) {
                String name = string();
                if (name == null) {
                    return null;
                }
                StructuredField member = new StructuredField(name, new LinkedHashMap<>(), new LinkedHashMap<>());
                while (peek() == ';') {
                    at++;
                    if (!parameter(member)) {
                        return null;
                    }
                }
                members.add(member);
                blanks();
                if (at == text.length()) {
                    return members;
                }
                if (peek() != ',') {
                    return null;
                }
                at++;
                blanks();
            }
            return null; // nothing, or a comma at the end
        }

        private boolean parameter(StructuredField member) {
            blanks();
            int start = at;
            while (isKey(peek())) {
                at++;
            }
            String key = text.substring(start, at);
            if (key.isEmpty() || !(key.charAt(0) == '*' || Character.isLowerCase(key.charAt(0)))) {
                return false;
            }
            if (peek() != '=') {
                return true; // a boolean
            }
            at++;
            if (peek() == '"') {
                String value = string();
                return value != null && put(member.texts, key, value);
            }
            return peek() == ':' ? bytes() : number(member, key);
        }

        private boolean number(StructuredField member, String key) {
            int start = at;
            while (at < text.length() && ";, ".indexOf(peek()) < 0) {
                at++;
            }
            String bare = text.substring(start, at);
            Long number = bare.contains(",") ? null : Json.whole(bare);
            if (number != null) {
                return put(member.numbers, key, number);
            }
            // Another type of value, such as a token or a negative number: well-formed, and nothing we use.
            return !bare.isEmpty() && bare.chars().allMatch(c -> c > ' ' && c < 127 && c != '"');
        }

        private boolean bytes() {
            int end = text.indexOf(':', at + 1);
            at = end + 1;
            return end > 0;
        }

        private @Nullable String string() {
            if (peek() != '"') {
                return null;
            }
            StringBuilder value = new StringBuilder();
            for (at++; at < text.length(); at++) {
                char c = text.charAt(at);
                if (c == '"') {
                    at++;
                    return value.toString();
                }
                if ((c == '\\' && ++at == text.length()) || c < ' ' || c > '~') {
                    return null;
                }
                value.append(text.charAt(at));
            }
            return null;
        }

        private static <T> boolean put(Map<String, T> map, String key, T value) {
            map.put(key, value);
            return true;
        }

        private static boolean isKey(char c) {
            return "abcdefghijklmnopqrstuvwxyz0123456789_-.*".indexOf(c) >= 0;
        }

        private char peek() {
            return at < text.length() ? text.charAt(at) : '\0';
        }

        private void blanks() {
            while (peek() == ' ' || peek() == '\t') {
                at++;
            }
        }
    }
}
