package io.sluice;

import io.sluice.Decision.Granted;
import io.sluice.Decision.Refused;
import io.sluice.redis.Levels;
import io.sluice.testbed.redis.RedisServer;
import java.time.Duration;
import java.util.UUID;

/** A project of a test's own with one class {@code m}, and the first client of it. */
final class Budget implements AutoCloseable {
    /** A model of the class. */
    static final Call CALL = Call.of("m-1").inputTokens(10).maxOutputTokens(5);

    /** Enough for a test, and nothing that refills while it runs: one in 86 s. */
    static final String THOUSAND = "calls: {amount: 1000, per: 1d, burst: 1d, window: refill, of: requests}";

    final String id;
    final Sluice sluice;
    final Project project;
    private final String uri;

    private Budget(String uri, Sluice sluice, String id) {
        this.uri = uri;
        this.sluice = sluice;
        this.id = id;
        this.project = sluice.project(id);
    }

    /** With these limits of the class, as flow YAML without braces. */
    static Budget of(RedisServer redis, String limits) {
        return of(redis.uri(), limits);
    }

    static Budget of(String uri, String limits) {
        return of(uri, Sluice.Options.DEFAULT, limits);
    }

    static Budget of(String uri, Sluice.Options options, String limits) {
        Budget budget = new Budget(uri, Sluice.connect(uri, options), "t-" + UUID.randomUUID());
        budget.install(limits);
        return budget;
    }

    static Policy policy(String project, String limits) {
        return policy(project, limits, "1s");
    }

    /** Without Redis there are no permits: a test that wants some says so, {@link #policy(String, Policy.Outage, String)}. */
    static Policy policy(String project, String limits, String lease) {
        return policy(project, Policy.Outage.FAIL_CLOSED, limits, lease);
    }

    static Policy policy(String project, Policy.Outage outage, String limits) {
        return policy(project, outage, limits, "1s");
    }

    static Policy policy(String project, Policy.Outage outage, String limits, String lease) {
        return Policy.parse("""
                project: %s
                provider: generic
                headroom: 1
                outage: %s
                lease: %s
                classes:
                  - {name: m, models: ["m-*"], max_output: 100, limits: {%s}}
                """.formatted(project, outage.label(), lease, limits));
    }

    long install(String limits) {
        return sluice.install(policy(id, limits));
    }

    /** So that nothing a test left behind comes back by itself. */
    void installWithALongLease(String limits) {
        sluice.install(policy(id, limits, "15m"));
    }

    Permit take() {
        return take(project, CALL);
    }

    static Permit take(Project project, Call call) {
        if (project.tryAcquire(call) instanceof Granted granted) {
            return granted.permit();
        }
        throw new AssertionError("not granted: " + project.tryAcquire(call));
    }

    Refusal refusal(Call call) {
        return refusal(project, call);
    }

    static Refusal refusal(Project project, Call call) {
        if (project.tryAcquire(call) instanceof Refused refused) {
            return refused.refusal();
        }
        throw new AssertionError("was granted");
    }

    /** What the class holds, at rest or not. */
    Levels levels() {
        return Levels.of(uri, id, "c:m");
    }

    static Duration since(long startNs) {
        return Duration.ofNanos(System.nanoTime() - startNs);
    }

    @Override
    public void close() {
        sluice.close();
    }
}
