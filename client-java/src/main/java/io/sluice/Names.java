package io.sluice;

import java.util.regex.Pattern;

/** The shapes every name and number from outside must have, checked once at the edge. */
final class Names {
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._:/@-]{1,128}");
    private static final Pattern PROJECT = Pattern.compile("[a-z0-9][a-z0-9._-]{0,62}");

    private Names() {}

    /** An agent, team, workspace, run or request id. */
    static String name(String what, String value) {
        if (!NAME.matcher(value).matches()) {
            throw new IllegalArgumentException(
                    what + " must be 1 to 128 characters of [A-Za-z0-9._:/@-], got '" + shown(value) + "'");
        }
        return value;
    }

    static String project(String value) {
        if (!isProject(value)) {
            throw new IllegalArgumentException("project must match " + PROJECT + ", got '" + shown(value) + "'");
        }
        return value;
    }

    static boolean isName(String value) {
        return NAME.matcher(value).matches();
    }

    static boolean isProject(String value) {
        return PROJECT.matcher(value).matches();
    }

    static long tokens(String what, long value) {
        if (value < 0 || value > Call.MAX_TOKENS) {
            throw new IllegalArgumentException(what + " must be 0 to " + Call.MAX_TOKENS + ", got " + value);
        }
        return value;
    }

    static String shown(String value) {
        return value.length() <= 64 ? value : value.substring(0, 64) + "…";
    }
}
