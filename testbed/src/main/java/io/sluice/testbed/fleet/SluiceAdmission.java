package io.sluice.testbed.fleet;

import io.sluice.Call;
import io.sluice.OutageException;
import io.sluice.Permit;
import io.sluice.Project;
import io.sluice.RefusedException;
import io.sluice.Rejection;
import io.sluice.Sluice;
import io.sluice.Usage;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** {@link Strategy#SLUICE}: a permit from the shared budget first, used as the README shows. */
final class SluiceAdmission implements Admission {
    private static final Duration MAX_WAIT = Duration.ofMinutes(10);

    private final Sluice sluice;
    private final Project project;

    /** Connected and with the policy known, so that the first calls are not slower than the rest. */
    SluiceAdmission(String redis, String project, String host) {
        this.sluice = Sluice.connect(redis, Sluice.Options.DEFAULT.withHost(host));
        this.project = sluice.project(project);
        sluice.installed(project);
    }

    @Override
    public CompletableFuture<Ticket> admit(Work work) {
        CompletableFuture<Permit> permit =
                project.acquireAsync(call(work), MAX_WAIT).toCompletableFuture();
        CompletionStage<Ticket> ticket = permit.<Ticket>thenApply(Held::new)
                .exceptionallyCompose(e -> CompletableFuture.failedFuture(told(Linked.cause(e))));
        return Linked.to(permit, ticket, Ticket::unsent);
    }

    private static Call call(Work work) {
        Call call = Call.of(work.model())
                .inputTokens(work.input())
                .cacheReadTokens(work.cacheRead())
                .maxOutputTokens(work.maxOutput())
                .agent(work.agent())
                .priority(work.priority());
        call = work.team() == null ? call : call.team(work.team());
        return work.workspace() == null ? call : call.workspace(work.workspace());
    }

    private static Throwable told(Throwable e) {
        if (e instanceof RefusedException refused) {
            return new NotAdmitted("refused: " + refused.refusal().kind().label(), e);
        }
        return e instanceof OutageException outage ? new NotAdmitted("outage: " + outage.reason(), e) : e;
    }

    /** None: the next permit waits as long as it takes. */
    @Override
    public Duration pause(int rejections, @Nullable Duration retryAfter) {
        return Duration.ZERO;
    }

    @Override
    public void close() {
        sluice.close();
    }

    private record Held(Permit permit) implements Ticket {
        @Override
        public String modelClass() {
            return permit.modelClass();
        }

        @Override
        public CompletionStage<Charge> settled(Usage usage) {
            return permit.settleAsync(usage).thenApply(Held::charge);
        }

        @Override
        public CompletionStage<Charge> rejected(@Nullable Duration retryAfter) {
            Rejection rejection = new Rejection(Rejection.Kind.REQUESTS, Rejection.Scope.CLASS, true, retryAfter);
            return permit.throttledAsync(rejection).thenApply(Held::charge);
        }

        @Override
        public CompletionStage<Charge> unsent() {
            return permit.cancelAsync().thenApply(Held::charge);
        }

        private static Charge charge(Permit.Ending ending) {
            return Charge.of(ending.charged());
        }
    }
}
