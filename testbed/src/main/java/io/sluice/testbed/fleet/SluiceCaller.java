package io.sluice.testbed.fleet;

import io.sluice.Answer;
import io.sluice.Call;
import io.sluice.Decision;
import io.sluice.Profile;
import io.sluice.Project;
import io.sluice.Sluice;
import io.sluice.provider.Profiles;
import java.time.Instant;
import java.util.function.BiConsumer;

/** {@link Strategy#SLUICE}: each call is one {@link Project#callAsync}, as the README shows. */
final class SluiceCaller implements Caller {
    private final Sluice sluice;
    private final Project project;
    private final Profile profile;

    /** Connected and with the policy known, so that the first calls are not slower than the rest. */
    SluiceCaller(String redis, String project, String host) {
        this.sluice = Sluice.connect(redis, Sluice.Options.DEFAULT.withHost(host));
        this.project = sluice.project(project);
        this.profile = Profiles.of(sluice.installed(project).policy().provider());
    }

    @Override
    public Errand errand(Work work, Surroundings around, BiConsumer<Errand, FleetEvent.Call> done) {
        return new SluiceCall(project, profile, call(work), work, around, done);
    }

    /** Asks for more than any budget holds, and where input has no limit gives it back. */
    @Override
    public void warmUp(Work work) {
        Decision decision = project.tryAcquire(call(work).inputTokens(Call.MAX_TOKENS));
        if (decision instanceof Decision.Granted granted) {
            granted.permit().cancel();
        }
        var unused = profile.read(Answer.of(200, Instant.now()).body("{}"));
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

    @Override
    public void close() {
        sluice.close();
    }
}
