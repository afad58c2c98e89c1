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
    @JsonSubTypes.Type(value = FleetEvent.Failed.class, name = "failed"),
    @JsonSubTypes.Type(value = FleetEvent.Bye.class, name = "bye")
})
sealed interface FleetEvent {
    /** It can start. */
    record Ready() implements FleetEvent {}

    /**
     * An agent is done with a call.
     *
     * @param waitedMs from the moment the agent wanted to send until the request that counted was sent, or given up
     * @param rejections how often the provider said no to it
     * @param why why it was given up; {@code null} otherwise
     */
    record Call(
            String agent,
            @Nullable String team,
            Priority priority,
            String size,
            Outcome outcome,
            long waitedMs,
            int rejections,
            @Nullable String why)
            implements FleetEvent {}

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
