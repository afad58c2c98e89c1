package io.sluice.server.policy;

import io.sluice.server.problem.Problem;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Versions as entity tags: {@code "7"}. */
final class IfMatch {
    private static final Pattern TAG = Pattern.compile("\"?([0-9]{1,15})\"?");

    private IfMatch() {}

    static String tag(long version) {
        return "\"" + version + "\"";
    }

    static boolean isAny(@Nullable String header) {
        return header != null && header.trim().equals("*");
    }

    /**
     * The version a caller has seen; {@code null} where any will do.
     *
     * @throws Problem 400 if it is none
     */
    static @Nullable Long version(@Nullable String header) {
        if (header == null || isAny(header)) {
            return null;
        }
        Matcher tag = TAG.matcher(header.trim());
        if (!tag.matches()) {
            throw Problem.invalid("If-Match must be one version, such as \"7\"");
        }
        return Long.valueOf(tag.group(1));
    }
}
