package io.sluice.provider;

import java.util.Locale;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/** Looks for phrases and numbers in a sentence. Plain scans: no text makes them slow. */
final class Words {
    private Words() {}

    /** Whether one of the phrases, in lower case, is in the text, in any case. */
    static boolean say(String text, String... phrases) {
        String lower = text.toLowerCase(Locale.ROOT);
        for (String phrase : phrases) {
            if (lower.contains(phrase)) {
                return true;
            }
        }
        return false;
    }

    /** The number before a phrase: 30000 in {@code rate limit of 30,000 input tokens per minute}. */
    static @Nullable Long before(String text, String phrase) {
        String lower = text.toLowerCase(Locale.ROOT);
        for (int at = lower.indexOf(phrase); at >= 0; at = lower.indexOf(phrase, at + 1)) {
            int end = at;
            while (end > 0 && lower.charAt(end - 1) == ' ') {
                end--;
            }
            int start = end;
            while (start > 0 && isNumber(lower.charAt(start - 1))) {
                start--;
            }
            Long number = Json.whole(lower.substring(start, end));
            if (number != null) {
                return number;
            }
        }
        return null;
    }

    /** The first number after a phrase, past blanks and a colon: 900000 in {@code Limit: 900,000 enqueued tokens}. */
    static @Nullable Long after(String text, String phrase) {
        return after(text, phrase, number -> true);
    }

    /** Whether somewhere after the phrase stands a zero. */
    static boolean sayZero(String text, String phrase) {
        return after(text, phrase, number -> number == 0) != null;
    }

    private static @Nullable Long after(String text, String phrase, LongPredicate wanted) {
        String lower = text.toLowerCase(Locale.ROOT);
        for (int at = lower.indexOf(phrase); at >= 0; at = lower.indexOf(phrase, at + 1)) {
            int start = at + phrase.length();
            while (start < lower.length() && (lower.charAt(start) == ' ' || lower.charAt(start) == ':')) {
                start++;
            }
            int end = start;
            while (end < lower.length() && isNumber(lower.charAt(end))) {
                end++;
            }
            // A name such as 4o-mini is no number, 20,000. at the end of a sentence is.
            boolean name = end < lower.length()
                    && (Character.isLetter(lower.charAt(end)) || lower.charAt(end) == '-' || isDecimal(lower, end));
            Long number = name ? null : Json.whole(trimComma(lower.substring(start, end)));
            if (number != null && wanted.test(number)) {
                return number;
            }
        }
        return null;
    }

    private static boolean isDecimal(String text, int point) {
        return text.charAt(point) == '.' && point + 1 < text.length() && Character.isDigit(text.charAt(point + 1));
    }

    private static String trimComma(String number) {
        return number.endsWith(",") ? number.substring(0, number.length() - 1) : number;
    }

    private static boolean isNumber(char c) {
        return (c >= '0' && c <= '9') || c == ',';
    }
}
