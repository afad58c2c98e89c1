package io.sluice.testbed.chaos;

import io.sluice.testbed.bench.Report;
import java.io.IOException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** {@code ./sluice bench chaos}: whether the laws hold while things break. */
public final class Chaos {
    private Chaos() {}

    /**
     * Runs it, on Redis servers, a provider and processes of its own. They have ended when this returns, however it returns.
     *
     * @param command as it was typed, for the report
     * @param progress hears the schedule, then a line for whatever happens
     * @throws io.sluice.testbed.redis.NoRedisException there is no {@code redis-server} to run here
     * @throws IOException a process of the fleet does not come up
     */
    public static Report run(ChaosOptions options, String command, Consumer<String> progress)
            throws IOException, InterruptedException {
        return run(options.drawn(), options, command, progress);
    }

    static ChaosReport run(Schedule schedule, ChaosOptions options, String command, Consumer<String> progress)
            throws IOException, InterruptedException {
        Instant began = Instant.now().truncatedTo(ChronoUnit.SECONDS);
        progress.accept(schedule.lines());
        List<Evidence> legs = new ArrayList<>();
        for (Schedule.Part part : schedule.parts()) {
            progress.accept("--- " + part.leg().word() + ": " + part.leg().label);
            try (LegRun leg = new LegRun(part, options, progress)) {
                legs.add(leg.run());
            }
        }
        return new ChaosReport(command, began, options, legs);
    }
}
