package io.sluice;

import static io.sluice.Desks.CALL;
import static io.sluice.Desks.ask;
import static io.sluice.Desks.get;
import static io.sluice.Desks.take;
import static io.sluice.Desks.used;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.sluice.Desk.Asking;
import io.sluice.Desk.Handout;
import io.sluice.Permit.How;
import io.sluice.Permit.Reserved;
import io.sluice.testbed.redis.Fault;
import io.sluice.testbed.redis.FaultyProxy;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The desk while Redis cannot answer the first process, and after it lost what it knew. */
@WithRedis(own = true)
@Tag("contract")
@Timeout(120)
class DeskOutagesIT {
    private static final String LIMITS =
            "concurrency: 100, calls: {amount: 60000, per: 10m, window: rolling, of: requests}";

    private final RedisServer redis;
    private final FaultyProxy wire;
    private final Desks desks;

    DeskOutagesIT(RedisServer redis) {
        this.redis = redis;
        wire = FaultyProxy.to(redis);
        desks = new Desks(redis.uri(), wire.uri());
    }

    @AfterEach
    void close() {
        wire.heal();
        desks.close();
        wire.close();
    }

    private void install(Policy.Outage outage) {
        desks.second.install(Budget.policy(desks.id, outage, LIMITS));
        long start = System.nanoTime();
        get(desks.here.cancel(take(desks.here, null).permit()));
        if (outage == Policy.Outage.LOCAL_SHARE) {
            soon().until(() ->
                    ((ProjectClient) desks.first.project(desks.id)).share().hosts() == 1);
            // Its share starts empty and fills with time, 80 calls a second.
            soon().until(() -> Budget.since(start).toMillis() > 100);
        }
    }

    private static ConditionFactory soon() {
        return await().pollInterval(Duration.ofMillis(10)).atMost(Duration.ofSeconds(60));
    }

    private void cut() {
        wire.set(new Fault.Refuse());
        wire.cut();
    }

    private static Asking asking(String id, Duration lease) {
        return new Asking(CALL.id(id), "token/bot", Duration.ZERO, lease);
    }

    private long inFlight() {
        return desks.levels().used();
    }

    @Test
    void withoutRedisItGivesWhatThePolicySays() {
        install(Policy.Outage.LOCAL_SHARE);
        cut();

        Handout handout = get(ask(desks.here, asking("job-1", Duration.ofMinutes(1))));
        assertThat(handout.degraded()).isTrue();
        assertThat(handout.id()).isEqualTo("job-1");
        assertThat(handout.again()).isFalse();
        Handout again = get(ask(desks.here, asking("job-1", Duration.ofMinutes(1))));
        assertThat(again.permit()).isEqualTo(handout.permit());
        assertThat(again.again()).isTrue();
        assertThat(get(desks.here.renew(handout.permit()))).contains(Duration.ofMinutes(1));
        // Not "there is none": its caller would stop, or take it for ended.
        assertThat(reason(desks.there.renew(handout.permit()))).isEqualTo("untold");
        assertThat(reason(desks.there.settle(handout.permit(), used(4, 2)))).isEqualTo("untold");
        assertThat(get(desks.here.settle(handout.permit(), used(4, 2))).ending())
                .isEqualTo(new Permit.Ending(How.SETTLED, false, new Reserved(1, 4, 0, 0, 2)));

        wire.heal();
        soon().until(() -> desks.levels().left().get("calls") == 59_999);
        assertThat(inFlight()).isZero();
    }

    private static String reason(CompletionStage<?> no) {
        Throwable cause = Blocking.cause(catchThrowable(() -> get(no)));
        assertThat(cause).isInstanceOf(OutageException.class);
        return ((OutageException) cause).reason();
    }

    /** As when a server is replaced right after an outage: what it gave meanwhile runs on, and is settled at the next one. */
    @Test
    void aProcessThatStopsTellsOfWhatItGaveWithoutRedis() {
        install(Policy.Outage.LOCAL_SHARE);
        cut();
        Handout handout = get(ask(desks.here, asking("job-1", Duration.ofSeconds(20))));
        assertThat(handout.degraded()).isTrue();
        wire.heal();
        soon().until(() -> desks.first
                .admin()
                .writable()
                .handle((ok, e) -> e == null)
                .toCompletableFuture()
                .join());
        desks.first.close();

        assertThat(get(desks.there.renew(handout.permit()))).contains(Duration.ofSeconds(20));
        assertThat(get(desks.there.settle(handout.permit(), used(4, 2))).ending())
                .isEqualTo(new Permit.Ending(How.SETTLED, false, new Reserved(1, 4, 0, 0, 2)));
    }

    @Test
    void withoutRedisNobodyIsLetInWhereThePolicySaysSo() {
        install(Policy.Outage.FAIL_CLOSED);
        cut();

        assertThat(Blocking.cause(catchThrowable(() -> take(desks.here, "job-1"))))
                .isInstanceOf(OutageException.class);
    }

    /** Nobody renews it: it holds its slots for a lease, and the estimate is charged. */
    @Test
    void whatWasGivenWithoutRedisLivesByItsCallersRenewalsToo() {
        install(Policy.Outage.LOCAL_SHARE);
        cut();
        Handout handout = get(ask(desks.here, asking("job-1", Duration.ofSeconds(1))));
        ProjectClient project = (ProjectClient) desks.first.project(desks.id);
        assertThat(project.handed.size()).isEqualTo(1);

        soon().until(() -> project.handed.size() == 0);
        assertThat(get(desks.here.settle(handout.permit(), used(1, 1)).exceptionally(e -> null)))
                .isNull();
        wire.heal();
        soon().until(() -> desks.levels().left().get("calls") == 59_999);
        assertThat(inFlight()).isZero();
    }

    /** Redis hears of it once it answers; from then on it is any desk's. */
    @Test
    void whatWasGivenWithoutRedisIsKnownEverywhereAfterwards() {
        install(Policy.Outage.LOCAL_SHARE);
        cut();
        Handout handout = get(ask(desks.here, asking("job-1", Duration.ofSeconds(20))));
        wire.heal();
        soon().until(() -> inFlight() == 1);

        assertThat(get(desks.there.renew(handout.permit()))).contains(Duration.ofSeconds(20));
        assertThat(get(desks.there.settle(handout.permit(), used(4, 2))).ending())
                .isEqualTo(new Permit.Ending(How.SETTLED, false, new Reserved(1, 4, 0, 0, 2)));
        assertThat(inFlight()).isZero();
    }

    /** The process that gave it hears nothing of that, and must not end it. */
    @Test
    void whoRenewsItElsewhereKeepsIt() {
        install(Policy.Outage.LOCAL_SHARE);
        cut();
        Handout handout = get(ask(desks.here, asking("job-1", Duration.ofSeconds(3))));
        wire.heal();
        soon().until(() -> inFlight() == 1);
        ProjectClient project = (ProjectClient) desks.first.project(desks.id);

        soon().pollInterval(Duration.ofMillis(200)).until(() -> {
            assertThat(get(desks.there.renew(handout.permit()))).isPresent();
            return project.handed.size() == 0;
        });
        assertThat(project.held()).isZero();
        assertThat(get(desks.here.settle(handout.permit(), used(4, 2))).ending())
                .isEqualTo(new Permit.Ending(How.SETTLED, false, new Reserved(1, 4, 0, 0, 2)));
    }

    @Test
    void itsEndIsToldAgainUntilRedisHears() {
        install(Policy.Outage.LOCAL_SHARE);
        Handout handout = get(ask(desks.here, asking("job-1", Duration.ofMinutes(1))));
        cut();

        assertThat(get(desks.here.settle(handout.permit(), used(4, 2))).ending())
                .isEqualTo(new Permit.Ending(How.SETTLED, false, new Reserved(1, 4, 0, 0, 2)));
        assertThat(inFlight()).isEqualTo(1);
        wire.heal();
        soon().until(() -> inFlight() == 0);
        assertThat(get(desks.there.settle(handout.permit(), used(9, 9)))
                        .ending()
                        .already())
                .isTrue();
    }

    /** A permit that runs has its slots again as soon as its caller renews it. */
    @Test
    void aRenewalBringsBackWhatRedisLost() {
        install(Policy.Outage.FAIL_CLOSED);
        Handout handout = get(ask(desks.here, asking("job-1", Duration.ofSeconds(20))));
        redis.command("FLUSHALL");
        desks.second.install(Budget.policy(desks.id, Policy.Outage.FAIL_CLOSED, LIMITS));
        assertThat(inFlight()).isZero();

        assertThat(get(desks.there.renew(handout.permit()))).isEmpty();
        assertThat(get(desks.here.renew(handout.permit()))).contains(Duration.ofSeconds(20));
        assertThat(inFlight()).isEqualTo(1);
        assertThat(get(desks.there.renew(handout.permit()))).contains(Duration.ofSeconds(20));
        assertThat(get(desks.there.settle(handout.permit(), used(4, 2))).ending())
                .isEqualTo(new Permit.Ending(How.SETTLED, false, new Reserved(1, 4, 0, 0, 2)));
        assertThat(inFlight()).isZero();
    }
}
