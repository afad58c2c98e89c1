package io.sluice;

import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** What operators ask of this process's client: checked here, done elsewhere. */
final class AdminClient implements Admin {
    private static final Pattern EVENT_ID = Pattern.compile("\\d{1,20}(-\\d{1,20})?|\\$");
    private static final int WHO = 128;
    private static final int REASON = 256;

    private final SluiceClient client;

    AdminClient(SluiceClient client) {
        this.client = client;
    }

    @Override
    public CompletionStage<Void> writable() {
        return answer(records().writable());
    }

    // ---- policies

    @Override
    public CompletionStage<List<Listed>> projects() {
        return answer(client.listed()
                .thenApply(all -> all.entrySet().stream()
                        .map(one -> new Listed(one.getKey(), one.getValue()))
                        .sorted(Comparator.comparing(Listed::project))
                        .toList()));
    }

    @Override
    public CompletionStage<Sluice.Installed> installed(String project) {
        return answer(client.known(project)
                .thenCompose(ProjectClient::policy)
                .thenApply(view -> new Sluice.Installed(Store.version(view.stamp), view.policy)));
    }

    @Override
    public CompletionStage<Change> install(Policy policy, @Nullable Long expected, String who, boolean dryRun) {
        line("who", who, WHO);
        if (expected != null && expected < 0) {
            throw new IllegalArgumentException("expected must be 0 or more, got " + expected);
        }
        return answer(inForce(policy.project()).thenCompose(before -> {
            Policy known = before.map(view -> view.policy).orElse(null);
            long version = before.map(view -> Store.version(view.stamp)).orElse(0L);
            boolean same = known != null && known.toJson().equals(policy.toJson());
            if (dryRun) {
                if (expected != null && expected != version) {
                    throw AdminException.mismatch(version, Long.toString(expected));
                }
                return CompletableFuture.completedStage(change(known, policy, same ? version : version + 1, same));
            }
            return client.client(policy.project())
                    .install(policy, expected, who, false)
                    .thenApply(done -> change(known, policy, Store.version(done.stamp()), !done.changed()));
        }));
    }

    private static Change change(@Nullable Policy before, Policy policy, long version, boolean same) {
        return new Change(version, same, same ? List.of() : PolicyDiff.between(before, policy), policy.warnings());
    }

    /** The policy in force, if there is one. */
    private CompletionStage<Optional<PolicyView>> inForce(String project) {
        return client.known(project)
                .thenCompose(ProjectClient::policy)
                .thenApply(Optional::of)
                .exceptionally(e -> {
                    if (Blocking.cause(e) instanceof OutageException outage
                            && outage.reason().equals("no_project")) {
                        return Optional.empty();
                    }
                    throw Blocking.unwrapped(new RuntimeException(e));
                });
    }

    @Override
    public CompletionStage<List<Version>> versions(String project) {
        return answer(client.known(project)
                .thenCompose(ProjectClient::policy)
                .thenCompose(view -> records().versions(project))
                .thenApply(all -> all.stream()
                        .map(kept -> new Version(
                                kept.version(),
                                StatusReader.instant(kept.atUs()),
                                Installer.who(kept.note()),
                                kept.digest()))
                        .toList()));
    }

    @Override
    public CompletionStage<Optional<Policy>> version(String project, long version) {
        return answer(client.known(project)
                .thenCompose(ProjectClient::policy)
                .thenCompose(view -> records().version(project, version))
                .thenApply(text -> text.map(Policy::parse)));
    }

    @Override
    public CompletionStage<Change> rollback(String project, long to, @Nullable Long expected, String who) {
        return answer(version(project, to)
                .thenCompose(policy -> install(
                        policy.orElseThrow(() -> new AdminException(
                                AdminException.Kind.UNKNOWN_VERSION,
                                0,
                                "version " + to + " of project " + project + " is not kept")),
                        expected,
                        who,
                        false)));
    }

    @Override
    public CompletionStage<Boolean> remove(String project, boolean drain, @Nullable Long expected, String who) {
        line("who", who, WHO);
        return answer(client.known(project).thenCompose(one -> one.removal.remove(drain, expected, who)));
    }

    // ---- orders

    @Override
    public CompletionStage<Double> level(
            String project, String scope, String limit, double to, String who, String reason) {
        line("who", who, WHO);
        line("reason", reason, REASON);
        return answer(client.known(project)
                .thenCompose(one -> new Orders(one)
                        .level(scope, limit, to)
                        .thenCompose(before -> one.counting
                                .corrected(scope, limit, before, to, who, reason)
                                .thenApply(told -> before))));
    }

    @Override
    public CompletionStage<Optional<Duration>> hold(
            String project, String scope, @Nullable Duration length, String who, String reason) {
        line("who", who, WHO);
        return answer(client.known(project).thenCompose(one -> new Orders(one).hold(scope, length, who, reason)));
    }

    @Override
    public CompletionStage<Boolean> release(String project, @Nullable String scope, String who) {
        line("who", who, WHO);
        return answer(client.known(project).thenCompose(one -> new Orders(one).release(scope, who)));
    }

    // ---- what there is

    @Override
    public CompletionStage<Status> status(String project) {
        return answer(client.known(project)
                .thenCompose(one -> one.policy()
                        .thenCompose(view -> new StatusReader(client.store, project, view)
                                .read(one.isDegraded(), one.removal::mode))));
    }

    @Override
    public CompletionStage<List<Used>> usage(String project, Instant from, Instant to, Step step, By by) {
        UsageSpan span = UsageSpan.of(from, to, step);
        return answer(of(project, view -> span.read(records(), project, by)));
    }

    @Override
    public CompletionStage<Counters> counters(String project) {
        return answer(of(project, view -> {
            List<String> classes =
                    view.policy.spec().classes().stream().map(ModelClass::name).toList();
            return records().totals(project, classes).thenApply(totals -> CountersReader.read(totals, classes));
        }));
    }

    @Override
    public CompletionStage<List<Event>> events(String project, @Nullable String afterId, int most) {
        if (afterId != null && !EVENT_ID.matcher(afterId).matches()) {
            throw new IllegalArgumentException("no id of an event: '" + Names.shown(afterId) + "'");
        }
        if (most < 1 || most > MOST_EVENTS) {
            throw new IllegalArgumentException("most must be 1 to " + MOST_EVENTS + ", got " + most);
        }
        return answer(of(project, view -> records().events(project, afterId, most))
                .thenApply(all -> all.stream()
                        .map(event -> new Event(event.id(), at(event.id()), event.type(), event.data()))
                        .toList()));
    }

    private static Instant at(String id) {
        return Instant.ofEpochMilli(Long.parseLong(id.substring(0, id.indexOf('-'))));
    }

    @Override
    public CompletionStage<Void> flush() {
        return answer(client.flush());
    }

    /** Asked with the policy that is known here; if the project turns out to be gone and is not put back, that is what is said. */
    private <T> CompletionStage<T> of(String id, Function<PolicyView, CompletionStage<T>> ask) {
        return client.known(id).thenCompose(project -> of(project, ask));
    }

    private static <T> CompletionStage<T> of(ProjectClient project, Function<PolicyView, CompletionStage<T>> ask) {
        return project.knownPolicy().thenCompose(ask).exceptionallyCompose(e -> {
            Throwable cause = Blocking.cause(e);
            boolean lost =
                    cause instanceof OutageException outage && outage.reason().equals("lost_state");
            return lost ? project.policy().thenCompose(ask) : CompletableFuture.failedStage(cause);
        });
    }

    private Records records() {
        return client.store.records();
    }

    /** On threads that may block, as users get everything. */
    private <T> CompletionStage<T> answer(CompletionStage<T> ours) {
        return client.handOver(ours);
    }

    private static void line(String what, String text, int most) {
        if (text.isBlank() || text.length() > most || text.chars().anyMatch(Character::isISOControl)) {
            throw new IllegalArgumentException(
                    what + " must be 1 to " + most + " characters of one line, got '" + Names.shown(text) + "'");
        }
    }
}
