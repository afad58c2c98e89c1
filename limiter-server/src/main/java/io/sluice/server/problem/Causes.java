package io.sluice.server.problem;

import io.sluice.AdminException;
import io.sluice.InvalidPolicyException;
import io.sluice.OutageException;
import io.sluice.Refusal;
import io.sluice.RefusedException;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.TypeMismatchException;
import org.springframework.core.MethodParameter;
import org.springframework.core.io.buffer.DataBufferLimitException;
import org.springframework.http.HttpStatusCode;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.server.MethodNotAllowedException;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.server.ServerWebInputException;

/** What went wrong → what is said. Pure, but for the log line of what nobody foresaw. */
public final class Causes {
    private static final Logger log = LoggerFactory.getLogger(Causes.class);

    /** Told where a hold has no end: its caller need not ask more often. */
    private static final Duration UNKNOWN_WAIT = Duration.ofSeconds(60);

    private static final int MOST_SHOWN = 64;

    private Causes() {}

    /** What to answer for this. */
    public static Problem of(Throwable thrown) {
        Throwable cause = cause(thrown);
        if (cause instanceof Problem problem) {
            return problem;
        }
        if (cause instanceof RefusedException refused) {
            return refusal(refused.refusal());
        }
        if (cause instanceof OutageException outage) {
            return outage(outage);
        }
        if (cause instanceof AdminException no) {
            return admin(no);
        }
        if (cause instanceof InvalidPolicyException invalid) {
            return invalid(invalid);
        }
        if (cause instanceof ResponseStatusException told) {
            return status(told);
        }
        if (cause instanceof DataBufferLimitException) {
            return tooLarge();
        }
        if (cause instanceof RejectedExecutionException) {
            return new Problem(503, "busy", "too much else is asked of this server just now")
                    .retryAfter(Duration.ofSeconds(1));
        }
        String incident = UUID.randomUUID().toString();
        log.error("incident {}", incident, cause);
        return new Problem(500, "internal", "this is our fault; the log says more under incident " + incident)
                .with("incident", incident);
    }

    /** Of a refusal: 429 where waiting helps, 422 where it does not, 409 where the id is the matter. */
    static Problem refusal(Refusal refusal) {
        String kind = refusal.kind().label();
        return switch (refusal.kind()) {
            case WAIT, DEADLINE, QUEUE_FULL, HOLD -> later(refusal, kind);
            case NEVER, CLOSED, UNKNOWN_MODEL, UNKNOWN_WORKSPACE, UNPRICED ->
                new Problem(422, kind, refusal.message())
                        .with("scope", refusal.scope())
                        .with("limit", refusal.limit());
            case CONFLICT, ENDED, CANCELLED -> new Problem(409, kind, refusal.message());
        };
    }

    private static Problem later(Refusal refusal, String kind) {
        Duration wait = refusal.retryAfter();
        Duration told = wait == null ? UNKNOWN_WAIT : wait;
        return new Problem(429, kind, refusal.message())
                .retryAfter(told)
                .with("scope", refusal.scope())
                .with("limit", refusal.limit())
                .with("retry_after_ms", (told.toNanos() + 999_999) / 1_000_000)
                .with("estimate", wait == null || refusal.estimate())
                .with("queue_position", refusal.position());
    }

    private static Problem outage(OutageException outage) {
        if (outage.reason().equals("no_project")) {
            return new Problem(404, "no_project", message(outage));
        }
        return new Problem(503, "outage", message(outage))
                .retryAfter(Duration.ofSeconds(1))
                .with("reason", outage.reason());
    }

    private static Problem admin(AdminException no) {
        String detail = message(no);
        return switch (no.kind()) {
            case VERSION_MISMATCH -> new Problem(412, "version_mismatch", detail).with("version", no.number());
            case PERMITS_LIVE -> new Problem(409, "permits_live", detail).with("permits", no.number());
            case UNKNOWN_VERSION -> new Problem(404, "unknown_version", detail);
            case UNKNOWN_LIMIT -> new Problem(422, "unknown_limit", detail);
            case TOO_MUCH -> new Problem(422, "too_much", detail);
        };
    }

    private static Problem invalid(InvalidPolicyException invalid) {
        return new Problem(400, "invalid_policy", invalid.problems().size() + " problem(s), nothing was changed")
                .with("problems", invalid.problems())
                .with("warnings", invalid.warnings());
    }

    private static Problem status(ResponseStatusException told) {
        HttpStatusCode status = told.getStatusCode();
        Problem problem = switch (status.value()) {
            case 404 -> new Problem(404, "not_found", "there is nothing at this address");
            case 405 -> new Problem(405, "method_not_allowed", "this address does not take that method");
            case 406 -> new Problem(406, "not_acceptable", "nothing of what is accepted can be made here");
            case 413 -> tooLarge();
            case 415 -> Problem.unsupported();
            case 400 -> bad(told);
            default ->
                new Problem(
                        status.value(),
                        status.is5xxServerError() ? "internal" : "invalid",
                        told.getReason() == null ? "the request failed" : told.getReason());
        };
        if (told instanceof MethodNotAllowedException) {
            told.getHeaders().forEach((name, values) -> problem.header(name, String.join(", ", values)));
        }
        return problem;
    }

    private static Problem bad(ResponseStatusException told) {
        if (told instanceof ServerWebInputException wrong
                && wrong.getMethodParameter() != null
                && wrong.getCause() instanceof TypeMismatchException mismatch) {
            MethodParameter parameter = wrong.getMethodParameter();
            RequestParam asked = parameter.getParameterAnnotation(RequestParam.class);
            String name = asked == null || asked.name().isEmpty()
                    ? parameter.getParameter().getName()
                    : asked.name();
            return Problem.invalid(
                    "/" + name,
                    "must be " + wanted(parameter.nestedIfOptional().getNestedParameterType()) + ", got '"
                            + shown(String.valueOf(mismatch.getValue())) + "'");
        }
        return Problem.invalid(told.getReason() == null ? "bad request" : told.getReason());
    }

    private static String wanted(Class<?> type) {
        if (type == boolean.class || type == Boolean.class) {
            return "true or false";
        }
        return type == double.class || type == Double.class ? "a number" : "a whole number";
    }

    private static String shown(String value) {
        return value.length() <= MOST_SHOWN ? value : value.substring(0, MOST_SHOWN) + "…";
    }

    private static Problem tooLarge() {
        return new Problem(413, "too_large", "a body may have 1 MiB");
    }

    private static String message(Throwable cause) {
        return cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
    }

    private static Throwable cause(Throwable thrown) {
        Throwable cause = thrown;
        while ((cause instanceof CompletionException || cause instanceof ExecutionException)
                && cause.getCause() != null) {
            cause = cause.getCause();
        }
        if (!(cause instanceof ResponseStatusException) || !(cause.getCause() instanceof DataBufferLimitException)) {
            return cause;
        }
        return cause.getCause();
    }
}
