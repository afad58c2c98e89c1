package io.sluice;

import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Base64;

/**
 * Ids that nobody can guess: 128 random bits in 22 characters that may stand in a name. The generator has one lock for the
 * whole process, so each thread takes 256 ids' worth at a time.
 */
final class RandomIds {
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final int BYTES = 16;
    private static final ThreadLocal<RandomIds> OF_THREAD = ThreadLocal.withInitial(RandomIds::new);

    private final byte[] pool = new byte[256 * BYTES];
    private int at = pool.length;

    private RandomIds() {}

    static String next() {
        return Base64.getUrlEncoder()
                .withoutPadding()
                .encodeToString(OF_THREAD.get().bytes());
    }

    private byte[] bytes() {
        if (at == pool.length) {
            RANDOM.nextBytes(pool);
            at = 0;
        }
        at += BYTES;
        return Arrays.copyOfRange(pool, at - BYTES, at);
    }
}
