package io.sluice;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.netty.util.concurrent.FastThreadLocalThread;
import io.sluice.Permit.Ending;
import io.sluice.Permit.How;
import io.sluice.Permit.Reserved;
import io.sluice.redis.Levels;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the client promises its callers, on a real Redis. */
@Tag("contract")
@WithRedis
class ClientContractIT {
    private static final Call CALL =
            Call.of("claude-sonnet-5-5").inputTokens(100).maxOutputTokens(50);
    private static final Duration NOW = Duration.ZERO;
    private static final Duration SOON = Duration.ofSeconds(10);

    private final RedisServer redis;
    private final String id = "c-" + UUID.randomUUID();
    private final List<String> heard = Collections.synchronizedList(new ArrayList<>());
    private Sluice sluice;
    private Project project;

    ClientContractIT(RedisServer redis) {
        this.redis = redis;
    }

    @BeforeEach
    void connect() {
        sluice = Sluice.connect(redis.uri(), Sluice.Options.DEFAULT.withListener(new Diary()));
        project = sluice.project(id);
    }

    @AfterEach
    void close() {
        sluice.close();
    }

    private final class Diary implements WaitListener {
        @Override
        public void started(String project, Call call) {
            heard.add("started");
        }

        @Override
        public void waiting(Waiting waiting) {
            heard.add("waiting on " + waiting.limit());
            throw new IllegalStateException("a listener's fault is not the call's");
        }

        @Override
        public void granted(String project, Call call, Duration waited) {
            heard.add("granted");
        }

        @Override
        public void gaveUp(String project, Call call, Duration waited, String why) {
            heard.add("gave up");
        }
    }

    private long install(String limits) {
        return sluice.install(policy(limits));
    }

    private Policy policy(String limits) {
        return Policy.parse("project: " + id
                + "\nprovider: anthropic\nheadroom: 1\nburst: 60s\nlease: 2s\nclasses:\n  - name: sonnet\n"
                + "    models: ['claude-sonnet-*']\n    limits: {" + limits + "}\n");
    }

    private Permit granted(Call call) {
        Decision decision = project.tryAcquire(call);
        assertThat(decision).isInstanceOf(Decision.Granted.class);
        return ((Decision.Granted) decision).permit();
    }

    private Refusal refused(Call call) {
        Decision decision = project.tryAcquire(call);
        assertThat(decision).isInstanceOf(Decision.Refused.class);
        return ((Decision.Refused) decision).refusal();
    }

    // ---- policies

    @Test
    void theSameContentKeepsItsVersionAndAnotherGoesUp() {
        assertThat(install("rpm: 10")).isEqualTo(1);
        assertThat(install("rpm: 10")).isEqualTo(1);
        assertThat(install("rpm: 20")).isEqualTo(2);
        assertThat(sluice.installed(id).version()).isEqualTo(2);
        assertThat(sluice.installed(id).policy().toJson())
                .isEqualTo(policy("rpm: 20").toJson());
    }

    @Test
    void anUnknownProjectSaysHowToInstallOne() {
        assertThatThrownBy(() -> project.tryAcquire(CALL))
                .isInstanceOf(OutageException.class)
                .hasMessageContaining(id)
                .hasMessageContaining("sluice.install(policy)");
    }

    @Test
    void aPolicyChangedByAnotherProcessHoldsFromTheNextCallOn() {
        install("concurrency: 5");
        granted(CALL);
        try (Sluice other = Sluice.connect(redis.uri())) {
            other.install(policy("concurrency: 1"));
        }
        assertThat(refused(CALL).limit()).isEqualTo("concurrency");
        try (Sluice other = Sluice.connect(redis.uri())) {
            other.install(policy("concurrency: 0"));
        }
        assertThat(refused(CALL).kind()).isEqualTo(Refusal.Kind.CLOSED);
    }

    // ---- asking once

    @Test
    void aPermitTellsWhatItTook() {
        install("rpm: 10, itpm: 1000, otpm: 1000");
        Permit permit = granted(CALL.cacheReadTokens(7).cacheWriteTokens(3));
        assertThat(permit.reserved()).isEqualTo(new Reserved(1, 100, 7, 3, 50));
        assertThat(permit.modelClass()).isEqualTo("sonnet");
        assertThat(permit.lease()).isEqualTo(Duration.ofSeconds(2));
        assertThat(permit.degraded()).isFalse();
        assertThat(permit.handle()).hasSizeGreaterThanOrEqualTo(22);
    }

    @Test
    void aRefusalNamesTheLimitAndTheWait() {
        install("itpm: 6000");
        granted(CALL.inputTokens(6000));
        Refusal refusal = refused(CALL);
        assertThat(refusal.kind()).isEqualTo(Refusal.Kind.WAIT);
        assertThat(refusal.scope()).isEqualTo("c:sonnet");
        assertThat(refusal.limit()).isEqualTo("itpm");
        assertThat(refusal.estimate()).isFalse();
        assertThat(refusal.retryAfter()).isBetween(Duration.ofMillis(500), Duration.ofMillis(1000));
        assertThat(refusal.message()).contains("itpm").contains(id);
    }

    @Test
    void aWaitForASlotIsMarkedAsAnEstimate() {
        install("concurrency: 1");
        granted(CALL);
        assertThat(refused(CALL).estimate()).isTrue();
    }

    @Test
    void whatCanNeverFitIsRefusedWithItsCostAndCeiling() {
        install("itpm: 1000");
        Refusal refusal = refused(CALL.inputTokens(1001));
        assertThat(refusal.kind()).isEqualTo(Refusal.Kind.NEVER);
        assertThat(refusal.retryAfter()).isNull();
        assertThat(refusal.message()).contains("1001").contains("1000").contains("itpm");
    }

    @Test
    void aModelOfNoClassIsRefusedByName() {
        install("rpm: 1");
        Refusal refusal = refused(Call.of("gpt-5"));
        assertThat(refusal.kind()).isEqualTo(Refusal.Kind.UNKNOWN_MODEL);
        assertThat(refusal.message()).contains("gpt-5");
    }

    // ---- waiting

    @Test
    void aCallThatWaitsIsGrantedWhenItFits() throws Exception {
        install("itpm: 60000");
        granted(CALL.inputTokens(60_000)).settle(new Usage(60_000, 0, 0, 0));
        Permit permit = project.acquire(CALL.inputTokens(300), SOON);
        assertThat(permit.waited()).isBetween(Duration.ofMillis(200), Duration.ofSeconds(3));
        assertThat(heard).containsSubsequence("started", "waiting on itpm", "granted");
    }

    @Test
    void aFreedSlotWakesAWaiter() throws Exception {
        install("concurrency: 1");
        Permit first = granted(CALL);
        CompletableFuture<Permit> second = project.acquireAsync(CALL, SOON).toCompletableFuture();
        first.settle(new Usage(1, 0, 0, 1));
        assertThat(second.get(1, TimeUnit.SECONDS).waited()).isLessThan(Duration.ofSeconds(1));
    }

    /** The full time-out was slept although the answer was known: resilience4j/resilience4j#1283. */
    @Test
    void aWaitKnownToBeTooLongIsRefusedAtOnce() {
        install("itpm: 1000");
        granted(CALL.inputTokens(1000));
        long before = System.nanoTime();
        assertThatThrownBy(() -> project.acquire(CALL.inputTokens(1000), SOON))
                .isInstanceOfSatisfying(RefusedException.class, e -> {
                    assertThat(e.refusal().kind()).isEqualTo(Refusal.Kind.DEADLINE);
                    assertThat(e.refusal().retryAfter()).isGreaterThan(Duration.ofSeconds(50));
                });
        assertThat(Duration.ofNanos(System.nanoTime() - before)).isLessThan(Duration.ofSeconds(5));
    }

    @Test
    void aCallThatIsNotServedInTimeIsRefusedAtItsDeadline() {
        install("concurrency: 1");
        granted(CALL);
        assertThatThrownBy(() -> project.acquire(CALL, Duration.ofMillis(150)))
                .isInstanceOfSatisfying(
                        RefusedException.class,
                        e -> assertThat(e.refusal().kind()).isEqualTo(Refusal.Kind.DEADLINE));
        assertThat(heard).endsWith("gave up");
    }

    /** "For ever" overflowed: resilience4j/resilience4j#1701. */
    @ParameterizedTest
    @ValueSource(longs = {Long.MAX_VALUE, 365L * 300 * 86_400})
    void forEverIsNoDeadline(long seconds) throws Exception {
        install("concurrency: 1");
        Permit first = granted(CALL);
        CompletableFuture<Permit> waiting =
                project.acquireAsync(CALL, Duration.ofSeconds(seconds)).toCompletableFuture();
        first.cancel();
        waiting.get(2, TimeUnit.SECONDS).cancel();
    }

    @Test
    void zeroAsksOnceAndLessIsAnError() {
        install("concurrency: 1");
        granted(CALL);
        assertThatThrownBy(() -> project.acquire(CALL, NOW)).isInstanceOf(RefusedException.class);
        assertThatThrownBy(() -> project.acquire(CALL, Duration.ofSeconds(-1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("PT-1S");
    }

    @Test
    void aCancelledWaitLeavesNothing() {
        install("concurrency: 1");
        Permit first = granted(CALL);
        CompletableFuture<Permit> waiting = project.acquireAsync(CALL, SOON).toCompletableFuture();
        waiting.cancel(true);
        first.cancel();
        granted(CALL).cancel();
        granted(CALL);
    }

    /**
     * A slot was held while its caller waited for tokens: vutran1710/PyrateLimiter#189. What it does keep back is what it is
     * short on: a later call of its class does not take the tokens it waits for.
     */
    @Test
    void aCallThatWaitsHoldsNothing() {
        install("concurrency: 1, rpm: 3, itpm: 60000");
        granted(CALL.inputTokens(59_000)).settle(new Usage(59_000, 0, 0, 0));
        CompletableFuture<Permit> waiting = project.acquireAsync(CALL.inputTokens(30_000), Duration.ofMinutes(1))
                .toCompletableFuture();
        await().until(() -> heard.contains("waiting on itpm"));
        assertThat(Levels.of(redis.uri(), id, "c:sonnet").used()).isZero();
        assertThat(Levels.of(redis.uri(), id, "c:sonnet").left()).containsEntry("rpm", 2L);

        Refusal behind = refused(CALL.inputTokens(10));
        assertThat(behind.position()).isEqualTo(2);
        assertThat(behind.estimate()).isTrue();

        waiting.cancel(true);
        granted(CALL.inputTokens(10)).settle(new Usage(10, 0, 0, 0));
        granted(CALL.inputTokens(10)).settle(new Usage(10, 0, 0, 0));
        assertThat(refused(CALL.inputTokens(10)).limit())
                .as("three requests, none by the one that waited")
                .isEqualTo("rpm");
    }

    // ---- ids

    @Test
    void theSameCallerIdAndBodyIsTheSamePermit() {
        install("concurrency: 2, rpm: 10");
        Permit first = granted(CALL.id("job-1"));
        assertThat(granted(CALL.id("job-1"))).isSameAs(first);
        assertThat(refused(CALL.id("job-1").inputTokens(101)).kind()).isEqualTo(Refusal.Kind.CONFLICT);
        granted(CALL.id("job-2"));
        first.settle(new Usage(1, 0, 0, 1));
        assertThat(refused(CALL.id("job-1")).kind()).isEqualTo(Refusal.Kind.ENDED);
    }

    /** Two calls were merged under one id and the first to finish released both: BerriAI/litellm#36459. */
    @Test
    void anotherCallersIdIsAConflict() {
        install("concurrency: 2");
        granted(CALL.id("job-1"));
        try (Sluice other = Sluice.connect(redis.uri())) {
            Decision decision = other.project(id).tryAcquire(CALL.id("job-1"));
            assertThat(((Decision.Refused) decision).refusal().kind()).isEqualTo(Refusal.Kind.CONFLICT);
        }
    }

    // ---- endings

    @Test
    void aPermitEndsOnce() {
        install("concurrency: 1, itpm: 1000");
        Permit permit = granted(CALL);
        Ending first = permit.settle(new Usage(30, 0, 0, 5));
        assertThat(first).isEqualTo(new Ending(How.SETTLED, false, new Reserved(1, 30, 0, 0, 5)));
        assertThat(permit.cancel()).isEqualTo(new Ending(How.SETTLED, true, new Reserved(1, 30, 0, 0, 5)));
        permit.close();
        granted(CALL.inputTokens(970)).cancel();
    }

    @Test
    void cancellingGivesEverythingBackAndARejectionAllButTheRequest() {
        install("rpm: 2, itpm: 1000");
        assertThat(granted(CALL.inputTokens(1000)).cancel().ended()).isEqualTo(How.CANCELLED);
        // One that pauses nobody else: what is asked next is about the charge.
        Rejection rejection = new Rejection(Rejection.Kind.INPUT, Rejection.Scope.REQUEST, true, null);
        assertThat(granted(CALL.inputTokens(1000)).throttled(rejection).charged())
                .isEqualTo(new Reserved(1, 0, 0, 0, 0));
        granted(CALL.inputTokens(1000)).throttled(rejection);
        assertThat(refused(CALL).limit()).isEqualTo("rpm");
    }

    /** Zero, null and missing are three things: BerriAI/litellm#37992. */
    @Test
    void whatTheProviderDidNotSayStandsAtTheEstimate() {
        install("itpm: 10000");
        assertThat(granted(CALL).settle(new Usage(30L, null, null, null)).charged())
                .isEqualTo(new Reserved(1, 30, 0, 0, 50));
        assertThat(granted(CALL).settle(Usage.UNKNOWN).charged()).isEqualTo(new Reserved(1, 100, 0, 0, 50));
        assertThat(granted(CALL).settle(new Usage(0, 0, 0, 0)).charged()).isEqualTo(new Reserved(1, 0, 0, 0, 0));
    }

    @Test
    void closingWithoutSettlingChargesTheEstimate() throws Exception {
        install("concurrency: 1, itpm: 100");
        try (Permit permit = project.acquire(CALL, NOW)) {
            assertThat(permit.reserved().input()).isEqualTo(100);
        }
        assertThat(refused(CALL).limit()).isEqualTo("itpm");
    }

    // ---- threads

    /** Blocking on the driver's thread waits for itself: redis/lettuce#1402. */
    @Test
    void theBlockingFormsRefuseToBlockTheStoresThreads() throws Exception {
        install("concurrency: 1");
        CompletableFuture<Object> result = new CompletableFuture<>();
        Thread thread = new FastThreadLocalThread(() -> {
            try {
                result.complete(project.tryAcquire(CALL));
            } catch (RuntimeException e) {
                result.complete(e);
            }
        });
        thread.start();
        assertThat(result.get(5, TimeUnit.SECONDS))
                .isInstanceOf(IllegalStateException.class)
                .asString()
                .contains("Async");
    }

    @Test
    void continuationsMayBlock() throws InterruptedException, ExecutionException {
        install("concurrency: 2");
        Decision inside = project.acquireAsync(CALL, NOW)
                .thenApply(permit -> project.tryAcquire(CALL))
                .toCompletableFuture()
                .get();
        assertThat(inside).isInstanceOf(Decision.Granted.class);
    }

    /** "No agent" and the agent of the name "null" had one digest. */
    @Test
    void aNameThatLooksLikeNoneIsAnotherBody() {
        install("concurrency: 9");
        granted(CALL.id("job-1"));
        assertThat(refused(CALL.id("job-1").agent("null")).kind()).isEqualTo(Refusal.Kind.CONFLICT);
    }
}
