package io.sluice;

import io.sluice.Store.PermitName;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/**
 * The name of a permit as the desk hands it out: the 22 characters of its nonce, which nobody can guess, then its id, both in
 * characters that may stand in a URL. So whoever gets it can look the permit up, and nobody else's id is enough.
 */
final class Handle {
    private static final int NONCE = 22;
    private static final int LONGEST_ID = 128;
    private static final int LONGEST = NONCE + (LONGEST_ID * 4 + 2) / 3;

    private Handle() {}

    static String of(PermitName name) {
        byte[] id = name.id().getBytes(StandardCharsets.US_ASCII);
        return name.nonce() + Base64.getUrlEncoder().withoutPadding().encodeToString(id);
    }

    /** {@code null} if no permit can have this name. */
    static @Nullable PermitName read(String handle) {
        if (handle.length() <= NONCE || handle.length() > LONGEST) {
            return null;
        }
        try {
            byte[] id = Base64.getUrlDecoder().decode(handle.substring(NONCE));
            PermitName name = new PermitName(new String(id, StandardCharsets.US_ASCII), handle.substring(0, NONCE));
            return Names.isName(name.id()) && Names.isName(name.nonce()) && of(name).equals(handle) ? name : null;
        } catch (IllegalArgumentException e) {
            return null;
        }
    }
}
