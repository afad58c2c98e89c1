package io.sluice.testbed.fleet;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DatabindException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.exc.UnrecognizedPropertyException;
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
            if (!tree.isObject()) {
                throw new IllegalArgumentException(what + ": must have keys with values, got " + shorten(tree));
            }
            return Json.YAML.treeToValue(tree, Profile.class);
        } catch (JacksonException e) {
            throw new IllegalArgumentException(what + ": " + message(tree, e), e);
        }
    }

    private static String message(JsonNode tree, JacksonException e) {
        if (!(e instanceof DatabindException)) {
            // No YAML at all: its own message, without the excerpt that follows.
            return e.getOriginalMessage().strip().replaceAll("(?s)\\s*\\R.*", "");
        }
        String path = path(e.getPath());
        JsonNode value = at(tree, e.getPath());
        if (e instanceof UnrecognizedPropertyException unknown) {
            return "unknown key " + path + ": " + shorten(value) + "; known here are "
                    + unknown.getKnownPropertyIds().stream()
                            .map(String::valueOf)
                            .sorted()
                            .toList();
        }
        Throwable ours = cause(e);
        if (ours != null) {
            return (path.isEmpty() ? "" : path + ": ") + ours.getMessage();
        }
        return path + " is " + shorten(value) + ", which is not what belongs there";
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
