package io.sluice.testbed.redis;

/** There is no Redis of the kind asked for here; the message says what was tried. */
public final class NoRedisException extends IllegalStateException {
    NoRedisException(String message) {
        super(message);
    }
}
