package io.sluice.testbed.emulator;

/** Which part of what is produced a stream shows: thinking comes first and is not shown. */
final class Shown {
    private long hidden;

    Shown(Call call) {
        hidden = call.thinking();
    }

    /** The tokens to show of {@code tokens} more. */
    long of(long tokens) {
        long thinking = Math.min(hidden, tokens);
        hidden -= thinking;
        return tokens - thinking;
    }
}
