package io.sluice.testbed.fleet;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.exc.MismatchedInputException;
import tools.jackson.databind.node.MissingNode;

/** Profiles as people write them: ready ones by name, others from a file. Every mistake is told in one line. */
final class ProfileFile {
    /** The ready ones, each a file beside this class. */
    static final List<String> NAMES = List.of("mixed", "bursts");

    private ProfileFile() {}

    /** A name wins over a file of that name; {@code ./mixed} is the file. */
    static Profile load(String nameOrFile) {
        return parse("profile " + nameOrFile, NAMES.contains(nameOrFile) ? ready(nameOrFile) : read(nameOrFile));
    }

    private static String ready(String name) {
        try (InputStream in = ProfileFile.class.getResourceAsStream(name + ".yaml")) {
            if (in == null) {
                throw new IllegalStateException("profile " + name + " is missing from the jar");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new IllegalStateException("profile " + name + " cannot be read from the jar", e);
        }
    }

    private static String read(String file) {
        try {
            return Files.readString(Path.of(file));
        } catch (IOException | InvalidPathException e) {
            throw new IllegalArgumentException(
                    "cannot read profile " + file + "; ready ones are " + String.join(", ", NAMES), e);
        }
    }

    static Profile parse(String what, String text) {
        JsonNode tree = MissingNode.getInstance();
        try {
            tree = Json.YAML.readTree(text);
            checkKeys(tree, Profile.class, "");
            return Json.YAML.treeToValue(tree, Profile.class);
        } catch (JacksonException e) {
            throw new IllegalArgumentException(what + ": " + message(tree, e), e);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(what + ": " + e.getMessage(), e);
        }
    }

    /** Before anything is missed, what is there but unknown is told: a mistyped key is both. */
    private static void checkKeys(JsonNode node, Class<?> type, String path) {
        Profile.check(
                node.isObject(),
                (path.isEmpty() ? "a profile" : path) + " is " + shorten(node) + ", not keys with values");
        Map<String, RecordComponent> known = new TreeMap<>();
        for (RecordComponent component : type.getRecordComponents()) {
            known.put(key(component.getName()), component);
        }
        node.forEachEntry((key, value) -> {
            String at = path.isEmpty() ? key : path + "." + key;
            RecordComponent component = known.get(key);
            if (component == null) {
                throw new IllegalArgumentException("unknown key " + at + " (" + shorten(value) + "), known are "
                        + String.join(", ", known.keySet()));
            }
            if (component.getType().isRecord() && !value.isNull()) {
                checkKeys(value, component.getType(), at);
            } else if (value.isArray() && component.getGenericType() instanceof ParameterizedType list) {
                for (int i = 0; i < value.size(); i++) {
                    checkKeys(value.path(i), (Class<?>) list.getActualTypeArguments()[0], at + "[" + i + "]");
                }
            }
        });
    }

    /** The key of {@code thinkMs} is {@code think_ms}. */
    private static String key(String name) {
        return name.replaceAll("([A-Z])", "_$1").toLowerCase(Locale.ROOT);
    }

    private static String message(JsonNode tree, JacksonException e) {
        String path = path(e.getPath());
        Throwable ours = cause(e);
        if (ours != null) {
            return (path.isEmpty() ? "" : path + ": ") + ours.getMessage();
        }
        if (e instanceof MismatchedInputException mismatch && !path.isEmpty()) {
            return path + " is " + shorten(at(tree, e.getPath())) + ", not " + expected(mismatch.getTargetType());
        }
        // No YAML at all: its own message, without the excerpt that follows.
        String line = e.getLocation() == null ? "" : " (line " + e.getLocation().getLineNr() + ")";
        return e.getOriginalMessage().strip().replaceAll("(?s)\\s*\\R.*", "") + line;
    }

    private static String expected(@Nullable Class<?> type) {
        if (type == int.class || type == Integer.class || type == long.class) {
            return "a whole number";
        }
        if (type == double.class) {
            return "a number";
        }
        if (type == String.class) {
            return "text";
        }
        return type != null && List.class.isAssignableFrom(type) ? "a list" : "keys with values";
    }

    /** What a record said about its values. */
    private static @Nullable Throwable cause(JacksonException e) {
        Throwable cause = e.getCause();
        while (cause != null && cause.getClass() != IllegalArgumentException.class) {
            cause = cause.getCause();
        }
        return cause;
    }

    /** For example {@code groups[1].share}. */
    private static String path(List<JacksonException.Reference> references) {
        StringBuilder path = new StringBuilder();
        for (JacksonException.Reference reference : references) {
            if (reference.getPropertyName() == null) {
                path.append('[').append(reference.getIndex()).append(']');
            } else {
                path.append(path.isEmpty() ? "" : ".").append(reference.getPropertyName());
            }
        }
        return path.toString();
    }

    private static JsonNode at(JsonNode tree, List<JacksonException.Reference> references) {
        JsonNode node = tree;
        for (JacksonException.Reference reference : references) {
            String name = reference.getPropertyName();
            node = name == null ? node.path(reference.getIndex()) : node.path(name);
        }
        return node;
    }

    private static String shorten(JsonNode value) {
        String text = value.toString();
        return text.length() <= 60 ? text : text.substring(0, 60) + "...";
    }
}
