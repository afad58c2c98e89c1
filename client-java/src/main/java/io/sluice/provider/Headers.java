package io.sluice.provider;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** An answer's headers by lower-case name. They may be unknown, which is not the same as none. */
final class Headers {
    private final boolean known;
    private final Map<String, List<String>> values = new TreeMap<>();

    Headers(@Nullable Map<String, List<String>> headers) {
        known = headers != null;
        if (headers != null) {
            headers.forEach(
                    (name, texts) -> values.computeIfAbsent(name.toLowerCase(Locale.ROOT), n -> new ArrayList<>())
                            .addAll(texts));
        }
    }

    boolean known() {
        return known;
    }

    boolean has(String name) {
        return values.containsKey(name);
    }

    /** Whether one of these names is there, or one that starts so where it ends in a hyphen. */
    boolean hasAny(String... names) {
        for (String name : names) {
            if (name.endsWith("-") ? values.keySet().stream().anyMatch(n -> n.startsWith(name)) : has(name)) {
                return true;
            }
        }
        return false;
    }

    Iterable<String> names() {
        return values.keySet();
    }

    List<String> all(String name) {
        return values.getOrDefault(name, List.of());
    }

    /** The first value that says something, or {@code null}. */
    @Nullable
    String first(String name) {
        return all(name).stream()
                .map(String::strip)
                .filter(text -> !text.isEmpty())
                .findFirst()
                .orElse(null);
    }

    /** Whether the value is this word, in any case. */
    boolean is(String name, String word) {
        return word.equalsIgnoreCase(first(name));
    }

    /** A whole number of 0 or more; of several the smallest. */
    @Nullable
    Long least(String name) {
        return all(name).stream()
                .map(Json::whole)
                .filter(number -> number != null)
                .min(Long::compare)
                .orElse(null);
    }

    /** What the function makes of the value; of several the largest. A folded list, {@code 12, 12}, is several. */
    <T extends Comparable<T>> @Nullable T most(String name, Function<String, @Nullable T> read) {
        T most = null;
        for (String value : all(name)) {
            T whole = read.apply(value);
            for (String part : whole == null ? value.split(",", -1) : new String[0]) {
                most = larger(most, read.apply(part));
            }
            most = larger(most, whole);
        }
        return most;
    }

    private static <T extends Comparable<T>> @Nullable T larger(@Nullable T one, @Nullable T other) {
        if (one == null || other == null) {
            return one == null ? other : one;
        }
        return one.compareTo(other) >= 0 ? one : other;
    }
}
