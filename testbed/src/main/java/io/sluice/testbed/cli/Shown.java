package io.sluice.testbed.cli;

import java.util.Locale;

/** Figures and names as people read them, in a terminal: no control character gets through. Pure. */
final class Shown {
    private Shown() {}

    /** {@code c:sonnet} → class sonnet; {@code t:research|sonnet} → team research, class sonnet. */
    static String scope(String scope) {
        int bar = scope.indexOf('|');
        String whole = bar < 0 ? scope : scope.substring(0, bar);
        String inner = bar < 0 ? "" : ", class " + scope.substring(bar + 1);
        if (whole.equals("p")) {
            return "project" + inner;
        }
        String kind = whole.length() < 2 || whole.charAt(1) != ':'
                ? ""
                : switch (whole.charAt(0)) {
                    case 'c' -> "class ";
                    case 't' -> "team ";
                    case 'w' -> "workspace ";
                    case 'a' -> "agent ";
                    case 'r' -> "run ";
                    default -> "";
                };
        return text(kind.isEmpty() ? whole : kind + whole.substring(2)) + text(inner);
    }

    /** How long: 0.4 s, 12 s, 4 min 12 s, 2 h 5 min, 3 d 4 h. */
    static String time(long ms) {
        if (ms < 9_950) {
            return String.format(Locale.ROOT, "%.1f s", ms / 1e3);
        }
        long s = Math.round(ms / 1e3);
        if (s < 60) {
            return s + " s";
        }
        if (s < 3_600) {
            return two(s, 60, 1, " min", " s");
        }
        return s < 86_400 ? two(s, 3_600, 60, " h", " min") : two(s, 86_400, 3_600, " d", " h");
    }

    private static String two(long s, long big, long small, String unit, String sub) {
        long rest = s % big / small;
        return s / big + unit + (rest == 0 ? "" : " " + rest + sub);
    }

    static String count(long n) {
        return String.format(Locale.ROOT, "%,d", n);
    }

    /** With two decimals where it is not whole, as money often is. */
    static String count(double n) {
        return n == Math.rint(n) ? count((long) n) : String.format(Locale.ROOT, "%,.2f", n);
    }

    /** Twenty cells, as many full as the share says. */
    static String bar(double share) {
        int full = (int) Math.round(20 * Math.min(1, Math.max(0, share)));
        return "█".repeat(full) + "░".repeat(20 - full);
    }

    /** One line, without what moves a cursor. */
    static String text(String text) {
        return text.replaceAll("[\\p{Cntrl}\\u2028\\u2029]+", " ");
    }
}
