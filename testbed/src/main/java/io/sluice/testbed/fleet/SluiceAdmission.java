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
import org.jspecify.annotations.Nullable;

/** {@link Strategy#SLUICE}: a permit from the shared budget first, used as the README shows. */
final class SluiceAdmission implements Admission {
    private static final Duration MAX_WAIT = Duration.ofMinutes(10);

    private final Sluice sluice;
    private final Project project;

    SluiceAdmission(String redis, String project, String host) {
        this.sluice = Sluice.connect(redis, Sluice.Options.DEFAULT.withHost(host));
        this.project = sluice.project(project);
    }

    @Override
    public Ticket admit(Work work) throws InterruptedException, NotAdmitted {
        Call call = Call.of(work.model())
                .inputTokens(work.input())
                .cacheReadTokens(work.cacheRead())
                .maxOutputTokens(work.maxOutput())
                .agent(work.agent())
                .priority(work.priority());
        if (work.team() != null) {
            call = call.team(work.team());
        }
        try {
            return new Held(project.acquire(call, MAX_WAIT));
        } catch (RefusedException e) {
            throw new NotAdmitted("refused: " + e.refusal().kind().label(), e);
        } catch (OutageException e) {
            throw new NotAdmitted("outage: " + e.reason(), e);
        }
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
        public void settled(Usage usage) {
            permit.settle(usage);
        }

        @Override
        public void rejected(@Nullable Duration retryAfter) {
            permit.throttled(new Rejection(Rejection.Kind.REQUESTS, Rejection.Scope.CLASS, true, retryAfter));
        }

        @Override
        public void unsent() {
            permit.cancel();
        }
    }
}
