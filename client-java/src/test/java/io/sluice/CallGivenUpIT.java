package io.sluice;

import static io.sluice.CallFixture.CALL;
import static io.sluice.CallFixture.PROFILE;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.ProviderStub.Told;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A call given up, wherever it is, leaves nothing behind. */
@WithRedis
@Timeout(60)
class CallGivenUpIT {
    private final CallFixture fixture;
    private final ProviderStub provider;
    private final List<Permit> held = new ArrayList<>();
    private final CountDownLatch never = new CountDownLatch(1);

    CallGivenUpIT(RedisServer redis) {
        this.fixture = new CallFixture(redis);
        this.provider = fixture.provider;
    }

    @AfterEach
    void close() {
        never.countDown();
        fixture.close();
    }

    /** Where a call can be. */
    enum Where {
        IN_LINE,
        SENT,
        STREAMING,
        /** To be sent again, outside the line: what concerns it alone. */
        PAUSING,
        /** To be sent again: what concerns everybody. */
        HELD_OFF
    }

    private void lead(Where where) {
        switch (where) {
            case IN_LINE -> {
                for (int i = 0; i < 4; i++) {
                    held.add(Budget.take(fixture.project, CALL));
                }
            }
            case SENT -> provider.answers(Told.of(200, "").andThen(never, ProviderStub.SERVED));
            case STREAMING ->
                provider.answers(
                        Told.stream(ProviderStub.START, ProviderStub.TEXT).andThen(never, ProviderStub.END));
            case PAUSING -> provider.answers(Told.refused(500, "api_error", "retry-after", "60"));
            case HELD_OFF -> provider.answers(Told.refused(429, "rate_limit_error", "retry-after", "60"));
        }
    }

    private void isThere(Where where) {
        CallFixture.soon().until(() -> switch (where) {
            case IN_LINE -> ((ProjectClient) fixture.project).waiting() == 1;
            case SENT, STREAMING -> provider.requests.size() == 1;
            case PAUSING, HELD_OFF -> fixture.retries.size() == 1;
        });
    }

    private void nothingIsLeft(Where where) {
        held.forEach(Permit::cancel);
        fixture.nothingIsLeft();
        int sent = provider.requests.size();
        assertThat(sent).isEqualTo(where == Where.IN_LINE ? 0 : 1);
        assertThat(fixture.charged())
                .matches(
                        switch (where) {
                            case IN_LINE -> "0 requests, 0 in, 0 out";
                            case SENT -> "1 requests, 10 in, 5 out";
                            // Told, or the estimate where it came so early that nothing was.
                            case STREAMING -> "1 requests, (25|10) in, 5 out";
                            case PAUSING, HELD_OFF -> "1 requests, 0 in, 0 out";
                        });
    }

    @ParameterizedTest
    @EnumSource
    void byAnInterrupt(Where where) throws Exception {
        lead(where);
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        Thread caller = new Thread(() -> {
            try {
                fixture.call();
            } catch (Throwable e) {
                thrown.set(e);
            }
        });
        caller.start();
        isThere(where);
        caller.interrupt();
        caller.join(5_000);
        assertThat(thrown.get()).isInstanceOf(InterruptedException.class);
        nothingIsLeft(where);
    }

    @ParameterizedTest
    @EnumSource
    void byCancellingItsFuture(Where where) {
        lead(where);
        CompletableFuture<Response> call = fixture.callAsync();
        isThere(where);
        assertThat(call.cancel(true)).isTrue();
        nothingIsLeft(where);
    }

    /** Slots stayed taken after each rollout (ding113/claude-code-hub#1178). */
    @ParameterizedTest
    @EnumSource
    void byClosingTheClient(Where where) {
        lead(where);
        CompletableFuture<Response> call = fixture.callAsync();
        isThere(where);
        fixture.sluice.close();
        nothingIsInUse(where);
        assertThat(call)
                .failsWithin(5, TimeUnit.SECONDS)
                .withThrowableThat()
                .havingRootCause()
                .isInstanceOf(RefusedException.class)
                .withMessageContaining("closed");
    }

    /** Who blocks is woken, and its thread goes on unharmed. */
    @ParameterizedTest
    @EnumSource
    void byClosingTheClientOfAThreadThatBlocks(Where where) throws Exception {
        lead(where);
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        AtomicBoolean interrupted = new AtomicBoolean();
        Thread caller = new Thread(() -> {
            try {
                fixture.call();
            } catch (Throwable e) {
                thrown.set(e);
            }
            interrupted.set(Thread.currentThread().isInterrupted());
        });
        caller.start();
        isThere(where);
        fixture.sluice.close();
        nothingIsInUse(where);
        caller.join(5_000);
        assertThat(thrown.get()).isInstanceOf(RefusedException.class).hasMessageContaining("closed");
        assertThat(interrupted).isFalse();
    }

    /** Not soon but now: who comes next finds every slot free. */
    private void nothingIsInUse(Where where) {
        assertThat(fixture.used()).isZero();
        if (where == Where.IN_LINE) {
            assertThat(fixture.charged()).as("those that were open").isEqualTo("4 requests, 40 in, 20 out");
        } else {
            nothingIsLeft(where);
        }
    }

    /** An SDK's own exception hides the interrupt; the thread is interrupted all the same. */
    @Test
    void byAnInterruptThatTheSenderSwallows() throws Exception {
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        CountDownLatch sending = new CountDownLatch(1);
        Thread caller = new Thread(() -> {
            try {
                fixture.project.call(CALL, PROFILE, attempt -> {
                    sending.countDown();
                    try {
                        never.await();
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                        throw new InterruptedIOException();
                    }
                    throw new AssertionError();
                });
            } catch (Throwable e) {
                thrown.set(e);
            }
        });
        caller.start();
        sending.await();
        caller.interrupt();
        caller.join(5_000);
        assertThat(thrown.get()).isInstanceOf(InterruptedException.class);
        fixture.nothingIsLeft();
        assertThat(fixture.charged()).isEqualTo("1 requests, 10 in, 5 out");
    }

    /** Between any two steps: no permit is lost in the race. */
    @Test
    void atAnyMoment() {
        provider.answers(Told.refused(500, "api_error", "retry-after-ms", "1"), Told.served());
        Random random = new Random(7);
        for (int i = 0; i < 200; i++) {
            CompletableFuture<Response> call = fixture.callAsync();
            LockSupport.parkNanos(random.nextInt(3_000_000));
            call.cancel(true);
            try {
                call.join();
            } catch (CompletionException | CancellationException e) {
                // Most of them are.
            }
        }
        fixture.nothingIsLeft();
    }
}
