package io.sluice.redis;

import java.util.List;

/**
 * The eight keys of a project, in the order every script declares them, and its hosts' channels. All carry the project as hash
 * tag, so they live in one cluster slot. What each holds: {@code lua/README.md}.
 */
final class Keys {
    private static final List<String> NAMES =
            List.of("policy", "levels", "permits", "waiters", "lines", "times", "hosts", "learn");

    private final String tag;
    private final String[] all;

    private Keys(String tag) {
        this.tag = tag;
        this.all = NAMES.stream().map(name -> tag + name).toArray(String[]::new);
    }

    static Keys of(String project) {
        return new Keys("{" + project + "}:");
    }

    /** For a script's KEYS. */
    String[] all() {
        return all.clone();
    }

    /** The channel on which a host is told of its grants. */
    String hints(String host) {
        return tag + "h:" + host;
    }
}
