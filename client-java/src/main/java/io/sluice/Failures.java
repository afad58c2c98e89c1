package io.sluice;

import io.sluice.Rejection.Kind;
import io.sluice.Rejection.Scope;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.UnknownHostException;
import java.net.http.HttpConnectTimeoutException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** What it means that a request was not served, and how that is said. */
final class Failures {
    /** Nobody but this request is concerned, and the next may go through. */
    static final Rejection NO_ANSWER = new Rejection(Kind.SERVER, Scope.REQUEST, true, null);

    /** Neither an answer nor a refusal: a redirect, which nobody follows whatever its body says. */
    private static final Rejection NOT_SERVED = new Rejection(Kind.INVALID, Scope.REQUEST, false, null);

    private Failures() {}

    /** Why this answer is none, or {@code null} if it is one. */
    static @Nullable Rejection of(Response response) {
        Rejection rejection = response.reading().rejection();
        int hundreds = response.status() / 100;
        return hundreds == 3 || (rejection == null && hundreds != 2) ? NOT_SERVED : rejection;
    }

    /** The connection's failure in what a sender threw, or {@code null} if it threw something else. */
    static @Nullable IOException connection(Throwable thrown) {
        if (thrown instanceof UncheckedIOException unchecked) {
            return unchecked.getCause();
        }
        return thrown instanceof IOException io ? io : null;
    }

    /** Whether it is certain that the request never left, also where an SDK wrapped that. Only then nobody counts it. */
    static boolean neverLeft(IOException failure) {
        Throwable cause = failure;
        for (int depth = 0; cause != null && depth < 8; depth++) {
            if (cause instanceof ConnectException
                    || cause instanceof HttpConnectTimeoutException
                    || cause instanceof UnknownHostException
                    || cause instanceof NoRouteToHostException) {
                return true;
            }
            cause = cause.getCause();
        }
        return false;
    }

    /** One sentence: {@code acme-prod: credits of the project are used up at the provider (HTTP 429): not sent again, …}. */
    static String message(
            String project,
            Rejection rejection,
            @Nullable Response response,
            @Nullable IOException failure,
            String why) {
        return project + ": " + what(rejection, failure)
                + (response == null || failure != null ? "" : " (HTTP " + response.status() + ")")
                + until(rejection) + ": " + why;
    }

    private static String what(Rejection rejection, @Nullable IOException failure) {
        String scope = rejection.scope().label();
        return switch (rejection.kind()) {
            case SERVER -> failure == null ? "the provider failed" : "no answer from the provider (" + failure + ")";
            case INVALID -> "the provider does not accept the request";
            case UNSATISFIABLE -> "the request is larger than the provider's limit can ever admit";
            case NOT_PROVISIONED -> "the provider has not enabled this for the account";
            case OVERLOAD -> "the provider is overloaded";
            case CREDITS -> "the provider's account has no credits left: an operator has to act";
            case SPEND -> "the provider's cap on spending is reached: an operator has to act, or its period to end";
            case PLAN_WINDOW -> "the plan's window is used up at the provider";
            case DAILY -> "the day's limit of the " + scope + " is used up at the provider";
            case ACCELERATION -> "the provider says that traffic of the " + scope + " rose too fast";
            case CONCURRENCY -> "too many calls of the " + scope + " in flight at the provider";
            case REQUESTS, INPUT, OUTPUT, TOKENS, IMAGES ->
                "the limit on " + rejection.kind().label() + " of the " + scope + " is used up at the provider";
        };
    }

    private static String until(Rejection rejection) {
        Duration wait = rejection.waitFor();
        return wait == null || wait.isZero() ? "" : " for " + WholeSeconds.of(wait) + " s";
    }
}
