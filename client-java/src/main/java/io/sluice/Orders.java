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

    /** What the scripts are told of a level is in millionths of the amount's unit. */
    private static final double LEVEL_PARTS = 1_000_000;

    private final ProjectClient project;

    Orders(ProjectClient project) {
        this.project = project;
    }

    CompletionStage<Optional<Duration>> hold(String scope, @Nullable Duration length, String who, String reason) {
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
        String held = held(scope);
        return observe(new Observation.Hold(
                        held,
                        endless ? waitUs : Math.max(1, waitUs),
                        Store.UNTIL_RELEASED,
                        Refusals.OPERATOR,
                        true,
                        Observation.OPERATOR,
                        reason))
                .thenApply(effect -> {
                    Optional<Duration> left = left(held, ((Effect.Holding) effect).leftUs());
                    project.counting.heldBy(held, left.orElse(null), who, reason);
                    return left;
                });
    }

    /** A team is held by its name, which each of its calls brings, whatever limits this version of the policy has for it. */
    private static String held(String scope) {
        return scope.startsWith(ScopeSpec.TEAM) && scope.indexOf('|') < 0
                ? ScopeSpec.EACH_TEAM + scope.substring(ScopeSpec.TEAM.length())
                : scope;
    }

    private static Optional<Duration> left(String scope, long leftUs) {
        if (leftUs == 0) {
            throw new IllegalArgumentException(
                    "no calls draw on the scope '" + scope + "', or 64 scopes are on hold already");
        }
        return leftUs == Store.UNTIL_RELEASED ? Optional.empty() : Optional.of(Duration.of(leftUs, ChronoUnit.MICROS));
    }

    CompletionStage<Boolean> release(@Nullable String scope, String who) {
        String which = scope == null ? EVERYTHING : held(scope);
        return observe(new Observation.Release(which)).thenApply(effect -> {
            boolean released = ((Effect.Changed) effect).changed();
            if (released) {
                project.counting.releasedBy(which, who);
            }
            return released;
        });
    }

    /** Sets what is left of a limit, in units of its amount; what was left before. */
    CompletionStage<Double> level(String scope, String limit, double to) {
        if (!Double.isFinite(to)) {
            throw new IllegalArgumentException("to must be a number, got " + to);
        }
        return observe(new Observation.Level(scope, limit, Math.round(to * LEVEL_PARTS)))
                .thenApply(effect -> {
                    Effect.Corrected corrected = (Effect.Corrected) effect;
                    if (!corrected.known()) {
                        throw new AdminException(
                                AdminException.Kind.UNKNOWN_LIMIT,
                                0,
                                "the policy has no limit " + limit + " of " + scope + " whose level can be set");
                    }
                    return corrected.before() / LEVEL_PARTS;
                });
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
