package io.sluice.provider;

import io.sluice.Rejection.Kind;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The refusals of Anthropic, and of a company's own gateway before it, that are about money. They share status and type
 * with rate limits and invalid requests, so they are looked for first.
 *
 * @param code the status, or in a stream the one the error has elsewhere
 * @param stated the wait the headers state, if any
 */
record AnthropicMoney(
        Heard heard,
        int code,
        String type,
        String message,
        @Nullable Wait stated) {

    /** The verdict, or {@code null} if it is not about money. */
    static @Nullable Verdict read(Heard heard, int code, String type, String message, @Nullable Wait stated) {
        return new AnthropicMoney(heard, code, type, message, stated).verdict();
    }

    private @Nullable Verdict verdict() {
        boolean gateway = type.equals("billing_error")
                || (heard.headers().is("x-should-retry", "false") && Words.say(message, "spend limit"));
        String reason = Json.text(heard.json().path("error").path("details").path("error_code"));
        if (code == 429 && reason.equals("enforced_spend_limit_reached")) {
            Instant until = dated(Moments.nextMonth(heard.at()));
            return Verdict.stop(
                            Kind.SPEND, Pause.ORG, new Wait(null, "message date or first day of next month 00:00 UTC"))
                    .until(until, heard.at())
                    .fact("wait_until_ms", Moments.between(heard.at(), until).toMillis())
                    .fact("error_code", reason);
        }
        if (code == 429 && (gateway || isSilentLongStop())) {
            return callerSpent(gateway);
        }
        if (code == 400 && Words.say(message, "specified api usage limits", "specified workspace api usage limits")) {
            boolean workspace = Words.say(message, "specified workspace api usage limits");
            Verdict spent =
                    Verdict.stop(Kind.SPEND, workspace ? Pause.WORKSPACE : Pause.ORG, new Wait(null, "message date"));
            Instant until = Moments.dateIn(message);
            return until == null ? spent : spent.until(until, heard.at());
        }
        if (code == 402 || (code == 400 && Words.say(message, "credit balance is too low"))) {
            return Verdict.stop(Kind.CREDITS, Pause.ORG, Wait.OPERATOR);
        }
        return null;
    }

    /** A company's own gateway stops one caller's day: a billing error with the wait, or the headers of one alone. */
    private Verdict callerSpent(boolean told) {
        Instant date = Moments.dateIn(message);
        Wait wait = stated != null
                ? stated
                : date == null ? Wait.OPERATOR : new Wait(Moments.between(heard.at(), date), "message date");
        Verdict spent = Verdict.stop(Kind.SPEND, Pause.CALLER, wait);
        if (told && wait.length() != null) {
            spent.fact("until", heard.at().plus(wait.length()).toString());
        }
        return told ? spent.fact("http_status", code) : spent;
    }

    /** Without a body: no limit on rates says "do not retry" and an hour or more at once; the gateway's on money does. */
    private boolean isSilentLongStop() {
        return !heard.hasBody()
                && AnthropicHeaders.limits(heard.headers(), heard.at()).isEmpty()
                && heard.headers().is("x-should-retry", "false")
                && stated != null
                && stated.length() != null
                && stated.length().compareTo(Duration.ofHours(1)) >= 0;
    }

    private Instant dated(Instant otherwise) {
        Instant date = Moments.dateIn(message);
        return date == null || !date.isAfter(heard.at()) ? otherwise : date;
    }
}
