package io.sluice.testbed.fleet;

import java.util.List;

/**
 * What became of the tasks of agents with {@link Tools}.
 *
 * @param completed tasks whose last call was answered
 * @param lost how often a call in the middle of a task was given up, and with it what the tools before had told
 * @param toolRuns how often a tool ran
 * @param toolRunsRepeated how many of those were done before, and lost
 */
public record Tasks(long completed, long lost, long toolRuns, long toolRunsRepeated) {

    static Tasks of(List<FleetEvent.Task> tasks) {
        return new Tasks(
                tasks.stream().filter(FleetEvent.Task::completed).count(),
                tasks.stream().mapToLong(FleetEvent.Task::lost).sum(),
                tasks.stream().mapToLong(FleetEvent.Task::toolRuns).sum(),
                tasks.stream().mapToLong(FleetEvent.Task::repeated).sum());
    }
}
