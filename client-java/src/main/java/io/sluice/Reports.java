package io.sluice;

import io.sluice.PolicyView.Resolved;
import io.sluice.Store.Queued;
import java.time.Duration;
import java.time.temporal.ChronoUnit;

/** Tells listeners and meters what becomes of the calls of one project. */
final class Reports {
    private final SluiceClient client;
    private final String project;
    private final Counting counting;

    Reports(ProjectClient project) {
        this.client = project.client;
        this.project = project.id();
        this.counting = project.counting;
    }

    void started(Call call) {
        client.tell(() -> client.listener.started(project, call));
    }

    /** Only what is news. */
    void waits(Waiter waiter, Queued queued) {
        if (waiter.waits(queued, System.nanoTime())) {
            counting.waits(Who.of(waiter.call, waiter.resolved), waiter.name, queued);
            WaitListener.Waiting news = new WaitListener.Waiting(
                    project,
                    waiter.call,
                    queued.scope(),
                    queued.limit(),
                    queued.position(),
                    Duration.of(queued.waitUs(), ChronoUnit.MICROS),
                    !queued.exact());
            client.tell(() -> client.listener.waiting(news));
            Ticket ticket = waiter.ticket;
            if (ticket != null) {
                client.tell(() -> ticket.waits().accept(news));
            }
        }
    }

    void granted(Waiter waiter, LivePermit permit) {
        Duration waited = waiter.waited(System.nanoTime());
        client.meters.permit(project, permit.modelClass(), "granted");
        counting.granted(Who.of(permit.call()), permit.id(), waited, permit.degraded());
        client.meters.waited(project, permit.modelClass(), teamLabel(waiter), waited);
        permit.wouldHaveWaited()
                .ifPresent(shadow -> client.meters.shadow(project, permit.modelClass(), shadow.limit()));
        client.tell(() -> client.listener.granted(project, waiter.call, waited));
    }

    void gaveUp(Waiter waiter, Throwable cause) {
        Duration waited = waiter.waited(System.nanoTime());
        Resolved resolved = waiter.resolved;
        if (cause instanceof RefusedException refused) {
            counting.refused(Who.of(waiter.call, resolved), refused.refusal());
            client.meters.permit(project, resolved == null ? "unknown" : resolved.modelClass(), "refused");
        }
        client.tell(() -> client.listener.gaveUp(project, waiter.call, waited, String.valueOf(cause.getMessage())));
    }

    private static String teamLabel(Waiter waiter) {
        Resolved resolved = waiter.resolved;
        String team = waiter.call.team;
        return resolved != null && team != null && resolved.view().policy.hasTeam(team) ? team : "other";
    }
}
