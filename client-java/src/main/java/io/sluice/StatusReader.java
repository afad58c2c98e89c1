package io.sluice;

import io.sluice.Records.Level;
import io.sluice.Records.Page;
import io.sluice.Records.Runs;
import io.sluice.Records.Standing;
import io.sluice.Records.UsedRow;
import io.sluice.Records.Waits;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/** Puts together how a project stands: of what Redis tells in parts, each bounded. */
final class StatusReader {
    private static final int MOST_SCOPES = 1_000;
    private static final long QUIET_US = TimeUnit.HOURS.toMicros(1);

    /** Of waiters and of permits: what is looked through is bounded as well as what is told. */
    private static final int MOST_PAGES = 20;

    /** What one run of a script attends to of what is due, and how many of them one reading may cost. */
    private static final long EXPIRED_AT_ONCE = 32;

    private static final long MOST_RUNS = 32;

    /** Who only looks. */
    private static final String LOOKS = "-";

    private final Store store;
    private final Records records;
    private final String project;
    private final PolicyView view;

    StatusReader(Store store, String project, PolicyView view) {
        this.store = store;
        this.records = store.records();
        this.project = project;
        this.view = view;
    }

    private record Parts(
            Standing standing,
            List<Waits> waits,
            List<Runs> runs,
            List<Records.Held> holds,
            List<Records.Said> said,
            List<UsedRow> seen,
            Map<String, Long> counters) {}

    /** @param mode what the store does not know of it */
    CompletionStage<Status> read(boolean degraded, Function<Standing, CompletionStage<String>> mode) {
        List<String> names = view.policy.scopes().stream()
                .map(ScopeLimits::scope)
                .filter(scope -> !scope.endsWith(":"))
                .limit(MOST_SCOPES)
                .toList();
        return records.scopes(project, names)
                .thenCompose(standing -> standing.due() == 0
                        ? CompletableFuture.completedStage(standing)
                        : attend(Math.min(MOST_RUNS, standing.due() / EXPIRED_AT_ONCE + 1))
                                .handle((done, refused) -> standing)
                                .thenCompose(done -> records.scopes(project, names)))
                .thenCompose(standing -> parts(standing)
                        .thenCombine(mode.apply(standing), (parts, word) -> status(parts, word, degraded)));
    }

    /**
     * What is due happens first: where no host of the project is left nobody else sees to it, and the slots of the dead would stand here
     * for ever. By the one script that makes nobody a host. Who may not run it is told what it may read.
     */
    private CompletionStage<Store.Observed> attend(long runs) {
        CompletionStage<Store.Observed> once = store.observe(new Store.Observations(project, LOOKS, List.of()));
        return runs > 1 ? once.thenCompose(done -> attend(runs - 1)) : once;
    }

    private CompletionStage<Parts> parts(Standing standing) {
        long hour = TimeUnit.MICROSECONDS.toHours(standing.nowUs());
        CompletionStage<List<Waits>> waits = standing.waiting() == 0
                ? CompletableFuture.completedStage(List.of())
                : pages(cursor -> records.waiting(project, cursor), standing.waiting());
        CompletionStage<List<Runs>> runs = pages(cursor -> records.running(project, cursor), usedOf(standing, "p"));
        CompletionStage<List<UsedRow>> seen = records.usage(project, "h", hour, "a")
                .thenCombine(records.usage(project, "h", hour - 1, "a"), StatusReader::newest);
        return waits.thenCompose(w -> runs.thenCompose(r -> seen.thenCompose(s -> records.holds(project)
                .thenCompose(h -> records.provider(project)
                        .thenCompose(p -> records.totals(project, List.of())
                                .thenApply(t -> new Parts(standing, w, r, h, p, s, t.counters())))))));
    }

    /** Pages until that many were found, or as many as are told, or there are no more. */
    private static <T> CompletionStage<List<T>> pages(Function<String, CompletionStage<Page<T>>> page, long wanted) {
        return more(page, Page.START, new ArrayList<>(), Math.min(wanted, Admin.MOST_NAMED), MOST_PAGES);
    }

    private static <T> CompletionStage<List<T>> more(
            Function<String, CompletionStage<Page<T>>> page, String cursor, List<T> found, long wanted, int left) {
        if (found.size() >= wanted || left == 0) {
            return CompletableFuture.completedStage(found);
        }
        return page.apply(cursor).thenCompose(next -> {
            found.addAll(next.all());
            return next.next().equals(Page.START)
                    ? CompletableFuture.completedStage(found)
                    : more(page, next.next(), found, wanted, left - 1);
        });
    }

    private static List<UsedRow> newest(List<UsedRow> now, List<UsedRow> before) {
        Map<String, UsedRow> rows = new LinkedHashMap<>();
        now.forEach(row -> rows.put(row.name(), row));
        before.forEach(row -> rows.putIfAbsent(row.name(), row));
        return List.copyOf(rows.values());
    }

    private static long usedOf(Standing standing, String scope) {
        return standing.scopes().stream()
                .filter(one -> one.name().equals(scope))
                .findFirst()
                .map(Records.Scope::used)
                .orElse(0L);
    }

    private Status status(Parts parts, String mode, boolean degraded) {
        Map<String, Long> inFlight = new LinkedHashMap<>();
        List<Status.Limit> limits = new ArrayList<>();
        for (Records.Scope scope : parts.standing.scopes()) {
            inFlight.put(scope.name(), scope.used());
            addLimits(scope, limits);
        }
        List<Status.Agent> agents = agents(parts);
        return new Status(
                Store.version(parts.standing.stamp()),
                mode,
                degraded,
                limits,
                parts.said.stream().map(this::said).toList(),
                inTheirPlaces(parts).stream()
                        .limit(Admin.MOST_NAMED)
                        .sorted(Comparator.comparing(Status.Waiting::modelClass)
                                .thenComparing(Status.Waiting::priority)
                                .thenComparing(Status.Waiting::team)
                                .thenComparing(Status.Waiting::position))
                        .toList(),
                parts.standing.waiting(),
                agents.stream().limit(Admin.MOST_NAMED).toList(),
                agents.size(),
                parts.holds.stream()
                        .map(hold -> hold(hold, parts.standing.nowUs()))
                        .toList(),
                rejections(parts.counters),
                parts.standing.hosts(),
                inFlight);
    }

    private void addLimits(Records.Scope scope, List<Status.Limit> limits) {
        String slots = scope.name().startsWith("n:") ? LimitRules.AGENTS : "concurrency";
        if (scope.slots() != ScopeLimits.UNLIMITED) {
            double free = Math.max(0, scope.slots() - scope.used());
            limits.add(new Status.Limit(scope.name(), slots, scope.slots(), free, scope.slots(), scope.used(), 0));
        }
        for (Level level : scope.limits()) {
            double unit = level.unit();
            double capacity = level.capacity() / unit;
            limits.add(new Status.Limit(
                    scope.name(),
                    level.limit(),
                    amountOf(scope.name(), level.limit(), capacity),
                    level.level() / unit,
                    capacity,
                    scope.used(),
                    level.resetUs() < 0 ? -1 : toMs(level.resetUs())));
        }
    }

    private double amountOf(String scope, String limit, double otherwise) {
        return view.policy.spec().limitsOf(scope).stream()
                .filter(spec -> spec.name().equals(limit))
                .findFirst()
                .map(LimitSpec::amount)
                .map(BigDecimal::doubleValue)
                .orElse(otherwise);
    }

    private Status.Said said(Records.Said said) {
        double policy = amountOf(said.scope(), said.limit(), 0);
        Long amount = said.num() > 0 && said.den() > 0 ? (Long) Math.round(policy * said.num() / said.den()) : null;
        String modelClass = said.scope().startsWith("c:") ? said.scope().substring(2) : Policy.NO_NAME;
        return new Status.Said(
                modelClass,
                said.limit(),
                amount,
                said.left() < 0 ? null : (Long) said.left(),
                said.resetAtUs() < 0
                        ? null
                        : Duration.of(Math.max(0, said.resetAtUs() - said.seenUs()), ChronoUnit.MICROS),
                instant(said.seenUs()));
    }

    /** Where all are known a place is counted; of a part of them only Redis knows, nearly. */
    private static List<Status.Waiting> inTheirPlaces(Parts parts) {
        boolean all = parts.waits.size() >= parts.standing.waiting();
        Map<String, Long> places = new HashMap<>();
        return parts.waits.stream()
                .sorted(Comparator.comparingLong(Waits::arrival))
                .map(waits -> {
                    long place = places.merge(waits.modelClass() + "|" + waits.flow(), 1L, Long::sum);
                    return waiting(waits, all ? place : waits.why().position(), parts.standing.nowUs());
                })
                .toList();
    }

    private static Status.Waiting waiting(Waits waits, long position, long nowUs) {
        return new Status.Waiting(
                waits.id(),
                waits.agent(),
                teamOf(waits.flow()),
                priorityOf(waits.flow()),
                waits.modelClass(),
                waits.why().scope(),
                waits.why().limit(),
                position,
                toMs(Math.max(0, nowUs - waits.sinceUs())),
                toMs(waits.why().waitUs()),
                waits.host());
    }

    private static String teamOf(String flow) {
        return flow.substring(0, Math.max(0, flow.lastIndexOf('|')));
    }

    private static Priority priorityOf(String flow) {
        for (Priority priority : Priority.values()) {
            if (flow.endsWith("|" + priority.letter())) {
                return priority;
            }
        }
        return Priority.NORMAL;
    }

    /** Whoever calls, calls; whoever else waits, waits; whoever else was there lately is quiet. */
    private static List<Status.Agent> agents(Parts parts) {
        long now = parts.standing.nowUs();
        Map<String, Status.Agent> agents = new LinkedHashMap<>();
        Map<String, String> teams = new HashMap<>();
        parts.seen.forEach(row -> teams.put(row.name(), row.team()));
        parts.runs.stream()
                .sorted(Comparator.comparingLong(Runs::grantedUs))
                .forEach(run ->
                        add(agents, teams, run.agent(), run.flow(), Status.State.CALLING, now - run.grantedUs()));
        parts.waits.stream()
                .sorted(Comparator.comparingLong(Waits::sinceUs))
                .forEach(w -> add(agents, teams, w.agent(), w.flow(), Status.State.WAITING, now - w.sinceUs()));
        parts.seen.stream()
                .filter(row -> now - row.lastUs() < QUIET_US && !row.name().equals("other"))
                .sorted(Comparator.comparingLong(row -> -row.lastUs()))
                .forEach(row ->
                        add(agents, teams, row.name(), row.team() + "|", Status.State.QUIET, now - row.lastUs()));
        return List.copyOf(agents.values());
    }

    private static void add(
            Map<String, Status.Agent> agents,
            Map<String, String> teams,
            String agent,
            String flow,
            Status.State state,
            long sinceUs) {
        if (!agent.equals(Policy.NO_NAME)) {
            String team = teams.getOrDefault(agent, teamOf(flow));
            agents.putIfAbsent(agent, new Status.Agent(agent, team, state, toMs(Math.max(0, sinceUs))));
        }
    }

    private static Status.Hold hold(Records.Held hold, long nowUs) {
        Duration left = hold.opened()
                ? Duration.ZERO
                : hold.endUs() == Store.UNTIL_RELEASED
                        ? null
                        : Duration.of(Math.max(0, hold.endUs() - nowUs), ChronoUnit.MICROS);
        return new Status.Hold(hold.scope(), hold.kind(), left, hold.retryable(), instant(hold.sinceUs()), hold.note());
    }

    private static Map<String, Long> rejections(Map<String, Long> counters) {
        Map<String, Long> kinds = new TreeMap<>();
        counters.forEach((field, count) -> {
            String[] parts = field.split("\\|", -1);
            if (parts.length == 3 && parts[0].equals(CountingNames.REJECTIONS)) {
                kinds.merge(parts[2], count, Long::sum);
            }
        });
        return kinds;
    }

    static Instant instant(long us) {
        return Instant.EPOCH.plus(us, ChronoUnit.MICROS);
    }

    /** Rounded up: a wait is never told too short. */
    private static long toMs(long us) {
        return (us + 999) / 1_000;
    }
}
