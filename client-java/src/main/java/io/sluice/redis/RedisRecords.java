package io.sluice.redis;

import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.sluice.AdminException;
import io.sluice.OutageException;
import io.sluice.Records;
import io.sluice.Store;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What is told and kept in Redis. Knows which keys hold it; {@link RedisStore} runs the scripts. */
final class RedisRecords implements Records {
    private static final Logger log = LoggerFactory.getLogger(RedisRecords.class);
    private static final long HOUR_US = TimeUnit.HOURS.toMicros(1);
    private static final long DAY_US = TimeUnit.DAYS.toMicros(1);

    /** As tally.lua keeps them, and one for a clock that is ahead. */
    private static final int HOURS = 35 * 24 + 1;

    private static final int DAYS = 400 + 1;

    /** A tally that always meets another hour meets a clock that jumps. */
    private static final int TRIES = 3;

    private final RedisStore store;
    private final RedisClusterAsyncCommands<String, String> commands;

    /** What the clock of Redis is ahead of ours, in us: only a guess, for the names of keys. */
    private volatile long aheadUs;

    private volatile boolean warned;

    RedisRecords(RedisStore store, RedisClusterAsyncCommands<String, String> commands) {
        this.store = store;
        this.commands = commands;
    }

    // ---- how a project stands

    @Override
    public CompletionStage<Standing> scopes(String project, List<String> names) {
        List<String> arguments = new ArrayList<>(List.of("", "scopes"));
        arguments.addAll(names);
        return store.run(Script.STATUS, project, arguments, RecordsReply::standing);
    }

    @Override
    public CompletionStage<Page<Waits>> waiting(String project, String cursor) {
        return store.run(Script.STATUS, project, List.of("", "waiters", cursor), RecordsReply::waiting);
    }

    @Override
    public CompletionStage<Page<Runs>> running(String project, String cursor) {
        return store.run(Script.STATUS, project, List.of("", "running", cursor), RecordsReply::running);
    }

    @Override
    public CompletionStage<List<Held>> holds(String project) {
        return inspect(project, RecordsReply::holds, "holds");
    }

    @Override
    public CompletionStage<List<Said>> provider(String project) {
        return inspect(project, RecordsReply::provider, "provider");
    }

    @Override
    public CompletionStage<List<Kept>> versions(String project) {
        return inspect(project, RecordsReply::versions, "versions");
    }

    @Override
    public CompletionStage<Optional<String>> version(String project, long version) {
        return inspect(project, RecordsReply::version, "version", Long.toString(version));
    }

    private <T> CompletionStage<T> inspect(String project, Function<List<Object>, T> decode, String... what) {
        List<String> arguments = new ArrayList<>(List.of(""));
        arguments.addAll(List.of(what));
        return store.run(Script.INSPECT, project, arguments, decode);
    }

    // ---- which projects there are

    @Override
    public CompletionStage<Map<String, Long>> projects() {
        return answer(() -> commands.hgetall(Keys.PROJECTS)).thenApply(all -> {
            Map<String, Long> present = new HashMap<>();
            all.forEach((project, version) -> {
                if (!version.startsWith("-")) {
                    present.put(project, Long.parseLong(version));
                }
            });
            return present;
        });
    }

    @Override
    public CompletionStage<Void> writable() {
        return store.run(Script.INDEX, Keys.INDEX, List.of("ask"), reply -> done(Script.INDEX, reply));
    }

    @Override
    public CompletionStage<Void> present(String project, long version) {
        return indexed(List.of("put", project, Long.toString(version)));
    }

    /** The project stands without it: who may not write the index is told so once. */
    private CompletionStage<Void> indexed(List<String> arguments) {
        return store.run(Script.INDEX, Keys.INDEX, arguments, reply -> done(Script.INDEX, reply))
                .exceptionally(e -> {
                    OutageException outage = Outages.of(e);
                    if (!outage.reason().equals("noperm")) {
                        throw outage;
                    }
                    if (!warned) {
                        warned = true;
                        log.warn(
                                "the Redis user may not write {}: projects it installs are missing in lists",
                                Keys.PROJECTS);
                    }
                    return null;
                });
    }

    private static @Nullable Void done(Script script, List<Object> reply) {
        Replies r = new Replies(script, reply);
        if (!r.code().equals("done")) {
            throw r.bad();
        }
        return null;
    }

    @Override
    public CompletionStage<Boolean> wasRemoved(String project) {
        return answer(() -> commands.hget(Keys.PROJECTS, project)).handle((version, e) -> {
            OutageException outage = e == null ? null : Outages.of(e);
            // Who may not read the index goes without it; who could not must ask again.
            if (outage != null && !outage.reason().equals("noperm")) {
                throw outage;
            }
            return version != null && version.startsWith("-");
        });
    }

    private <T extends @Nullable Object> CompletionStage<T> answer(Supplier<CompletionStage<T>> command) {
        CompletionStage<T> sent;
        try {
            sent = command.get();
        } catch (RuntimeException e) {
            sent = CompletableFuture.failedStage(e);
        }
        return sent.handle((reply, e) -> {
            if (e != null) {
                throw Outages.of(e);
            }
            return reply;
        });
    }

    @Override
    public CompletionStage<OptionalLong> remove(String project, @Nullable Long expected, @Nullable String epoch) {
        long nowUs = nowUs();
        Keys keys = store.keysOf(project);
        List<String> names = new ArrayList<>(List.of(keys.all()));
        names.addAll(keys.told(nowUs / HOUR_US - HOURS + 2, HOURS, nowUs / DAY_US - DAYS + 2, DAYS));
        String version = expected == null ? "" : expected.toString();
        return store.run(Script.REMOVE, keys.with(names), List.of(epoch == null ? "" : epoch, version), reply -> {
                    Replies r = new Replies(Script.REMOVE, reply);
                    return switch (r.code()) {
                        case "other" ->
                            throw new OutageException(
                                    "no_project", "another project is called " + project + " by now", null);
                        case "mismatch" -> throw AdminException.mismatch(Store.version(r.text(1)), version);
                        case "live" -> OptionalLong.of(r.positive(1));
                        case "removed", "none" -> OptionalLong.empty();
                        default -> throw r.bad();
                    };
                })
                .thenCompose(live -> live.isPresent()
                        ? CompletableFuture.completedStage(live)
                        : indexed(List.of("removed", project)).thenApply(done -> {
                            store.forget(project);
                            return live;
                        }));
    }

    // ---- what was told

    @Override
    public CompletionStage<Heard> tally(Tally tally) {
        return tally(tally, 1);
    }

    private CompletionStage<Heard> tally(Tally tally, int attempt) {
        long nowUs = nowUs();
        long hour = nowUs / HOUR_US;
        long day = nowUs / DAY_US;
        Keys keys = store.keysOf(tally.project());
        return store.run(Script.TALLY, keys.tally(hour, day), TallyArguments.of(tally, hour, day), reply -> {
                    Replies r = new Replies(Script.TALLY, reply);
                    switch (r.code()) {
                        case "told", "known" -> {
                            return Optional.of(Heard.YES);
                        }
                        case "hour" -> {
                            aheadUs = r.positive(1) - ownUs();
                            return Optional.<Heard>empty();
                        }
                        case "lost" -> {
                            return Optional.of(Heard.LOST);
                        }
                        default -> throw r.bad();
                    }
                })
                .thenCompose(heard -> {
                    if (heard.isPresent()) {
                        return CompletableFuture.completedStage(heard.get());
                    }
                    return attempt < TRIES
                            ? tally(tally, attempt + 1)
                            : CompletableFuture.failedStage(
                                    new OutageException("bad_reply", "Redis's clock jumps", null));
                });
    }

    @Override
    public CompletionStage<Totals> totals(String project, List<String> classes) {
        List<String> arguments = new ArrayList<>(List.of("counters"));
        arguments.addAll(classes);
        return told(project, arguments, RecordsReply::totals);
    }

    @Override
    public CompletionStage<List<UsedRow>> usage(String project, String step, long number, String kind) {
        Keys keys = store.keysOf(project).ofUsage(step, number);
        return store.run(Script.TOLD, keys, List.of("usage", kind), RecordsReply::usage);
    }

    @Override
    public CompletionStage<List<Event>> events(String project, @Nullable String after, int most) {
        return told(
                project, List.of("events", after == null ? "" : after, Integer.toString(most)), RecordsReply::events);
    }

    private <T> CompletionStage<T> told(String project, List<String> arguments, Function<List<Object>, T> decode) {
        return store.run(Script.TOLD, store.keysOf(project).told(), arguments, decode);
    }

    private long nowUs() {
        return ownUs() + aheadUs;
    }

    private static long ownUs() {
        return TimeUnit.MILLISECONDS.toMicros(System.currentTimeMillis());
    }
}
