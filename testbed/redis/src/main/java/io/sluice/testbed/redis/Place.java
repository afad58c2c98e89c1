package io.sluice.testbed.redis;

import java.util.List;
import java.util.stream.Stream;

/**
 * Where a process of ours runs and is found.
 *
 * @param address at which it listens
 * @param prefix what starts a command there, such as another network namespace's {@code nsenter}; empty for this host
 */
record Place(String address, List<String> prefix) {
    /** This host, for this host only. */
    static final Place HERE = new Place("127.0.0.1", List.of());

    Place {
        prefix = List.copyOf(prefix);
    }

    List<String> command(List<String> words) {
        return Stream.concat(prefix.stream(), words.stream()).toList();
    }

    /** Who may send {@code DEBUG} to a server: elsewhere we are no local client. */
    String debug() {
        return this.equals(HERE) ? "local" : "yes";
    }

    /** What makes a server listen here. */
    List<String> listening() {
        return this.equals(HERE) ? List.of("--bind", address) : List.of("--bind", address, "--protected-mode", "no");
    }
}
