package io.sluice;

import static io.sluice.Budget.CALL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.sluice.Permit.How;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Keys that are gone or were overwritten: the next call mends the project, and the damage lets nobody in. */
@WithRedis(own = true)
@Tag("contract")
@Timeout(60)
class LostStateIT {
    /** One comes back in six seconds. */
    private static final String LIMITS = "rpm: {amount: 10, burst: 60s}, concurrency: 20";

    private final RedisServer redis;

    LostStateIT(RedisServer redis) {
        this.redis = redis;
    }

    /** Whoever installs again what it knows says that the project is not new: it was given full buckets. */
    @Test
    void installingAgainAfterALossGivesNoSecondBudget() {
        try (Budget budget = Budget.of(redis, LIMITS)) {
            assertThat(budget.install(LIMITS + ", otpm: 1000")).isEqualTo(2);
            redis.command("FLUSHALL");

            assertThat(budget.install(LIMITS + ", otpm: 1000")).isEqualTo(2);
            assertThat(budget.refusal(CALL).kind()).isEqualTo(Refusal.Kind.WAIT);

            redis.command("FLUSHALL");
            assertThat(budget.install(LIMITS)).isEqualTo(3);
            assertThat(budget.refusal(CALL).limit()).isEqualTo("rpm");
        }
    }

    /** Only calls brought it back: who asked for the policy was told that there was none. */
    @Test
    void whoeverHasReadItPutsItBackWhenItAsksForIt() {
        try (Budget budget = Budget.of(redis, LIMITS);
                Sluice other = Sluice.connect(redis.uri())) {
            assertThat(other.installed(budget.id).version()).isEqualTo(1);
            redis.command("FLUSHALL");

            assertThat(other.installed(budget.id).version()).isEqualTo(1);
            assertThat(AdminIT.get(other.admin().projects()))
                    .extracting(Admin.Listed::project)
                    .contains(budget.id);
            assertThat(budget.refusal(CALL).kind()).isEqualTo(Refusal.Kind.WAIT);
        }
    }

    @Test
    void theFirstQuestionOfWhateverKindIsAnswered() {
        try (Budget budget = Budget.of(redis, LIMITS)) {
            Admin admin = budget.sluice.admin();
            redis.command("FLUSHALL");
            assertThat(AdminIT.get(admin.counters(budget.id)).usageMissing()).isZero();
            redis.command("FLUSHALL");
            assertThat(AdminIT.get(admin.events(budget.id, null, 10))).isEmpty();
            redis.command("FLUSHALL");
            assertThat(AdminIT.get(admin.status(budget.id)).version()).isEqualTo(1);
            redis.command("FLUSHALL");
            assertThat(AdminIT.get(admin.projects()))
                    .extracting(Admin.Listed::version)
                    .containsExactly(1L);
        }
    }

    /** Nothing tells of the removal any more but the memory of who removed it, or saw that it was. */
    @Test
    void whatWasRemovedStaysSoAlsoWhereNothingTellsOfIt() {
        try (Budget budget = Budget.of(redis, LIMITS);
                Sluice other = Sluice.connect(redis.uri())) {
            assertThat(other.installed(budget.id).version()).isEqualTo(1);
            assertThat(AdminIT.get(budget.sluice.admin().remove(budget.id, false, "ann")))
                    .isTrue();
            isNoProject(other, budget.id);
            redis.command("FLUSHALL");

            for (Sluice one : new Sluice[] {budget.sluice, other}) {
                isNoProject(one, budget.id);
                assertThat(AdminIT.get(one.admin().projects())).isEmpty();
            }
            assertThat(other.install(Budget.policy(budget.id, LIMITS))).isEqualTo(1);
            budget.take().close();
        }
    }

    private static void isNoProject(Sluice sluice, String project) {
        assertThat(catchThrowableOfType(OutageException.class, () -> sluice.installed(project))
                        .reason())
                .isEqualTo("no_project");
        assertThat(catchThrowableOfType(
                                OutageException.class,
                                () -> sluice.project(project).tryAcquire(CALL))
                        .reason())
                .isEqualTo("no_project");
    }

    @ParameterizedTest
    @ValueSource(strings = {"policy", "levels", "permits", "waiters", "lines", "times", "hosts", "learn"})
    void aKeyThatIsGoneAdmitsNobodyAboveTheLimit(String key) {
        try (Budget budget = Budget.of(redis, LIMITS)) {
            Permit held = budget.take();
            redis.command("DEL", "{" + budget.id + "}:" + key);
            isMended(budget, held);
        }
    }

    /** A failed count admitted everyone while traffic kept the wrong key alive (HeyPuter/puter#3574). */
    @ParameterizedTest
    @ValueSource(strings = {"policy", "levels", "permits", "waiters", "lines", "times", "hosts", "learn"})
    void aKeyOfAnotherTypeAdmitsNobodyAboveTheLimit(String key) {
        try (Budget budget = Budget.of(redis, LIMITS)) {
            Permit held = budget.take();
            String name = "{" + budget.id + "}:" + key;
            redis.command("DEL", name);
            redis.command("SET", name, "1", "EX", "60");
            isMended(budget, held);
        }
    }

    private static void isMended(Budget budget, Permit held) {
        int granted = 0;
        for (int i = 0; i < 12; i++) {
            if (budget.project.tryAcquire(CALL) instanceof Decision.Granted one) {
                granted++;
                one.permit().close();
            }
        }
        assertThat(granted).isLessThanOrEqualTo(10);
        assertThat(held.settle(Usage.UNKNOWN).ended()).isIn(How.SETTLED, How.UNKNOWN);
        budget.install(LIMITS + ", otpm: 100000");
        assertThat(budget.levels().used()).isZero();
        assertThat(budget.levels().left().get("rpm")).isLessThan(10);
    }

    /** The driver's own exception came out of connect, and its threads stayed. */
    @Test
    void whatTheUserMayNotDoIsAnOutageThatNamesIt() {
        redis.command("ACL", "SETUSER", "agent", "on", ">pw", "~*", "&*", "+@all", "-script|load");
        String uri = "redis://agent:pw@127.0.0.1:" + redis.port();
        OutageException thrown = catchThrowableOfType(
                OutageException.class, () -> Sluice.connect(uri).close());
        assertThat(thrown)
                .hasMessageContainingAll("script|load", "127.0.0.1")
                .hasMessageNotContaining("pw@")
                .returns("noperm", OutageException::reason);
    }
}
