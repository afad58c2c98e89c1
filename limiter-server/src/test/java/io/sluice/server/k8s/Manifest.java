package io.sluice.server.k8s;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.MappingIterator;
import tools.jackson.dataformat.yaml.YAMLMapper;

/**
 * One object for Kubernetes.
 *
 * @param source where it stands, for messages
 */
record Manifest(String source, JsonNode json) {
    private static final YAMLMapper YAML = YAMLMapper.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .build();

    /** All in the plain files under a directory, kustomize's own and patches left out. */
    static List<Manifest> under(Path directory) {
        try (Stream<Path> files = Files.walk(directory)) {
            return files.filter(file -> file.toString().endsWith(".yaml"))
                    .filter(file -> !file.endsWith("kustomization.yaml")
                            && !file.toString().endsWith("-patch.yaml"))
                    .sorted()
                    .flatMap(file -> read(directory.relativize(file).toString(), text(file)).stream())
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** @throws tools.jackson.core.JacksonException it is no YAML, or a key stands twice */
    static List<Manifest> read(String source, String yaml) {
        try (MappingIterator<JsonNode> documents =
                YAML.readerFor(JsonNode.class).readValues(yaml)) {
            List<Manifest> all = new ArrayList<>();
            documents.forEachRemaining(json -> all.add(new Manifest(source, json)));
            return all;
        }
    }

    static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    String kind() {
        return json.path("kind").asString("");
    }

    String name() {
        return json.path("metadata").path("name").asString("");
    }

    /** The pods it makes; missing if it makes none. */
    JsonNode podTemplate() {
        return json.path("spec").path("template");
    }

    @Override
    public String toString() {
        return source + " (" + kind() + " " + name() + ")";
    }
}
