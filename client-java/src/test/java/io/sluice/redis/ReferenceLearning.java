package io.sluice.redis;

import java.util.TreeMap;

/** What {@code lib/learn.lua} keeps of one class or agent, in plain Java: buckets by their edges, and sums. */
final class ReferenceLearning {
    private static final double[] STEPS = {1, 1.189207115002721, 1.4142135623730951, 1.681792830507429};
    private static final long SIXTEENTHS = 16;

    private final TreeMap<Long, Long> counts = new TreeMap<>();
    private final long[] sums = new long[4];
    private long largest;

    /** The upper edge of the bucket of so many tokens. */
    static long edge(long tokens) {
        for (int k = 0; k < 80; k++) {
            long edge = edge(k);
            if (edge >= tokens) {
                return edge;
            }
        }
        return 1 << 20;
    }

    private static long edge(int k) {
        return (long) Math.floor(STEPS[k % 4] * (1 << (k / 4)));
    }

    void outputs(long tokens, long answers) {
        if (answers > 0) {
            counts.merge(edge(tokens), SIXTEENTHS * answers, Long::sum);
            largest = Math.max(largest, tokens);
        }
    }

    void sums(long bytes, long bytesTokens, long cached, long input) {
        long[] more = {bytes, bytesTokens, cached, input};
        for (int i = 0; i < 4; i++) {
            sums[i] += more[i];
        }
    }

    /** After all that one observation told. */
    void decay() {
        while (total() > 1000 * SIXTEENTHS || Math.max(sums[3], Math.max(sums[0], sums[1])) > 1L << 32) {
            counts.replaceAll((edge, count) -> count / 2);
            counts.values().removeIf(count -> count == 0);
            for (int i = 0; i < 4; i++) {
                sums[i] /= 2;
            }
        }
    }

    private long total() {
        return counts.values().stream().mapToLong(count -> count).sum();
    }

    long samples() {
        return total() / SIXTEENTHS;
    }

    long output() {
        long seen = 0;
        for (var entry : counts.entrySet()) {
            seen += entry.getValue();
            if (seen * 100 >= total() * 95) {
                return total() < 20 * SIXTEENTHS ? Math.max(entry.getKey(), 2 * largest) : entry.getKey();
            }
        }
        return 0;
    }

    long tokensPerByte() {
        return sums[0] == 0 ? 0 : (sums[1] * 1_000_000 + sums[0] - 1) / sums[0];
    }

    long cachedShare() {
        return sums[3] == 0 ? 0 : sums[2] * 1_000_000 / sums[3];
    }
}
