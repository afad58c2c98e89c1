package io.sluice.testbed.emulator;

import io.sluice.testbed.emulator.Decision.Rejected;
import java.math.BigDecimal;
import java.time.Duration;

/**
 * What OpenAI says: the sentences of its rejections, and times as Go writes them. Follows replies seen in public; the
 * arithmetic in them is documented: a limit refills evenly, so the wait is (used + requested − limit) / limit minutes.
 */
final class OpenAiTexts {
    static final String ORGANIZATION = "org-emulated";
    static final String SERVER_ERROR = "The server had an error while processing your request. Sorry about that!";

    private OpenAiTexts() {}

    static String overRate(Rejected rejected, Denial.Rate rate) {
        long limit = rate.limit();
        if (neverFits(rate)) {
            return "Request too large for " + where(rejected.call()) + unit(rate.kind()) + ": Limit " + limit
                    + ", Requested " + rate.requested()
                    + ". The input or output tokens must be reduced in order to run successfully.";
        }
        String again = rejected.waitUs() == 0 ? "" : " Please try again in " + time(rejected.waitUs()) + ".";
        return "Rate limit reached for " + where(rejected.call()) + unit(rate.kind()) + ": Limit " + limit + ", Used "
                + (limit - rate.remaining()) + ", Requested " + rate.requested() + "." + again;
    }

    /** More tokens than the limit; that nothing is allowed at all is said like any limit. */
    static boolean neverFits(Denial.Rate rate) {
        return rate.limit() > 0 && rate.requested() > rate.limit();
    }

    /** A rejection that comes after HTTP 200. */
    static String inStream(Call call) {
        return "Rate limit reached for " + where(call) + unit(Kind.REQUESTS) + ". Please try again in "
                + StreamError.WAIT_S + "s.";
    }

    private static String where(Call call) {
        return call.model() + " in organization " + ORGANIZATION + " on ";
    }

    private static String unit(Kind kind) {
        return switch (kind) {
            case REQUESTS -> "requests per min (RPM)";
            case DAILY_REQUESTS -> "requests per day (RPD)";
            case DAILY_TOKENS -> "tokens per day (TPD)";
            case INPUT -> "input tokens per min";
            case OUTPUT -> "output tokens per min";
            default -> "tokens per min (TPM)";
        };
    }

    /** As Go writes a duration, to the millisecond, rounded up: 374ms, 1.2s, 7m12s, 1h0m0s. */
    static String time(long us) {
        long ms = -Math.floorDiv(-us, 1_000L);
        if (ms < 0) {
            return "-" + time(-ms * 1_000);
        }
        if (ms == 0 || ms >= 1_000) {
            Duration time = Duration.ofMillis(ms);
            String hours = ms >= 3_600_000 ? time.toHours() + "h" : "";
            String minutes = ms >= 60_000 ? time.toMinutesPart() + "m" : "";
            return hours + minutes + seconds(ms % 60_000) + "s";
        }
        return ms + "ms";
    }

    private static String seconds(long ms) {
        return BigDecimal.valueOf(ms, 3).stripTrailingZeros().toPlainString();
    }
}
