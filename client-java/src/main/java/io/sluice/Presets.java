package io.sluice;

/** Policies to start from, by name: classes and limits that the document overrides. None is known yet. */
final class Presets {
    private Presets() {}

    /** The document laid over the preset it names, or as it is if it names none. An unknown name is a problem. */
    static Node.Members under(Node.Members document, Problems problems) {
        Node preset = document.values().get("preset");
        if (preset != null && !(preset instanceof Node.Nothing)) {
            problems.add(preset, "no such preset");
        }
        return document;
    }
}
