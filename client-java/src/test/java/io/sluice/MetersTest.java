package io.sluice;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.sluice.Store.Answer;
import io.sluice.Store.Ask;
import io.sluice.Store.Beat;
import io.sluice.Store.Installation;
import io.sluice.Store.Installed;
import io.sluice.Store.Layout;
import io.sluice.Store.Settled;
import io.sluice.Store.Settlement;
import io.sluice.Store.StoredPolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What the client counts, under the names that dashboards rely on; against a store that says yes to everything. */
@Tag("contract")
class MetersTest {
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final SluiceClient client = new SluiceClient(new Generous(), Sluice.Options.DEFAULT.withMeters(registry));
    private final Project project = client.project("acme");

    /** Released, one without an end was shown for ever. */
    @Test
    void aHoldThatIsNoLongerToldOfIsOver() {
        Meters meters = new Meters(registry);
        Store.OnHold credits = new Store.OnHold("p", Store.UNTIL_RELEASED, "credits", false, "");
        Store.OnHold input = new Store.OnHold("c:m", 60_000_000, "input", true, "");

        meters.holds("acme", List.of(credits, input));
        meters.holds("other", List.of(credits));
        assertThat(held("acme", "p") + held("acme", "c:m") + held("other", "p")).isEqualTo(3);

        meters.holds("acme", List.of(input));
        assertThat(held("acme", "p")).isZero();
        assertThat(held("acme", "c:m") + held("other", "p")).isEqualTo(2);
    }

    private double held(String project, String scope) {
        return registry.get("sluice.hold")
                .tags("project", project, "scope", scope)
                .gauge()
                .value();
    }

    /** The first client's gauges stood for those of all that came after it, and kept it in memory. */
    @Test
    void gaugesOfAClientThatWasClosedMakeRoomForThoseOfTheNext() {
        Budget.take(project, Budget.CALL).cancel();
        client.meters.hold("acme", "p", 60_000_000);
        client.close();
        assertThat(registry.getMeters())
                .extracting(Meter::getId)
                .noneMatch(id -> id.getType() == Meter.Type.GAUGE)
                .anyMatch(id -> id.getName().equals("sluice.permits"));

        FakeStore out = new FakeStore();
        out.answers = false;
        try (SluiceClient next = new SluiceClient(out, Sluice.Options.DEFAULT.withMeters(registry))) {
            assertThat(registry.get("sluice.store.up").gauge().value()).isZero();
            next.meters.hold("acme", "p", 60_000_000);
            assertThat(held("acme", "p")).isEqualTo(1);
        }
    }

    @Test
    void gaugesOfAnotherClientStay() {
        new SluiceClient(new FakeStore(), Sluice.Options.DEFAULT.withMeters(registry)).close();
        assertThat(registry.get("sluice.store.up").gauge().value()).isEqualTo(1);
        assertThat(registry.get("sluice.in.flight")
                        .tag("project", "acme")
                        .gauge()
                        .value())
                .isZero();
    }

    @Test
    void everyMeterHasItsNameAndLabels() {
        Budget.take(project, Budget.CALL).settle(new Usage(1L, 2L, 3L, null));
        Budget.take(project, Budget.CALL)
                .throttled(new Rejection(Rejection.Kind.INPUT, Rejection.Scope.CLASS, true, null));
        Budget.take(project, Budget.CALL).cancel();
        Budget.refusal(project, Call.of("unknown"));

        Set<String> meters = new TreeSet<>();
        for (Meter meter : registry.getMeters()) {
            Set<String> keys = new TreeSet<>();
            meter.getId().getTags().forEach(tag -> keys.add(tag.getKey()));
            meters.add(meter.getId().getName() + keys);
        }
        assertThat(meters)
                .contains(
                        "sluice.permits[class, outcome, project]",
                        "sluice.wait[class, project, team]",
                        "sluice.in.flight[project, scope]",
                        "sluice.waiters[class, project]",
                        "sluice.rejections[class, kind, project]",
                        "sluice.tokens[class, project, type]",
                        "sluice.usage.missing[]",
                        "sluice.observations.dropped[project]",
                        "sluice.shadow[class, limit, project]",
                        "sluice.store.up[]",
                        "sluice.script[script]");
        assertThat(outcome("granted")).isEqualTo(3);
        assertThat(outcome("settled")).isEqualTo(1);
        assertThat(outcome("throttled")).isEqualTo(1);
        assertThat(outcome("cancelled")).isEqualTo(1);
        assertThat(registry.counter("sluice.permits", "project", "acme", "class", "unknown", "outcome", "refused")
                        .count())
                .isEqualTo(1);
        assertThat(registry.counter("sluice.tokens", "project", "acme", "class", "m", "type", "cache_read")
                        .count())
                .isEqualTo(2);
    }

    /** Names that callers make up must not become time series. */
    @Test
    void aTeamThatThePolicyDoesNotListIsOther() {
        for (String team : List.of("research", "made-up-1", "made-up-2")) {
            Budget.take(project, Budget.CALL.team(team)).cancel();
        }
        Budget.take(project, Budget.CALL).cancel();

        assertThat(registry.find("sluice.wait").timers())
                .extracting(timer -> timer.getId().getTag("team") + " " + timer.count())
                .containsExactlyInAnyOrder("research 1", "other 3");
    }

    @Test
    void aRejectionToldTwiceCountsOnce() {
        Permit permit = Budget.take(project, Budget.CALL);
        Rejection rejection = new Rejection(Rejection.Kind.INPUT, Rejection.Scope.CLASS, true, null);
        permit.throttled(rejection);
        permit.throttled(rejection);

        assertThat(registry.counter("sluice.rejections", "project", "acme", "class", "m", "kind", "input")
                        .count())
                .isEqualTo(1);
    }

    @Test
    void whatAPolicyThatOnlyWatchesWouldHaveHeldBackIsCountedByItsLimit() {
        Permit permit = Budget.take(project, Budget.CALL);

        assertThat(permit.wouldHaveWaited()).contains(new Permit.Shadow("c:m", "rpm", Optional.empty(), true));
        assertThat(registry.counter("sluice.shadow", "project", "acme", "class", "m", "limit", "rpm")
                        .count())
                .isEqualTo(1);
    }

    private double outcome(String outcome) {
        return registry.counter("sluice.permits", "project", "acme", "class", "m", "outcome", outcome)
                .count();
    }

    /** Grants everything and keeps nothing. */
    private static final class Generous implements Store {
        private BiConsumer<String, Duration> times = (script, took) -> {};

        private static final Policy POLICY = Policy.parse("""
                project: acme
                provider: generic
                outage: fail-closed
                classes:
                  - {name: m, models: ["m-*"], max_output: 100, limits: {rpm: 60}}
                teams: [{name: research}]
                """);

        @Override
        public void timed(BiConsumer<String, Duration> listener) {
            times = listener;
        }

        @Override
        public CompletionStage<Answer> acquire(Ask ask) {
            times.accept("acquire", Duration.ofMillis(1));
            return CompletableFuture.completedStage(new Answer.Granted(
                    ask.permit().nonce(), ask.leaseUs(), 1, ask.memo(), false, new Shadow(FOREVER, 0, "c:m", "rpm")));
        }

        @Override
        public CompletionStage<Settled> settle(Settlement it) {
            return CompletableFuture.completedStage(new Settled.Ended(it.how(), false, it.memo()));
        }

        @Override
        public Records records() {
            return new NoRecords();
        }

        @Override
        public CompletionStage<Beat> beat(BeatAsk ask) {
            return CompletableFuture.failedStage(new OutageException("timeout", "not here", null));
        }

        @Override
        public CompletionStage<Observed> observe(Observations it) {
            return CompletableFuture.failedStage(new OutageException("timeout", "not here", null));
        }

        @Override
        public CompletionStage<Found> find(String project, String id) {
            return CompletableFuture.completedStage(new Found.Nobody());
        }

        @Override
        public CompletionStage<List<Learned>> learned(String project) {
            return CompletableFuture.completedStage(List.of());
        }

        @Override
        public CompletionStage<Installed> install(Installation it) {
            return CompletableFuture.completedStage(new Installed.Done("1:a", true));
        }

        @Override
        public CompletionStage<StoredPolicy> policy(String project) {
            List<Layout> layouts = new ArrayList<>();
            for (ScopeLimits scope : POLICY.scopes()) {
                List<String> names =
                        scope.refills().stream().map(RefillLimit::name).toList();
                layouts.add(new Layout(
                        scope.scope(), names, names.stream().map(name -> true).toList()));
            }
            return CompletableFuture.completedStage(new StoredPolicy("1:a", POLICY.toJson(), layouts));
        }

        @Override
        public CompletionStage<Boolean> check(String project, String host) {
            return CompletableFuture.completedStage(true);
        }

        @Override
        public CompletionStage<Hosts> hosts(String project, String host) {
            return CompletableFuture.completedStage(new Hosts(1, 0));
        }

        @Override
        public AutoCloseable listen(String project, String host, Consumer<List<String>> granted) {
            return () -> {};
        }

        @Override
        public boolean mustNotBlock() {
            return false;
        }

        @Override
        public boolean answers() {
            return true;
        }

        @Override
        public void close() {}
    }
}
