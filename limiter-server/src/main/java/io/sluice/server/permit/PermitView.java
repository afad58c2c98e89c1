package io.sluice.server.permit;

import com.fasterxml.jackson.annotation.JsonProperty;
import io.sluice.Desk.Handout;
import io.sluice.Permit.Reserved;

/** A permit as it is handed out. */
record PermitView(
        String permit,
        String id,
        @JsonProperty("class") String modelClass,
        long waitedMs,
        long leaseMs,
        Quantities reserved,
        boolean degraded) {

    static PermitView of(Handout handout) {
        return new PermitView(
                handout.permit(),
                handout.id(),
                handout.modelClass(),
                handout.waited().toMillis(),
                handout.lease().toMillis(),
                Quantities.of(handout.reserved()),
                handout.degraded());
    }

    /** Requests, and tokens by type. */
    record Quantities(long requests, long input, long cacheRead, long cacheWrite, long output) {
        static Quantities of(Reserved reserved) {
            return new Quantities(
                    reserved.requests(),
                    reserved.input(),
                    reserved.cacheRead(),
                    reserved.cacheWrite(),
                    reserved.output());
        }
    }
}
