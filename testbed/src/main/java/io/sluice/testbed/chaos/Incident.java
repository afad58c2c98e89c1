package io.sluice.testbed.chaos;

import java.util.Locale;

/**
 * Something that is to go wrong.
 *
 * @param atMs when, in ms after its leg's start signal
 * @param lastsMs how long, where that is for us to say
 * @param process whom it hits, where it hits one
 * @param percent how strong: of every rate what is left of it, of a delay's 100 ms how much
 */
record Incident(Kind kind, int atMs, int lastsMs, int process, int percent) {

    /** When the next thing may go wrong. */
    int restedMs() {
        return atMs + lastsMs + kind.usualMs() + kind.restMs;
    }

    /** For example {@code 12.4 s  partition 3.1 s}. */
    String line() {
        String how = switch (kind) {
            case KILL, PAUSE -> " p" + process;
            case LIMITS -> " to " + percent + " %";
            case DELAY -> " by " + percent + " ms";
            default -> "";
        };
        String length = lastsMs == 0 ? "" : String.format(Locale.ROOT, " for %.1f s", lastsMs / 1000.0);
        return String.format(Locale.ROOT, "%6.1f s  %s%s%s", atMs / 1000.0, kind.word(), how, length);
    }
}
