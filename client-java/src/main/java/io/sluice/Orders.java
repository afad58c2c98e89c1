package io.sluice;

import io.sluice.Store.Effect;
import io.sluice.Store.Observation;
import io.sluice.Store.Observations;
import io.sluice.Store.Observed;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** What operators order of one project: its holds. */
final class Orders {
    private static final String EVERYTHING = "*";
    private static final Duration LONGEST = Duration.ofDays(366);

    /** The scripts keep so much of a reason. */
    private static final int MOST_BYTES = 256;

    private final ProjectClient project;

    Orders(ProjectClient project) {
        this.project = project;
    }

    CompletionStage<Optional<Duration>> hold(String scope, @Nullable Duration length, String reason) {
        boolean endless = length == null;
        if (length != null && (length.isNegative() || length.isZero() || length.compareTo(LONGEST) > 0)) {
            throw new IllegalArgumentException("a hold lasts more than 0 and at most 366 days, got " + length);
        }
        if (reason.isBlank()
                || reason.getBytes(StandardCharsets.UTF_8).length > MOST_BYTES
                || reason.chars().anyMatch(Character::isISOControl)) {
            throw new IllegalArgumentException(
                    "the reason must be 1 to " + MOST_BYTES + " bytes of one line, got '" + reason + "'");
        }
        long waitUs = length == null ? Store.UNTIL_RELEASED : length.toNanos() / 1_000;
        return observe(new Observation.Hold(
                        scope,
                        endless ? waitUs : Math.max(1, waitUs),
                        Store.UNTIL_RELEASED,
                        Refusals.OPERATOR,
                        true,
                        Observation.OPERATOR,
                        reason))
                .thenApply(effect -> left(scope, ((Effect.Holding) effect).leftUs()));
    }

    private static Optional<Duration> left(String scope, long leftUs) {
        if (leftUs == 0) {
            throw new IllegalArgumentException(
                    "the policy has no limits for the scope '" + scope + "', or 64 scopes are on hold already");
        }
        return leftUs == Store.UNTIL_RELEASED ? Optional.empty() : Optional.of(Duration.of(leftUs, ChronoUnit.MICROS));
    }

    CompletionStage<Boolean> release(@Nullable String scope) {
        return observe(new Observation.Release(scope == null ? EVERYTHING : scope))
                .thenApply(effect -> ((Effect.Changed) effect).changed());
    }

    private CompletionStage<Effect> observe(Observation order) {
        Store store = project.client.store;
        return project.policy()
                .thenCompose(
                        policy -> store.observe(new Observations(project.id(), project.client.host, List.of(order))))
                .thenApply(observed -> {
                    if (observed instanceof Observed.Done done) {
                        return done.effects().get(0);
                    }
                    throw new OutageException(
                            "lost_state",
                            "project " + project.id() + ": its state is damaged: " + ((Observed.Lost) observed).what(),
                            null);
                });
    }
}
