package io.sluice.server.project;

import com.fasterxml.jackson.annotation.JsonProperty;
import io.sluice.Status;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How a project stands; times in ms.
 *
 * @param waiting at most 1,000; {@code waiters} counts all
 * @param agents at most 1,000; {@code agents_in_all} counts all
 */
record StatusView(
        String project,
        Instant at,
        long version,
        String mode,
        boolean degraded,
        List<Limit> limits,
        List<Said> provider,
        List<Waiting> waiting,
        long waiters,
        List<Agent> agents,
        long agentsInAll,
        List<Hold> holds,
        Map<String, Long> rejections,
        long hosts,
        Map<String, Long> inFlight) {

    static StatusView of(String project, Status status, Instant now) {
        return new StatusView(
                project,
                now,
                status.version(),
                status.mode(),
                status.degraded(),
                status.limits().stream().map(Limit::of).toList(),
                status.provider().stream().map(Said::of).toList(),
                status.waiting().stream().map(Waiting::of).toList(),
                status.waiters(),
                status.agents().stream().map(Agent::of).toList(),
                status.agentsInAll(),
                status.holds().stream().map(Hold::of).toList(),
                status.rejections(),
                status.hosts(),
                status.inFlight());
    }

    private static @Nullable Long ms(@Nullable Duration duration) {
        return duration == null ? null : Long.valueOf(duration.toMillis());
    }

    /** {@code reset_ms} is 0 where it is full, -1 where it never will be. */
    record Limit(
            String scope,
            String limit,
            BigDecimal amount,
            BigDecimal level,
            BigDecimal capacity,
            long inFlight,
            long resetMs) {
        static Limit of(Status.Limit limit) {
            return new Limit(
                    limit.scope(),
                    limit.limit(),
                    Numbers.plain(limit.amount()),
                    Numbers.plain(limit.level()),
                    Numbers.plain(limit.capacity()),
                    limit.inFlight(),
                    limit.resetMs());
        }
    }

    record Said(
            @JsonProperty("class") String modelClass,
            String limit,
            @Nullable Long amount,
            @Nullable Long remaining,
            @Nullable Long resetMs,
            Instant seenAt) {
        static Said of(Status.Said said) {
            return new Said(
                    said.modelClass(), said.limit(), said.amount(), said.remaining(), ms(said.reset()), said.seenAt());
        }
    }

    record Waiting(
            String id,
            String agent,
            String team,
            String priority,
            @JsonProperty("class") String modelClass,
            String scope,
            String limit,
            long position,
            long waitedMs,
            long waitMs,
            String host) {
        static Waiting of(Status.Waiting waiting) {
            return new Waiting(
                    waiting.id(),
                    waiting.agent(),
                    waiting.team(),
                    waiting.priority().label(),
                    waiting.modelClass(),
                    waiting.scope(),
                    waiting.limit(),
                    waiting.position(),
                    waiting.waitedMs(),
                    waiting.waitMs(),
                    waiting.host());
        }
    }

    record Agent(String agent, String team, String state, long sinceMs) {
        static Agent of(Status.Agent agent) {
            return new Agent(agent.agent(), agent.team(), agent.state().label(), agent.sinceMs());
        }
    }

    /** {@code left_ms} is null until somebody releases it, 0 where it lets calls in again, a few at first. */
    record Hold(String scope, String kind, @Nullable Long leftMs, boolean retryable, Instant since, String reason) {
        static Hold of(Status.Hold hold) {
            return new Hold(hold.scope(), hold.kind(), ms(hold.left()), hold.retryable(), hold.since(), hold.reason());
        }
    }
}
