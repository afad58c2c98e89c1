package io.sluice;

import java.util.Collection;

/** Finds the known word somebody probably meant. */
final class Suggest {
    private static final int MAX_LENGTH = 32;

    private Suggest() {}

    /** {@code "; did you mean rpm?"}, or nothing if no known word is near. */
    static String near(String word, Collection<String> known) {
        String nearest = "";
        int least = Math.min(2, word.length() / 2) + 1;
        for (String candidate : known) {
            int distance = word.length() > MAX_LENGTH ? least : distance(word, candidate);
            if (distance < least) {
                least = distance;
                nearest = candidate;
            }
        }
        return nearest.isEmpty() ? "" : "; did you mean " + nearest + "?";
    }

    /** Letters to change, add, drop or swap with their neighbour (optimal string alignment). */
    private static int distance(String a, String b) {
        int[][] d = new int[a.length() + 1][b.length() + 1];
        for (int i = 0; i <= a.length(); i++) {
            for (int j = 0; j <= b.length(); j++) {
                if (i == 0 || j == 0) {
                    d[i][j] = i + j;
                    continue;
                }
                int change = a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1;
                d[i][j] = Math.min(d[i - 1][j - 1] + change, Math.min(d[i - 1][j], d[i][j - 1]) + 1);
                boolean swapped =
                        i > 1 && j > 1 && a.charAt(i - 1) == b.charAt(j - 2) && a.charAt(i - 2) == b.charAt(j - 1);
                if (swapped) {
                    d[i][j] = Math.min(d[i][j], d[i - 2][j - 2] + 1);
                }
            }
        }
        return d[a.length()][b.length()];
    }
}
