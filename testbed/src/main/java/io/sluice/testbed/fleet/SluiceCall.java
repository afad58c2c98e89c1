package io.sluice.testbed.fleet;

import io.sluice.Attempt;
import io.sluice.Call;
import io.sluice.OutageException;
import io.sluice.Permit;
import io.sluice.Profile;
import io.sluice.Project;
import io.sluice.ProviderException;
import io.sluice.RefusedException;
import io.sluice.Response;
import io.sluice.Usage;
import io.sluice.testbed.fleet.FleetEvent.Outcome;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * One call made by the library, which asks, sends, settles and retries; this only watches. What the library calls back on
 * its own threads is passed on to the loop, where it is in order.
 */
final class SluiceCall implements Errand {
    private final Project project;
    private final Profile profile;
    private final Call call;
    private final Work work;
    private final Surroundings around;
    private final BiConsumer<Errand, FleetEvent.Call> done;
    private final Story story;
    private final List<Permit> permits = new ArrayList<>();
    private final CompletableFuture<Response> never = new CompletableFuture<>();

    private CompletableFuture<Response> result = never;
    private volatile boolean inFlight;
    private volatile boolean dropped;

    SluiceCall(
            Project project,
            Profile profile,
            Call call,
            Work work,
            Surroundings around,
            BiConsumer<Errand, FleetEvent.Call> done) {
        this.project = project;
        this.profile = profile;
        this.call = call;
        this.work = work;
        this.around = around;
        this.done = done;
        this.story = new Story(work, around);
    }

    @Override
    public void begin() {
        result = project.callAsync(call, profile, this::send).toCompletableFuture();
        result.whenCompleteAsync(this::ended, around.loop());
    }

    @Override
    public void drop() {
        dropped = true;
        if (!inFlight) {
            result.cancel(true);
        }
    }

    @Override
    public void abort() {
        result.cancel(true);
    }

    private CompletionStage<Response> send(Attempt attempt) throws IOException {
        inFlight = true;
        Permit permit = attempt.permit();
        long nowNs = System.nanoTime();
        if (permit.degraded()) {
            around.tell().accept(new FleetEvent.Alone());
        }
        around.loop().execute(() -> {
            if (!permits.isEmpty()) {
                story.rejected();
            }
            permits.add(permit);
            story.granted(permit.modelClass(), nowNs);
        });
        CompletionStage<Response> answer = around.target().sender(work).send(attempt);
        answer.whenComplete((response, e) -> answered(response));
        return answer;
    }

    /** What was served ends by itself; what was not is sent again by the library, unless the run is over. */
    private void answered(@Nullable Response response) {
        boolean served = response != null && response.reading().rejection() == null;
        if (!served) {
            inFlight = false;
            if (dropped) {
                result.cancel(true);
            }
        }
    }

    private void ended(@Nullable Response response, @Nullable Throwable thrown) {
        Throwable e = thrown == null ? null : Linked.cause(thrown);
        if (e instanceof ProviderException unserved && unserved.response() != null) {
            story.rejected();
        }
        if (e != null && dropped && !inFlight) {
            story.waitsOn();
        }
        // Ended already; said again they tell what they were charged, unless Redis is out and has not heard it yet.
        CompletableFuture<?>[] charges = permits.stream()
                .map(permit -> permit.settleAsync(Usage.UNKNOWN)
                        .thenApply(ending -> Charge.of(ending.charged()))
                        .exceptionally(unbooked -> Charge.NOTHING)
                        .thenAcceptAsync(story::charged, around.loop())
                        .toCompletableFuture())
                .toArray(CompletableFuture[]::new);
        CompletableFuture.allOf(charges)
                .whenCompleteAsync((charged, unexpected) -> done.accept(this, told(e)), around.loop());
    }

    private FleetEvent.Call told(@Nullable Throwable e) {
        if (e == null) {
            return story.end(Outcome.COMPLETED, null);
        }
        return dropped ? story.end(Outcome.CUT_OFF, null) : story.end(Outcome.GIVEN_UP, why(e));
    }

    private static String why(Throwable e) {
        if (e instanceof RefusedException refused) {
            return "refused: " + refused.refusal().kind().label();
        }
        if (e instanceof ProviderException unserved) {
            return "provider: " + unserved.rejection().kind().label();
        }
        return e instanceof OutageException outage
                ? "outage: " + outage.reason()
                : Linked.cause(e).getClass().getSimpleName();
    }
}
