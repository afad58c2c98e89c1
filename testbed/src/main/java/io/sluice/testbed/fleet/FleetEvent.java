package io.sluice.testbed.fleet;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import io.sluice.Priority;
import org.jspecify.annotations.Nullable;

/** What a process of the fleet tells, as lines of JSON on its stdout. */
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "event")
@JsonSubTypes({
    @JsonSubTypes.Type(value = FleetEvent.Ready.class, name = "ready"),
    @JsonSubTypes.Type(value = FleetEvent.Call.class, name = "call"),
    @JsonSubTypes.Type(value = FleetEvent.Alone.class, name = "alone"),
    @JsonSubTypes.Type(value = FleetEvent.Task.class, name = "task"),
    @JsonSubTypes.Type(value = FleetEvent.Failed.class, name = "failed"),
    @JsonSubTypes.Type(value = FleetEvent.Bye.class, name = "bye")
})
sealed interface FleetEvent {
    /** It can start. */
    record Ready() implements FleetEvent {}

    /**
     * An agent is done with a call.
     *
     * @param modelClass the class it drew on; {@code null} if it was never granted, or the strategy knows none
     * @param granted whether it was ever allowed to be sent
     * @param startedMs when the agent wanted to send, in ms after the start signal
     * @param waitedMs from then until the grant that counted; if there was none, until it was given up or cut off
     * @param heldMs from that grant to the call's end; 0 if there was none
     * @param rejections how often the provider said no to it
     * @param charge what it was charged, all tries together
     * @param why why it was given up; {@code null} otherwise
     */
    record Call(
            String agent,
            @Nullable String team,
            Priority priority,
            @Nullable String modelClass,
            String size,
            Outcome outcome,
            boolean granted,
            long startedMs,
            long waitedMs,
            long heldMs,
            int rejections,
            Charge charge,
            @Nullable String why)
            implements FleetEvent {
        /** When its wait ended, in ms after the start signal. */
        long decidedMs() {
            return startedMs + waitedMs;
        }
    }

    /**
     * An agent is done with a task.
     *
     * @param completed or the stop signal came first
     * @param lost how often a call in its middle was given up, and with it what the tools before had told
     * @param toolRuns how often a tool ran
     * @param repeated how many of those told what the task had known already
     */
    record Task(String agent, boolean completed, int lost, int toolRuns, int repeated) implements FleetEvent {}

    /** A call is sent that Redis did not allow: it did not answer in time, and the policy's outage rule did. */
    record Alone() implements FleetEvent {}

    /** It cannot go on; the message is one line. */
    record Failed(String message) implements FleetEvent {}

    /** All its agents have stopped. */
    record Bye() implements FleetEvent {}

    /** What became of a call. */
    enum Outcome {
        COMPLETED,
        /** The agent lost it: too many rejections, refused, or an error. */
        GIVEN_UP,
        /** The stop signal came first. */
        CUT_OFF
    }
}
