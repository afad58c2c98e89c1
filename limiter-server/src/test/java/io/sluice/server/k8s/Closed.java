package io.sluice.server.k8s;

import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;

/** Whether pods may no more than they need: Kubernetes' "restricted" level, and what it leaves open. */
final class Closed {
    private Closed() {}

    /** What is open, one line each. */
    static List<String> faults(Manifest manifest) {
        JsonNode template = manifest.podTemplate();
        List<String> faults = new ArrayList<>();
        if (template.isMissingNode()) {
            return faults;
        }
        JsonNode pod = template.path("spec");
        JsonNode rules = pod.path("securityContext");
        want(faults, rules.path("runAsNonRoot").asBoolean(false), "runs as root");
        want(faults, rules.path("runAsUser").asLong(0) > 0, "names no user");
        want(
                faults,
                rules.path("seccompProfile").path("type").asString("").equals("RuntimeDefault"),
                "has no seccomp profile");
        want(
                faults,
                !pod.path("automountServiceAccountToken").asBoolean(true),
                "is given a token of Kubernetes that it does not need");
        want(faults, !pod.path("enableServiceLinks").asBoolean(true), "gets SLUICE_* variables from Services");
        for (String shared : List.of("hostNetwork", "hostPID", "hostIPC")) {
            want(faults, !pod.path(shared).asBoolean(false), "shares the node's " + shared);
        }
        for (JsonNode volume : pod.path("volumes")) {
            want(faults, !volume.has("hostPath"), "reads the node's files");
        }
        pod.path("containers").forEach(container -> container(faults, container));
        pod.path("initContainers").forEach(container -> container(faults, container));
        return faults.stream().map(fault -> manifest + ": " + fault).toList();
    }

    private static void container(List<String> faults, JsonNode container) {
        String name = container.path("name").asString("");
        JsonNode rules = container.path("securityContext");
        want(faults, !rules.path("allowPrivilegeEscalation").asBoolean(true), name + " may become root");
        want(faults, !rules.path("privileged").asBoolean(false), name + " is privileged");
        want(faults, rules.path("readOnlyRootFilesystem").asBoolean(false), name + " may write to its image");
        want(
                faults,
                rules.path("capabilities").path("drop").toString().equals("[\"ALL\"]"),
                name + " keeps capabilities");
        JsonNode resources = container.path("resources");
        want(faults, resources.path("requests").has("cpu"), name + " asks for no CPU");
        want(faults, resources.path("requests").has("memory"), name + " asks for no memory");
        want(faults, resources.path("limits").has("memory"), name + " has no memory limit");
    }

    private static void want(List<String> faults, boolean good, String otherwise) {
        if (!good) {
            faults.add(otherwise);
        }
    }
}
