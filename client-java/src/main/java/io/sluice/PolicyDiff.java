package io.sluice;

import io.sluice.Admin.Difference;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * What changes from one policy to another, leaf by leaf. Entries of lists are told apart by their name, not by their place: a class that
 * moves up is the same class, and that it moved is told of its list as a whole.
 */
final class PolicyDiff {
    private static final JsonMapper JSON = JsonMapper.builder().build();

    /** What lists of mappings go by. */
    private static final List<String> NAMES = List.of("name", "by");

    private PolicyDiff() {}

    /** @param from {@code null}: there was none */
    static List<Difference> between(@Nullable Policy from, Policy to) {
        Map<String, String> before = from == null ? Map.of() : leaves(from);
        Map<String, String> after = leaves(to);
        Set<String> paths = new TreeSet<>(before.keySet());
        paths.addAll(after.keySet());
        List<Difference> changes = new ArrayList<>();
        for (String path : paths) {
            if (!Objects.equals(before.get(path), after.get(path))) {
                changes.add(new Difference(path, before.get(path), after.get(path), about(path)));
            }
        }
        return changes;
    }

    private static Map<String, String> leaves(Policy policy) {
        Map<String, String> leaves = new TreeMap<>();
        add(leaves, "", JSON.readTree(policy.toJson()));
        return leaves;
    }

    private static void add(Map<String, String> leaves, String path, JsonNode node) {
        if (node.isObject()) {
            node.properties().forEach(member -> add(leaves, path + "/" + escaped(member.getKey()), member.getValue()));
            return;
        }
        List<String> names = new ArrayList<>();
        for (JsonNode entry : node) {
            names.add(nameOf(entry));
        }
        if (names.isEmpty() || names.contains("")) {
            leaves.put(path, node.toString());
            return;
        }
        if (names.size() > 1) {
            leaves.put(path, JSON.writeValueAsString(names)); // which come first
        }
        int i = 0;
        for (JsonNode entry : node) {
            add(leaves, path + "/" + escaped(names.get(i++)), entry);
        }
    }

    private static String nameOf(JsonNode entry) {
        for (String name : NAMES) {
            if (entry.isObject() && entry.path(name).isString()) {
                return entry.path(name).stringValue();
            }
        }
        return "";
    }

    private static String escaped(String key) {
        return key.replace("~", "~0").replace("/", "~1");
    }

    private static String about(String path) {
        String[] parts = path.split("/", -1);
        if (parts.length < 3) {
            return "everyone";
        }
        String name = parts[2].replace("~1", "/").replace("~0", "~");
        String whose = switch (parts[1]) {
            case "classes" -> "class " + name;
            case "teams" -> "team " + name;
            case "workspaces" -> "workspace " + name;
            case "each" -> "each " + name;
            case "priorities" -> "priority " + name;
            case "prices" -> "models " + name;
            default -> "everyone";
        };
        boolean ofAClass = parts.length > 4 && parts[3].equals("classes") && !whose.equals("everyone");
        return ofAClass ? whose + ", class " + parts[4] : whose;
    }
}
