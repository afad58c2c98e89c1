package io.sluice.testbed.bench;

/** What is done to a standing line, each a single run of a script. */
enum LineStep {
    START_NEXT("settle + dispatch + grant"),
    CLAIM("claim"),
    ENQUEUE("enqueue"),
    CANCEL("cancel"),
    IDLE_BEAT("idle beat"),
    LOOKING_BEAT("beat that looks after 32"),
    FREE_CLASS("a call of a free class");

    final String label;

    LineStep(String label) {
        this.label = label;
    }
}
