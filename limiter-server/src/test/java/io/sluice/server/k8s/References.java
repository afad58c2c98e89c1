package io.sluice.server.k8s;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import tools.jackson.databind.JsonNode;

/** Whether objects that name each other mean something that is there. */
final class References {
    /** Made by a command that the file that needs it tells. */
    private static final Set<String> MADE_BY_HAND = Set.of("sluice-py");

    private final List<Manifest> all;
    private final List<String> faults = new ArrayList<>();

    private References(List<Manifest> all) {
        this.all = all;
    }

    /** What points nowhere, one line each. */
    static List<String> faults(List<Manifest> all) {
        References references = new References(all);
        all.forEach(references::check);
        return references.faults;
    }

    private void check(Manifest manifest) {
        JsonNode spec = manifest.json().path("spec");
        switch (manifest.kind()) {
            case "Service" -> {
                JsonNode pods = selected(manifest, spec.path("selector"));
                for (JsonNode port : spec.path("ports")) {
                    wantPort(manifest, pods, port.path("targetPort").asString(""));
                }
            }
            case "PodDisruptionBudget" ->
                selected(manifest, spec.path("selector").path("matchLabels"));
            case "NetworkPolicy" -> {
                selected(manifest, spec.path("podSelector").path("matchLabels"));
                spec.path("ingress")
                        .forEach(rule -> rule.path("from")
                                .forEach(from -> selected(
                                        manifest, from.path("podSelector").path("matchLabels"))));
            }
            default -> pods(manifest);
        }
    }

    private void pods(Manifest manifest) {
        JsonNode template = manifest.podTemplate();
        if (template.isMissingNode()) {
            return;
        }
        JsonNode mustMatch = manifest.json().path("spec").path("selector").path("matchLabels");
        if (!within(mustMatch, template.path("metadata").path("labels"))) {
            faults.add(manifest + ": does not select its own pods");
        }
        Set<String> volumes = new TreeSet<>();
        for (JsonNode volume : template.path("spec").path("volumes")) {
            volumes.add(volume.path("name").asString());
            wantKeys(manifest, "ConfigMap", volume.path("configMap").path("name"), volume.path("configMap"));
            wantKeys(manifest, "Secret", volume.path("secret").path("secretName"), volume.path("secret"));
        }
        manifest.json()
                .path("spec")
                .path("volumeClaimTemplates")
                .forEach(
                        claim -> volumes.add(claim.path("metadata").path("name").asString()));
        for (JsonNode container : template.path("spec").path("containers")) {
            container(manifest, template, container, volumes);
        }
    }

    private void container(Manifest manifest, JsonNode template, JsonNode container, Set<String> volumes) {
        for (JsonNode mount : container.path("volumeMounts")) {
            String volume = mount.path("name").asString();
            if (!volumes.contains(volume)) {
                faults.add(manifest + ": no volume " + volume);
            }
        }
        for (JsonNode variable : container.path("env")) {
            JsonNode secret = variable.path("valueFrom").path("secretKeyRef");
            if (!secret.isMissingNode()) {
                wantKey(
                        manifest,
                        "Secret",
                        secret.path("name").asString(),
                        secret.path("key").asString());
            }
        }
        for (String probe : List.of("startupProbe", "livenessProbe", "readinessProbe")) {
            JsonNode port = container.path(probe).path("httpGet").path("port");
            if (!port.isMissingNode()) {
                wantPort(manifest, template, port.asString());
            }
        }
    }

    private void wantKeys(Manifest from, String kind, JsonNode name, JsonNode source) {
        if (name.isMissingNode() || MADE_BY_HAND.contains(name.asString())) {
            return;
        }
        if (find(kind, name.asString()).isEmpty()) {
            faults.add(from + ": there is no " + kind + " " + name.asString());
        }
        for (JsonNode item : source.path("items")) {
            wantKey(from, kind, name.asString(), item.path("key").asString());
        }
    }

    private void wantKey(Manifest from, String kind, String name, String key) {
        boolean there = find(kind, name)
                .filter(found -> found.json().path("data").has(key)
                        || found.json().path("stringData").has(key))
                .isPresent();
        if (!there) {
            faults.add(from + ": there is no " + key + " in " + kind + " " + name);
        }
    }

    private void wantPort(Manifest from, JsonNode template, String name) {
        for (JsonNode container : template.path("spec").path("containers")) {
            for (JsonNode port : container.path("ports")) {
                if (port.path("name").asString("").equals(name)) {
                    return;
                }
            }
        }
        faults.add(from + ": no container has a port " + name);
    }

    /** The pods that have these labels; missing, and a fault, if none has. */
    private JsonNode selected(Manifest from, JsonNode labels) {
        for (Manifest manifest : all) {
            JsonNode template = manifest.podTemplate();
            if (labels.size() > 0 && within(labels, template.path("metadata").path("labels"))) {
                return template;
            }
        }
        faults.add(from + ": no pod has the labels " + labels);
        return tools.jackson.databind.node.MissingNode.getInstance();
    }

    private Optional<Manifest> find(String kind, String name) {
        return all.stream()
                .filter(manifest ->
                        manifest.kind().equals(kind) && manifest.name().equals(name))
                .findFirst();
    }

    private static boolean within(JsonNode labels, JsonNode of) {
        return labels.propertyStream().allMatch(label -> label.getValue().equals(of.path(label.getKey())));
    }
}
