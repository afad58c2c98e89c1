package io.sluice;

import static io.sluice.Budget.CALL;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.Store.Answer;
import io.sluice.Store.Beat;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/** Permits of the desk in beats: their callers wait for what became of them, and every one of them is told. */
class DeskBeatsTest extends HeartFixture {
    private static final Store.PermitName KEPT = new Store.PermitName("job-1", "nonce");

    private LivePermit granted() {
        store.acquire = ask -> new Answer.Granted(ask.permit().nonce(), 3_000_000, 1, ask.memo(), false, null);
        return ask(CALL).outcome.join();
    }

    private static String reason(CompletionStage<?> asked) {
        CompletableFuture<?> answer = asked.toCompletableFuture();
        assertThat(answer).isCompletedExceptionally();
        Throwable e = Blocking.cause(answer.handle((done, thrown) -> thrown).join());
        return ((OutageException) e).reason();
    }

    /** Its caller got no answer at all. */
    @Test
    void whoAsksToKeepAPermitAfterTheEndIsToldSo() {
        LivePermit permit = granted();
        CompletionStage<?> waiting = heart.renew(KEPT);
        heart.close();
        assertThat(reason(waiting)).isEqualTo("closing");
        assertThat(reason(heart.renew(KEPT))).isEqualTo("closing");
        assertThat(reason(heart.assertAgain(permit))).isEqualTo("closing");
    }

    /** What a beat could not tell was kept for the next, and there was none. */
    @Test
    void whatABeatThatWasUnderWayAtTheEndCouldNotTellIsToldSo() {
        CompletionStage<?> renewed = heart.renew(KEPT);
        timer.pass(0);
        CompletionStage<?> asserted = heart.assertAgain(granted());
        CompletionStage<Void> closed = heart.close();

        assertThat(store.beats).as("the one under way and the last").hasSize(2);
        store.beats.remove().answer().completeExceptionally(new OutageException("timeout", "a test's", null));
        assertThat(reason(renewed)).isEqualTo("closing");
        assertThat(closed.toCompletableFuture()).as("the last is waited for").isNotDone();
        outage("timeout");
        assertThat(reason(asserted)).isEqualTo("closing");
        assertThat(closed.toCompletableFuture()).isCompleted();
    }

    @Test
    void aLeaseThatRanOutBeforeABeatCouldTellIsLost() {
        LivePermit permit = granted();
        CompletionStage<Boolean> first = heart.assertAgain(permit);
        CompletionStage<Boolean> second = heart.assertAgain(permit);
        permit.renewed(timer.nanoTime() - permit.lease().toNanos());
        timer.pass(20);
        answerWell();
        assertThat(first.toCompletableFuture()).isCompletedWithValue(false);
        assertThat(second.toCompletableFuture()).isCompletedWithValue(false);
    }

    @Test
    void whatIsToldOfAPermitToAProjectThatLostItsStateIsAnOutage() {
        CompletionStage<Boolean> asserted = heart.assertAgain(granted());
        timer.pass(20);
        beaten().answer().complete(new Beat.Lost("permits"));
        assertThat(reason(asserted)).isEqualTo("lost_state");
    }
}
