package io.sluice.redis;

/**
 * The eight keys of a project, in the order every script declares them, and its channel. All carry the project as hash
 * tag, so they live in one cluster slot. What each holds: {@code lua/README.md}.
 */
record Keys(String[] all, String events) {

    static Keys of(String project) {
        String tag = "{" + project + "}:";
        String[] keys = {"policy", "levels", "permits", "waiters", "lines", "times", "hosts", "learn"};
        for (int i = 0; i < keys.length; i++) {
            keys[i] = tag + keys[i];
        }
        return new Keys(keys, tag + "events");
    }
}
