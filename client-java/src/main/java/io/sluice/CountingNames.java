package io.sluice;

/** What the counters of a project are called in Redis: a letter, then the class, then a word; {@code lua/README.md} lists them. */
final class CountingNames {
    /** {@code p|class|outcome}. */
    static final String PERMITS = "p";

    /** {@code r|class|kind}. */
    static final String REJECTIONS = "r";

    /** {@code t|class|type}, in tokens. */
    static final String TOKENS = "t";

    /** {@code w|class|team|part}: a part of the histogram by its number, or {@code sum} in ms. */
    static final String WAITS = "w";

    static final String SUM = "sum";

    /** {@code u|missing} and {@code l|lost}. */
    static final String USAGE_MISSING = "u|missing";

    static final String LEASE_LOST = "l|lost";

    private CountingNames() {}

    static String of(String what, String modelClass, String word) {
        return what + "|" + modelClass + "|" + word;
    }

    /** Which part of the histogram a wait belongs to. */
    static int partOf(long waitMs) {
        int part = 0;
        while (part < Counters.WAIT_BOUNDS_MS.size() && waitMs > Counters.WAIT_BOUNDS_MS.get(part)) {
            part++;
        }
        return part;
    }
}
