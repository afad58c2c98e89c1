package io.sluice.testbed.emulator;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.TreeSet;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Provider answers in the documented shape, to compare shapes with. */
final class Samples {
    static final JsonMapper JSON = JsonMapper.shared();

    private Samples() {}

    static String text(String name) {
        try (InputStream in = Samples.class.getResourceAsStream("/samples/" + path(name))) {
            if (in == null) {
                throw new IllegalArgumentException("no sample " + name);
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Anthropic's where no provider is named. */
    private static String path(String name) {
        return name.contains("/") ? name : "anthropic/" + name;
    }

    static JsonNode json(String name) {
        return JSON.readTree(text(name));
    }

    /** The names in a {@code .headers} sample, after its status line. */
    static Set<String> headerNames(String name) {
        Set<String> names = new TreeSet<>();
        text(name)
                .lines()
                .skip(1)
                .filter(line -> line.contains(":"))
                .forEach(line -> names.add(line.substring(0, line.indexOf(':'))));
        return names;
    }

    /** Every path in a JSON value, with the type at its end: {@code /error/type:STRING}. */
    static Set<String> shape(JsonNode node) {
        Set<String> paths = new TreeSet<>();
        collect("", node, paths);
        return paths;
    }

    private static void collect(String path, JsonNode node, Set<String> paths) {
        if (node.isObject()) {
            node.properties().forEach(member -> collect(path + "/" + member.getKey(), member.getValue(), paths));
        } else if (node.isArray()) {
            node.values().forEach(element -> collect(path + "/*", element, paths));
        } else {
            paths.add(path + ":" + node.getNodeType());
        }
    }
}
