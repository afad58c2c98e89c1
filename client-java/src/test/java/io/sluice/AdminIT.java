package io.sluice;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.sluice.Admin.Difference;
import io.sluice.Admin.Step;
import io.sluice.redis.Peek;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What an operator does and asks, as a server offers it. */
@WithRedis
@Timeout(60)
class AdminIT {
    private static final String LIMITS = "concurrency: 1, rpm: 60";

    private final RedisServer redis;
    private Budget budget;
    private Admin admin;

    AdminIT(RedisServer redis) {
        this.redis = redis;
    }

    @BeforeEach
    void project() {
        budget = Budget.of(redis, LIMITS);
        admin = budget.sluice.admin();
    }

    @AfterEach
    void close() {
        budget.close();
    }

    static <T> T get(CompletionStage<T> stage) {
        return Blocking.get(stage.toCompletableFuture().orTimeout(20, TimeUnit.SECONDS));
    }

    private AdminException refused(CompletionStage<?> stage) {
        try {
            get(stage);
        } catch (AdminException e) {
            return e;
        }
        throw new AssertionError("was done");
    }

    // ---- policies

    @Test
    void aProjectIsListedUntilItIsRemoved() {
        assertThat(get(admin.projects())).contains(new Admin.Listed(budget.id, 1));
        get(admin.install(Budget.policy(budget.id, "rpm: 61"), null, "ann", false));
        assertThat(get(admin.projects())).contains(new Admin.Listed(budget.id, 2));
        assertThat(get(admin.remove(budget.id, false, "ann"))).isTrue();
        assertThat(get(admin.projects())).noneMatch(one -> one.project().equals(budget.id));
    }

    @Test
    void aVersionSaysWhoAndWhen() {
        Admin.Change change = get(admin.install(Budget.policy(budget.id, "concurrency: 1, rpm: 90"), 1L, "ann", false));
        assertThat(change.version()).isEqualTo(2);
        assertThat(change.changes()).containsExactly(new Difference("/classes/m/limits/rpm", "60", "90", "class m"));
        List<Admin.Version> versions = get(admin.versions(budget.id));
        assertThat(versions).extracting(Admin.Version::version).containsExactly(2L, 1L);
        assertThat(versions.get(0).who()).isEqualTo("ann");
        assertThat(Duration.between(versions.get(0).at(), Instant.now()).abs()).isLessThan(Duration.ofMinutes(1));
        assertThat(get(admin.version(budget.id, 1)))
                .hasValueSatisfying(policy -> assertThat(policy.toJson()).contains("\"rpm\":60"));
        assertThat(get(admin.version(budget.id, 7))).isEmpty();
    }

    @Test
    void anotherVersionThanTheExpectedOneChangesNothing() {
        AdminException no = refused(admin.install(Budget.policy(budget.id, "rpm: 1"), 7L, "ann", false));
        assertThat(no.kind()).isEqualTo(AdminException.Kind.VERSION_MISMATCH);
        assertThat(no.number()).isEqualTo(1);
        assertThat(refused(admin.install(Budget.policy(budget.id, "rpm: 1"), 0L, "ann", true))
                        .number())
                .isEqualTo(1);
        assertThat(refused(admin.install(Budget.policy("nobody-" + budget.id, "rpm: 1"), 1L, "ann", false))
                        .number())
                .as("none is in force")
                .isZero();
        assertThat(get(admin.installed(budget.id)).version()).isEqualTo(1);
    }

    @Test
    void aDryRunTellsTheChangeAndMakesNone() {
        Admin.Change change = get(admin.install(Budget.policy(budget.id, "rpm: 90"), null, "ann", true));
        assertThat(change.version()).isEqualTo(2);
        assertThat(change.changes())
                .containsExactly(
                        new Difference("/classes/m/limits/concurrency", "1", null, "class m"),
                        new Difference("/classes/m/limits/rpm", "60", "90", "class m"));
        assertThat(get(admin.installed(budget.id)).version()).isEqualTo(1);
    }

    @Test
    void theSameContentKeepsItsVersion() {
        Admin.Change change = get(admin.install(Budget.policy(budget.id, LIMITS), null, "ann", false));
        assertThat(change.same()).isTrue();
        assertThat(change.version()).isEqualTo(1);
        assertThat(change.changes()).isEmpty();
    }

    @Test
    void anEarlierVersionComesBackAsANewOne() {
        budget.install("rpm: 90");
        Admin.Change change = get(admin.rollback(budget.id, 1, "ben"));
        assertThat(change.version()).isEqualTo(3);
        assertThat(get(admin.installed(budget.id)).policy().toJson()).contains("\"rpm\":60");
        assertThat(refused(admin.rollback(budget.id, 9, "ben")).kind()).isEqualTo(AdminException.Kind.UNKNOWN_VERSION);
    }

    // ---- how it stands

    @Test
    void aProjectAtRestHasAllOfItsLimits() {
        Status status = get(admin.status(budget.id));
        assertThat(status.version()).isEqualTo(1);
        assertThat(status.mode()).isEqualTo("enforce");
        assertThat(status.degraded()).isFalse();
        assertThat(status.waiting()).isEmpty();
        assertThat(status.holds()).isEmpty();
        assertThat(status.limits())
                .contains(
                        new Status.Limit("c:m", "concurrency", 1, 1, 1, 0, 0),
                        new Status.Limit("c:m", "rpm", 60, 5, 5, 0, 0));
    }

    @Test
    void statusSaysWhoHoldsTheBudgetAndWhoWaitsForWhat() {
        Call busy = Budget.CALL.agent("busy").team("nobody-listed");
        Permit permit = Budget.take(budget.project, busy);
        CompletionStage<Permit> waits = budget.project.acquireAsync(
                Budget.CALL.id("later").agent("patient").priority(Priority.INTERACTIVE), Duration.ofSeconds(30));
        await().until(() -> get(admin.status(budget.id)).waiters() == 1);

        Status status = get(admin.status(budget.id));
        assertThat(status.inFlight()).containsEntry("c:m", 1L).containsEntry("p", 1L);
        assertThat(status.waiting()).singleElement().satisfies(one -> {
            assertThat(one.id()).isEqualTo("later");
            assertThat(one.agent()).isEqualTo("patient");
            assertThat(one.team()).isEqualTo("other");
            assertThat(one.priority()).isEqualTo(Priority.INTERACTIVE);
            assertThat(one.scope()).isEqualTo("c:m");
            assertThat(one.limit()).isEqualTo("concurrency");
            assertThat(one.position()).isEqualTo(1);
            assertThat(one.waitMs()).isPositive();
        });
        assertThat(status.agents())
                .extracting(one -> one.agent() + " " + one.state().label())
                .containsExactly("busy calling", "patient waiting");

        permit.settle(new Usage(1, 0, 0, 1));
        get(waits).settle(new Usage(1, 0, 0, 1));
        get(admin.flush());
        assertThat(get(admin.status(budget.id)).agents())
                .extracting(one ->
                        one.agent() + " " + one.team() + " " + one.state().label())
                .containsExactlyInAnyOrder("busy nobody-listed quiet", "patient - quiet");
    }

    @Test
    void statusShowsAHoldUntilItIsReleased() {
        get(admin.hold(budget.id, "c:m", Duration.ofMinutes(5), "ann", "provider incident"));
        assertThat(get(admin.status(budget.id)).holds()).singleElement().satisfies(hold -> {
            assertThat(hold.scope()).isEqualTo("c:m");
            assertThat(hold.kind()).isEqualTo("operator");
            assertThat(hold.left()).isBetween(Duration.ofMinutes(4), Duration.ofMinutes(5));
            assertThat(hold.reason()).isEqualTo("provider incident");
        });
        assertThat(get(admin.release(budget.id, "c:m", "ann"))).isTrue();
        assertThat(get(admin.status(budget.id)).holds()).isEmpty();
    }

    @Test
    void aProjectThatIsNotInstalledIsToldAsSuch() {
        assertThatThrownBy(() -> get(admin.status("nobody-" + budget.id)))
                .isInstanceOfSatisfying(
                        OutageException.class, e -> assertThat(e.reason()).isEqualTo("no_project"));
    }

    /** Ids come from outside, as many as anybody likes to make up. What lives here stays. */
    @Test
    void twentyThousandIdsOfNoProjectLeaveNothingBehind() {
        // About what is kept, not about time: a busy machine may take its own.
        Sluice.Options patient = Sluice.Options.DEFAULT.withCommandTimeout(Duration.ofSeconds(10));
        try (Budget here = Budget.of(redis.uri(), patient, LIMITS)) {
            here.installWithALongLease(LIMITS);
            SluiceClient client = (SluiceClient) here.sluice;
            Permit live = here.take();
            CompletableFuture<Permit> waits = here.project
                    .acquireAsync(Budget.CALL, Duration.ofSeconds(50))
                    .toCompletableFuture();
            int known = client.known();
            int kept = Peek.kept(client.store);
            long noProject = 0;
            for (int i = 0; i < 20_000; i += 200) {
                List<CompletableFuture<Boolean>> some = IntStream.range(i, i + 200)
                        .mapToObj(
                                n -> asked(here.sluice.admin(), "nobody-" + n + "-" + here.id.substring(0, 12), n % 4))
                        .map(stage -> stage.handle(AdminIT::isNoProject).toCompletableFuture())
                        .toList();
                noProject += some.stream().filter(AdminIT::get).count();
            }
            // On a busy machine Redis may not have answered one or another in time.
            assertThat(noProject).isGreaterThan(10_000);

            assertThat(client.known()).isEqualTo(known);
            assertThat(Peek.kept(client.store)).isEqualTo(kept).isPositive();
            assertThat(waits).isNotDone();
            assertThat(live.settle(Usage.UNKNOWN).already()).isFalse();
            get(waits).cancel();
        }
    }

    private static CompletionStage<?> asked(Admin admin, String id, int which) {
        return switch (which) {
            case 0 -> admin.status(id);
            case 1 -> admin.installed(id);
            case 2 -> admin.hold(id, "p", null, "ann", "a test");
            default -> admin.counters(id);
        };
    }

    private static boolean isNoProject(Object answer, Throwable e) {
        return Blocking.cause(e) instanceof OutageException no && no.reason().equals("no_project");
    }

    // ---- removing

    @Test
    void whatIsRemovedLeavesNoKey() {
        budget.take().settle(new Usage(1, 0, 0, 1));
        get(admin.flush());
        assertThat(redis.command("KEYS", "{" + budget.id + "}*").toString()).contains("usage:h:", "counters", "events");
        assertThat(get(admin.remove(budget.id, false, "ann"))).isTrue();
        assertThat(redis.command("KEYS", "{" + budget.id + "}*").toString()).doesNotContain(budget.id);
    }

    @Test
    void nothingIsRemovedWhilePermitsAreLive() {
        Permit permit = budget.take();
        AdminException no = refused(admin.remove(budget.id, false, "ann"));
        assertThat(no.kind()).isEqualTo(AdminException.Kind.PERMITS_LIVE);
        assertThat(no.number()).isEqualTo(1);
        assertThat(permit.settle(Usage.UNKNOWN).already()).isFalse();
        assertThat(get(admin.remove(budget.id, false, "ann"))).isTrue();
    }

    @Test
    void whoHasSeenAnotherVersionRemovesNothing() {
        long inForce = get(admin.installed(budget.id)).version();
        AdminException no = refused(admin.remove(budget.id, false, inForce + 1, "ann"));
        assertThat(no.kind()).isEqualTo(AdminException.Kind.VERSION_MISMATCH);
        assertThat(no.number()).isEqualTo(inForce);
        Permit permit = budget.take();
        assertThat(refused(admin.remove(budget.id, true, inForce + 1, "ann")).kind())
                .isEqualTo(AdminException.Kind.VERSION_MISMATCH);
        assertThat(permit.settle(new Usage(1, 0, 0, 1)).already()).isFalse();
        assertThat(get(admin.remove(budget.id, false, inForce, "ann"))).isTrue();
    }

    /** From then on nothing starts; the last permit's end is the project's. */
    @Test
    void aDrainedProjectGoesWithItsLastPermit() {
        Permit permit = budget.take();
        assertThat(get(admin.remove(budget.id, true, "ann"))).isFalse();
        assertThat(get(admin.status(budget.id)).mode()).isEqualTo("draining");
        assertThat(budget.refusal(Budget.CALL).kind()).isEqualTo(Refusal.Kind.CLOSED);
        assertThat(permit.settle(new Usage(1, 0, 0, 1)).already()).isFalse();
        await().until(() ->
                get(admin.projects()).stream().noneMatch(one -> one.project().equals(budget.id)));
        await().until(() ->
                !redis.command("KEYS", "{" + budget.id + "}*").toString().contains(budget.id));
    }

    /** Each page that showed it began to ask for its end four times a second, until it was gone. */
    @Test
    void howeverOftenItIsLookedAtADrainIsWatchedOnce() {
        Permit permit = budget.take();
        assertThat(get(admin.remove(budget.id, true, "ann"))).isFalse();
        ScheduledThreadPoolExecutor timer = (ScheduledThreadPoolExecutor) ((SluiceClient) budget.sluice).timer;
        int alarms = timer.getQueue().size();
        for (int i = 0; i < 40; i++) {
            assertThat(get(admin.status(budget.id)).mode()).isEqualTo("draining");
        }
        // A few are others': a renewal, what is counted. One that just rang is under way.
        assertThat(timer.getQueue()).hasSizeLessThan(alarms + 10);
        permit.settle(new Usage(1, 0, 0, 1));
        await().until(() -> isGone(budget.id));
    }

    /** The watch of the drain removed whatever was in force. */
    @Test
    void aProjectThatIsSetUpAnewWhileItDrainsStays() {
        Permit permit = budget.take();
        assertThat(get(admin.remove(budget.id, true, "ann"))).isFalse();
        long drains = get(admin.installed(budget.id)).version();
        assertThat(get(admin.install(Budget.policy(budget.id, LIMITS), drains, "ben", false))
                        .version())
                .isEqualTo(drains + 1);
        permit.settle(new Usage(1, 0, 0, 1));

        await().during(Duration.ofMillis(700)).until(() -> !isGone(budget.id));
        budget.take().cancel();
    }

    /** Removed by another process, it was installed again, and has the version that this one waits for. */
    @Test
    void anotherProjectOfTheSameNameAndVersionStays() {
        try (Sluice other = Sluice.connect(redis.uri())) {
            Permit permit = budget.take();
            assertThat(get(admin.remove(budget.id, true, "ann"))).isFalse();
            permit.settle(new Usage(1, 0, 0, 1));
            get(other.admin().remove(budget.id, false, "ben").handle((gone, orWasBefore) -> true));
            for (String limits : List.of("rpm: 61", "rpm: 62")) {
                other.install(Budget.policy(budget.id, limits));
            }
            await().during(Duration.ofMillis(700)).until(() -> !isGone(budget.id));
        }
    }

    private boolean isGone(String project) {
        return redis.command("EXISTS", "{" + project + "}:policy").strip().equals("0");
    }

    /** A client that still knows the policy takes missing keys for lost ones, and would bring them back. */
    @Test
    void aRemovedProjectIsNotBroughtBackByWhoeverKnewIt() {
        try (Sluice other = Sluice.connect(redis.uri())) {
            Budget.take(other.project(budget.id), Budget.CALL).settle(new Usage(1, 0, 0, 1));
            get(admin.remove(budget.id, false, "ann"));
            assertThatThrownBy(() -> other.project(budget.id).tryAcquire(Budget.CALL))
                    .isInstanceOfSatisfying(
                            OutageException.class, e -> assertThat(e.reason()).isEqualTo("no_project"));
            budget.install(LIMITS);
            Budget.take(other.project(budget.id), Budget.CALL).cancel();
        }
    }

    // ---- orders

    @Test
    void aDebtIsForgivenByNameAndReason() {
        budget.take().settle(new Usage(1, 0, 0, 1));
        double before = get(admin.level(budget.id, "c:m", "rpm", -30, "ann", "used elsewhere"));
        assertThat(before).isBetween(3.9, 5.0);
        assertThat(budget.refusal(Budget.CALL).limit()).isEqualTo("rpm");
        assertThat(get(admin.level(budget.id, "c:m", "rpm", 99, "ann", "it was not")))
                .isBetween(-30.1, -28.0);
        assertThat(get(admin.status(budget.id)).limits())
                .as("never more than it can hold")
                .contains(new Status.Limit("c:m", "rpm", 60, 5, 5, 0, 0));
        assertThat(get(admin.events(budget.id, null, 1_000)).stream().map(Admin.Event::data))
                .anySatisfy(data -> assertThat(data).contains("\"by\":\"ann\"", "used elsewhere", "\"limit\":\"rpm\""));
        assertThat(refused(admin.level(budget.id, "c:m", "tpm", 1, "ann", "none"))
                        .kind())
                .isEqualTo(AdminException.Kind.UNKNOWN_LIMIT);
    }

    // ---- what was used

    @Test
    void usageSaysWhoSpentTheBudget() {
        Instant from = Instant.now().minusSeconds(3_600);
        Instant to = from.plusSeconds(7_200);
        Budget.take(budget.project, Budget.CALL.agent("a-1").team("red").run("r-1"))
                .settle(new Usage(10, 20, 30, 40));
        Budget.take(budget.project, Budget.CALL.agent("a-2").team("red").run("r-1"))
                .settle(new Usage(1, 2, 3, 4));
        get(admin.flush());
        assertThat(get(admin.usage(budget.id, from, to, Step.HOUR, Admin.By.TEAM)))
                .singleElement()
                .satisfies(row -> {
                    assertThat(row.name()).isEqualTo("red");
                    assertThat(row.requests()).isEqualTo(2);
                    assertThat(row.input()).isEqualTo(11);
                    assertThat(row.cacheRead()).isEqualTo(22);
                    assertThat(row.cacheWrite()).isEqualTo(33);
                    assertThat(row.output()).isEqualTo(44);
                });
        assertThat(get(admin.usage(budget.id, from, to, Step.DAY, Admin.By.AGENT)))
                .extracting(Admin.Used::name)
                .containsExactly("a-1", "a-2");
        assertThat(get(admin.usage(budget.id, from, to, Step.HOUR, Admin.By.MODEL)))
                .extracting(Admin.Used::name)
                .containsExactly("m-1");
        assertThat(get(admin.usage(budget.id, from, to, Step.HOUR, Admin.By.RUN)))
                .extracting(Admin.Used::name)
                .containsExactly("r-1");
    }

    /** Whoever looks later sees what the provider refused, and when. */
    @Test
    void rejectionsAreKeptByKindAndHour() {
        Instant now = Instant.now();
        Rejection.Kind[] kinds = {Rejection.Kind.INPUT, Rejection.Kind.INPUT, Rejection.Kind.OVERLOAD};
        for (Rejection.Kind kind : kinds) {
            // Of one request only: it puts nobody on hold.
            budget.take().throttled(new Rejection(kind, Rejection.Scope.REQUEST, true, null));
        }
        get(admin.flush());
        for (Step step : Step.values()) {
            assertThat(get(admin.usage(budget.id, now.minusSeconds(60), now.plusSeconds(60), step, Admin.By.KIND)))
                    .extracting(row -> row.name() + " " + row.rejections() + " " + row.requests())
                    .containsExactly("input 2 0", "overload 1 0");
        }
    }

    @Test
    void moneyIsCountedByThePricesOfThePolicy() {
        get(admin.install(
                Policy.parse(Budget.policy(budget.id, LIMITS).toJson().replaceFirst("\\{", """
                        {"prices": {"m-*": {"input": 3, "output": 15.5}},""")), null, "ann", false));
        budget.take().settle(new Usage(100, 0, 0, 3));
        get(admin.flush());
        Instant now = Instant.now();
        assertThat(get(admin.usage(budget.id, now.minusSeconds(60), now.plusSeconds(60), Step.HOUR, Admin.By.MODEL)))
                .singleElement()
                .satisfies(row -> assertThat(row.microUsd()).isEqualTo(347)); // 300 + 46.5, rounded
    }

    // ---- events

    @Test
    void eventsResumeAfterTheLastThatWasSeen() {
        get(admin.flush());
        Optional<Admin.Event> newest =
                get(admin.events(budget.id, "$", 10)).stream().findFirst();
        Budget.take(budget.project, Budget.CALL.id("one")).settle(new Usage(1, 0, 0, 1));
        get(admin.flush());
        List<Admin.Event> news =
                get(admin.events(budget.id, newest.map(Admin.Event::id).orElse(null), 10));
        assertThat(news).extracting(Admin.Event::type).containsOnly("permit");
        assertThat(news).extracting(Admin.Event::data).allMatch(data -> data.contains("\"id\":\"one\""));
        assertThat(get(admin.events(budget.id, news.get(0).id(), 10))).isEqualTo(news.subList(1, news.size()));
        assertThatThrownBy(() -> admin.events(budget.id, "x", 10)).isInstanceOf(IllegalArgumentException.class);
    }
}
