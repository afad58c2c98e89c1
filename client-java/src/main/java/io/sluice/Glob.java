package io.sluice;

/**
 * A pattern as policies name models by, and tokens the projects they cover: {@code *} is any text, {@code ?} one character, all else
 * itself, in either case. {@code claude-*-5} matches {@code Claude-Sonnet-5}.
 *
 * <p>Matching never backtracks further than the last {@code *}, so it takes at most pattern × text steps.
 *
 * @param pattern as written
 */
public record Glob(String pattern) {
    static final int MAX_LENGTH = 256;
    static final String SHAPE = "must be a model pattern: 1 to " + MAX_LENGTH
            + " characters, no spaces, with * (any text) and ? (one character) as the only wildcards";

    /** Characters that other pattern languages give a meaning; here they would only match themselves. */
    private static final String FOREIGN = "[]{}()\\^$|+!,\"'";

    /** Whether the text can be a pattern. */
    static boolean isValid(String pattern) {
        return !pattern.isEmpty()
                && pattern.length() <= MAX_LENGTH
                && pattern.chars().noneMatch(c -> c <= ' ' || c == 0x7f || FOREIGN.indexOf(c) >= 0);
    }

    /** Whether the whole text is as the pattern says. */
    public boolean matches(String text) {
        return matches(pattern, text, false);
    }

    /** Whether every model that {@code other} matches is matched here too. */
    boolean covers(Glob other) {
        return matches(pattern, other.pattern, true);
    }

    /** Whether some model is matched by both. */
    boolean overlaps(Glob other) {
        String text = other.pattern;
        // reach[t]: what was read of this pattern and the first t characters of the other can match the same text.
        boolean[] reach = new boolean[text.length() + 1];
        reach[0] = true;
        for (int t = 1; t <= text.length() && text.charAt(t - 1) == '*'; t++) {
            reach[t] = true;
        }
        for (int p = 0; p < pattern.length(); p++) {
            char mine = pattern.charAt(p);
            boolean[] next = new boolean[text.length() + 1];
            next[0] = reach[0] && mine == '*';
            for (int t = 1; t <= text.length(); t++) {
                char theirs = text.charAt(t - 1);
                boolean isAnyText = mine == '*' || theirs == '*';
                next[t] = isAnyText
                        ? reach[t] || next[t - 1]
                        : reach[t - 1] && (theirs == '?' || matchesOne(mine, theirs, false));
            }
            reach = next;
        }
        return reach[text.length()];
    }

    /** How much of the pattern is fixed text: of two patterns that match, the more specific has more. */
    int literals() {
        return (int) pattern.chars().filter(c -> c != '*' && c != '?').count();
    }

    private static boolean matches(String pattern, String text, boolean textIsPattern) {
        int p = 0;
        int t = 0;
        int star = -1;
        int resume = 0;
        while (t < text.length()) {
            if (p < pattern.length() && pattern.charAt(p) == '*') {
                star = p++;
                resume = t;
            } else if (p < pattern.length() && matchesOne(pattern.charAt(p), text.charAt(t), textIsPattern)) {
                p++;
                t++;
            } else if (star >= 0) {
                p = star + 1;
                t = ++resume;
            } else {
                return false;
            }
        }
        while (p < pattern.length() && pattern.charAt(p) == '*') {
            p++;
        }
        return p == pattern.length();
    }

    private static boolean matchesOne(char wanted, char found, boolean foundIsPattern) {
        if (wanted == '?') {
            return !(foundIsPattern && found == '*');
        }
        return Character.toLowerCase(wanted) == Character.toLowerCase(found);
    }

    @Override
    public String toString() {
        return pattern;
    }
}
