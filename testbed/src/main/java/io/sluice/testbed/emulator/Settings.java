package io.sluice.testbed.emulator;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * The {@code name=value} pairs of one behaviour, from the text of an option or from a JSON object ({@code {"for": "5s"}};
 * names with {@code _} or {@code -} alike). Each is taken once; {@link #end} complains of what nobody took.
 */
final class Settings {
    private static final Pattern TIME = Pattern.compile("(\\d{1,9})(ms|s|m|h)");
    private static final Duration LONGEST = Duration.ofDays(8);

    private final String of;
    private final Map<String, String> values;
    private final List<String> known = new ArrayList<>();

    private Settings(String of, Map<String, String> values) {
        this.of = of;
        this.values = new TreeMap<>(values);
    }

    /** @throws IllegalArgumentException if it is not pairs, in one line */
    static Settings parse(String of, String text) {
        Map<String, String> values = new LinkedHashMap<>();
        for (String part : text.split(",", -1)) {
            String[] pair = part.split("=", 2);
            if (pair.length < 2 || values.put(pair[0].trim().replace('_', '-'), pair[1].trim()) != null) {
                throw new IllegalArgumentException(of + ": not name=value, or given twice: '" + part.trim() + "'");
            }
        }
        return new Settings(of, values);
    }

    /** @throws IllegalArgumentException if a member is no plain value, in one line */
    static Settings of(String of, JsonNode json) {
        if (json.isString()) {
            return parse(of, json.asString());
        }
        Map<String, String> values = new LinkedHashMap<>();
        json.properties().forEach(member -> {
            if (!member.getValue().isValueNode() || member.getValue().isNull()) {
                throw new IllegalArgumentException(of + ": " + member.getKey() + " must be a plain value");
            }
            values.put(member.getKey().replace('_', '-'), member.getValue().asString());
        });
        return new Settings(of, values);
    }

    /** A part of all, 0 to 1. */
    double share(String name, double otherwise) {
        return decimal(name, BigDecimal.valueOf(otherwise), BigDecimal.ONE).doubleValue();
    }

    /** A decimal number from 0. */
    BigDecimal decimal(String name, BigDecimal otherwise, BigDecimal most) {
        String text = take(name);
        if (text == null) {
            return otherwise;
        }
        try {
            BigDecimal value = new BigDecimal(text);
            if (value.signum() >= 0 && value.compareTo(most) <= 0) {
                return value;
            }
        } catch (NumberFormatException e) {
            // Said below, as for a number out of range.
        }
        throw bad(name, text, "a number from 0 to " + most.toPlainString());
    }

    /** A whole number; {@code null} if absent. */
    @Nullable
    Long whole(String name, long least, long most) {
        String text = take(name);
        if (text == null) {
            return null;
        }
        if (text.matches("\\d{1,18}") && Long.parseLong(text) >= least && Long.parseLong(text) <= most) {
            return Long.valueOf(text);
        }
        throw bad(name, text, "a whole number from " + least + " to " + most);
    }

    long whole(String name, long least, long most, long otherwise) {
        Long value = whole(name, least, most);
        return value == null ? otherwise : value;
    }

    /** A time such as {@code 500ms}, {@code 5s}, {@code 1m} or {@code 5h}, at most 8 days; {@code null} if absent. */
    @Nullable
    Duration time(String name) {
        String text = take(name);
        return text == null ? null : time(of + ": " + name, text);
    }

    Duration time(String name, Duration otherwise) {
        Duration value = time(name);
        return value == null ? otherwise : value;
    }

    static Duration time(String what, String text) {
        Matcher match = TIME.matcher(text);
        if (match.matches()) {
            long amount = Long.parseLong(match.group(1));
            Duration time = switch (match.group(2)) {
                case "ms" -> Duration.ofMillis(amount);
                case "s" -> Duration.ofSeconds(amount);
                case "m" -> Duration.ofMinutes(amount);
                default -> Duration.ofHours(amount);
            };
            if (time.compareTo(LONGEST) <= 0) {
                return time;
            }
        }
        throw new IllegalArgumentException(
                what + " is no time up to 8 days: '" + text + "'; write 500ms, 5s, 1m or 5h");
    }

    /** One of an enum's words, which are its names in lower case with {@code -} for {@code _}; {@code null} if absent. */
    <E extends Enum<E>> @Nullable E word(String name, Class<E> type) {
        String text = take(name);
        return text == null ? null : word(of + ": " + name, type, text);
    }

    <E extends Enum<E>> E word(String name, Class<E> type, E otherwise) {
        E value = word(name, type);
        return value == null ? otherwise : value;
    }

    static <E extends Enum<E>> E word(String what, Class<E> type, String text) {
        for (E value : type.getEnumConstants()) {
            if (word(value).equals(text.replace('_', '-'))) {
                return value;
            }
        }
        List<String> words =
                Arrays.stream(type.getEnumConstants()).map(Settings::word).toList();
        throw new IllegalArgumentException(what + " must be one of " + String.join(", ", words) + ": '" + text + "'");
    }

    static String word(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    boolean flag(String name) {
        String text = take(name);
        if (text == null || text.equals("true") || text.equals("false")) {
            return "true".equals(text);
        }
        throw bad(name, text, "true or false");
    }

    /** @throws IllegalArgumentException if something was not taken, naming it */
    void end() {
        if (!values.isEmpty()) {
            throw new IllegalArgumentException(of + ": unknown '"
                    + values.keySet().iterator().next() + "': known are " + String.join(", ", known));
        }
    }

    IllegalArgumentException bad(String name, String value, String wanted) {
        return new IllegalArgumentException(of + ": " + name + " must be " + wanted + ": '" + value + "'");
    }

    private @Nullable String take(String name) {
        known.add(name);
        return values.remove(name);
    }
}
