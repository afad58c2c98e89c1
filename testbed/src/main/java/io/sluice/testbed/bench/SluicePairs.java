package io.sluice.testbed.bench;

import io.sluice.Call;
import io.sluice.Decision;
import io.sluice.Permit;
import io.sluice.Policy;
import io.sluice.Project;
import io.sluice.Sluice;
import io.sluice.Usage;

/** Sluice as the README shows it: every rate and two concurrency limits, asked once, then settled. */
final class SluicePairs implements Contender {
    static final String LABEL = "Sluice";

    static final String PROJECT = "bench";
    static final String MODEL = "claude-sonnet-5-5";
    private static final Policy POLICY = Policy.parse("""
            project: %s
            provider: anthropic
            limits: {concurrency: %d}
            classes:
              - name: all
                models: ["*"]
                limits: {rpm: %d, itpm: %d, otpm: %d, concurrency: %d}
            """.formatted(
                    PROJECT, CallSize.CONCURRENCY, CallSize.RPM, CallSize.TPM, CallSize.TPM, CallSize.CONCURRENCY));
    private static final Usage USED = new Usage(CallSize.INPUT, 0, 0, CallSize.OUTPUT_USED);

    private final Sluice sluice;
    private final Project project;

    SluicePairs(String redis) {
        sluice = Sluice.connect(redis);
        project = sluice.project(PROJECT);
    }

    @Override
    public String label() {
        return LABEL;
    }

    @Override
    public void prepare() {
        sluice.install(POLICY);
    }

    @Override
    public Runnable acquire() {
        // Built anew each time, as an agent does.
        Decision decision =
                project.tryAcquire(Call.of(MODEL).inputTokens(CallSize.INPUT).maxOutputTokens(CallSize.OUTPUT_CAP));
        if (decision instanceof Decision.Granted granted && !granted.permit().degraded()) {
            Permit permit = granted.permit();
            return () -> settle(permit);
        }
        throw new IllegalStateException("not granted by Redis: " + decision);
    }

    @Override
    public void close() {
        sluice.close();
    }

    private static void settle(Permit permit) {
        Permit.Ending ending = permit.settle(USED);
        if (ending.already()) {
            throw new IllegalStateException("a permit had ended before its settle: " + ending);
        }
    }
}
