package io.sluice;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * One mapping of the document while it is read. Each key is asked for once, in the order of the grammar; a value of the
 * wrong shape is reported and read as absent. What was asked for and found makes up {@link #content}, normalised; what
 * is there and was never asked for is reported by {@link #done}.
 */
final class Section {
    private final Node.Members node;
    private final Problems problems;
    private final Set<String> asked = new LinkedHashSet<>();
    private final Map<String, Object> content = new LinkedHashMap<>();

    Section(Node.Members node, Problems problems) {
        this.node = node;
        this.problems = problems;
    }

    Node.Members node() {
        return node;
    }

    /** What was read so far, ready to be written as JSON: text, whole numbers, decimals, flags, lists and maps. */
    Map<String, Object> content() {
        return content;
    }

    /** The keys of the document, sorted: for mappings whose keys are data. */
    Set<String> keys() {
        return new TreeSet<>(node.values().keySet());
    }

    /** The value of a key, or {@code null} if it is absent or null. */
    @Nullable
    Node get(String key) {
        asked.add(key);
        Node value = node.values().get(key);
        return value instanceof Node.Nothing || value instanceof Node.Broken ? null : value;
    }

    /** Where to report something about a key: its value, or this mapping if it has none. */
    Node at(String key) {
        return node.values().getOrDefault(key, node);
    }

    /** Puts the normal form of a value read by other means. */
    void put(String key, Object value) {
        content.put(key, value);
    }

    /** Reports that a key must be there, unless it is and was reported for another reason. */
    void missing(String key, String message) {
        Node value = node.values().get(key);
        if (value == null || value instanceof Node.Nothing) {
            problems.add(node.path() + "/" + key, value == null ? node.line() : value.line(), message, "");
        }
    }

    @Nullable
    String text(String key, Predicate<String> valid, String shape) {
        String text = asText(get(key), valid, shape);
        if (text != null) {
            put(key, text);
        }
        return text;
    }

    /** A text that can be used as a name and must be there. */
    @Nullable
    String name() {
        missing("name", "must be there");
        return text("name", Names::isName, "must be a name: 1 to 128 characters of [A-Za-z0-9._:/@-]");
    }

    <T> @Nullable T choice(String key, T[] values, Function<T, String> label) {
        List<String> labels = new ArrayList<>();
        for (T value : values) {
            labels.add(label.apply(value));
        }
        String text = text(key, labels::contains, "must be one of " + String.join(", ", labels));
        return text == null ? null : values[labels.indexOf(text)];
    }

    @Nullable
    BigDecimal decimal(String key, Range range) {
        Node value = get(key);
        if (value == null) {
            return null;
        }
        if (value instanceof Node.Decimal decimal) {
            BigDecimal number = range.normal(decimal.value());
            if (number != null) {
                put(key, number);
                return number;
            }
        }
        problems.add(value, range.message() + (value instanceof Node.Text ? ", without quotes" : ""));
        return null;
    }

    @Nullable
    Integer whole(String key, int least, int most) {
        BigDecimal number = decimal(key, new Range(BigDecimal.valueOf(least), BigDecimal.valueOf(most), 0));
        return number == null ? null : number.intValueExact();
    }

    @Nullable
    Duration duration(String key, Duration least, Duration most) {
        Node value = get(key);
        if (value == null) {
            return null;
        }
        if (value instanceof Node.Text text) {
            Duration duration = Durations.parse(text.value());
            if (duration != null && duration.compareTo(least) >= 0 && duration.compareTo(most) <= 0) {
                put(key, Durations.text(duration));
                return duration;
            }
        }
        problems.add(
                value,
                "must be a duration from " + Durations.text(least) + " to " + Durations.text(most)
                        + ": a whole number with ms, s, m, h or d");
        return null;
    }

    boolean flag(String key) {
        Node value = get(key);
        if (value instanceof Node.Flag flag) {
            put(key, flag.value());
            return flag.value();
        }
        if (value != null) {
            problems.add(value, "must be true or false");
        }
        return false;
    }

    /** A mapping; its content becomes part of this one's, unless it is empty. */
    @Nullable
    Section section(String key) {
        Section section = asSection(get(key));
        if (section != null) {
            put(key, section.content);
        }
        return section;
    }

    /** A list of mappings. */
    List<Section> sections(String key, int most) {
        List<Section> sections = new ArrayList<>();
        List<Object> contents = new ArrayList<>();
        for (Node item : items(key, most)) {
            Section section = asSection(item);
            if (section != null) {
                sections.add(section);
                contents.add(section.content);
            }
        }
        put(key, contents);
        return sections;
    }

    /** A list of patterns for models. */
    List<Glob> globs(String key, int most) {
        List<Glob> globs = new ArrayList<>();
        List<String> contents = new ArrayList<>();
        for (Node item : items(key, most)) {
            String text = asText(item, Glob::isValid, Glob.SHAPE);
            if (text != null) {
                globs.add(new Glob(text));
                contents.add(text);
            }
        }
        put(key, contents);
        return globs;
    }

    /** Ends the reading: reports every key that was not asked for. */
    void done() {
        for (Map.Entry<String, Node> member : node.values().entrySet()) {
            if (!asked.contains(member.getKey())) {
                problems.add(member.getValue(), "is an unknown key" + Suggest.near(member.getKey(), asked));
            }
        }
    }

    @Nullable
    Section asSection(@Nullable Node value) {
        if (value instanceof Node.Members members) {
            return new Section(members, problems);
        }
        if (value != null && !(value instanceof Node.Broken)) {
            problems.add(value, "must be a mapping of keys to values");
        }
        return null;
    }

    private @Nullable String asText(@Nullable Node value, Predicate<String> valid, String shape) {
        if (value instanceof Node.Text text && valid.test(text.value())) {
            return text.value();
        }
        if (value != null && !(value instanceof Node.Broken)) {
            boolean quotesHelp = value instanceof Node.Decimal || value instanceof Node.Flag;
            problems.add(value, shape + (quotesHelp ? ", in quotes" : ""));
        }
        return null;
    }

    private List<Node> items(String key, int most) {
        Node value = get(key);
        if (value instanceof Node.Items items) {
            if (items.values().size() > most) {
                problems.add(
                        items,
                        "must have at most " + most + " entries, has "
                                + items.values().size());
                return List.of();
            }
            return items.values();
        }
        if (value != null) {
            problems.add(value, "must be a list");
        }
        return List.of();
    }

    /** What a number may be: from {@code least} to {@code most}, with so many decimals. */
    record Range(BigDecimal least, BigDecimal most, int decimals) {
        static Range of(String least, String most, int decimals) {
            return new Range(new BigDecimal(least), new BigDecimal(most), decimals);
        }

        /** The number without trailing zeros, or {@code null} if it is out of range. */
        @Nullable
        BigDecimal normal(BigDecimal number) {
            BigDecimal plain = number.stripTrailingZeros();
            boolean fits = plain.scale() <= decimals && plain.compareTo(least) >= 0 && plain.compareTo(most) <= 0;
            return fits ? plain.setScale(Math.max(0, plain.scale())) : null;
        }

        String message() {
            return "must be a " + (decimals == 0 ? "whole number" : "number") + " from " + least.toPlainString()
                    + " to " + most.toPlainString() + (decimals == 0 ? "" : " with at most " + decimals + " decimals");
        }
    }
}
