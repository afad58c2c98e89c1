package io.sluice.redis;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisException;
import io.netty.util.concurrent.FastThreadLocalThread;
import io.sluice.OutageException;
import io.sluice.Records;
import io.sluice.Sluice.Options;
import io.sluice.Store;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.scheduler.NonBlocking;

/** The budgets in a Redis (7.0 or newer, or Valkey 7.2): a single node, a Sentinel set or a cluster. */
public final class RedisStore implements Store {
    private static final Logger log = LoggerFactory.getLogger(RedisStore.class);
    private static final Pattern VERSION = Pattern.compile("redis_version:(\\d+)\\.(\\d+)");

    private static final Duration PROBE = Duration.ofMillis(100);

    private final Connection connection;
    private final ScriptRunner scripts;
    private final Rights rights;
    private final Messages messages;
    private final Breaker breaker = new Breaker(System::nanoTime);
    /** Of projects that are there: what callers make up must not stay. */
    private final Map<String, Keys> keys = new ConcurrentHashMap<>();

    private final RedisRecords records;

    /** Of the project whose command failed last: where the next probe goes. */
    private volatile Keys failing = Keys.of("");

    private volatile BiConsumer<String, Duration> times = (script, took) -> {};

    private volatile boolean closed;

    private RedisStore(Connection connection, Options options) {
        this.connection = connection;
        this.scripts =
                new ScriptRunner(connection.commands(), options.commandTimeout().multipliedBy(8));
        this.rights = new Rights(scripts);
        this.messages = new Messages(connection.messages());
        this.records = new RedisRecords(this, connection.commands());
    }

    static RedisStore open(String uri, Options options) {
        String shown = Address.of(uri).toString(); // masks the password
        RedisStore store = connect(uri, shown, options);
        try {
            store.checkServer(shown);
            return store;
        } catch (RuntimeException e) {
            store.close();
            OutageException outage = Outages.of(e);
            throw new OutageException(
                    outage.reason(), "Redis at " + shown + " is not fit for use: " + outage.getMessage(), e);
        }
    }

    private static RedisStore connect(String uri, String shown, Options options) {
        try {
            return new RedisStore(Connection.open(uri, options), options);
        } catch (RedisException e) {
            Throwable root = Outages.root(e);
            // A "no" (a wrong password, none where one is asked for) is told as what it is.
            String reason = root instanceof RedisCommandExecutionException
                    ? Outages.of(root).reason()
                    : "disconnected";
            throw new OutageException(reason, "no Redis at " + shown + ": " + root.getMessage(), e);
        }
    }

    private void checkServer(String shown) {
        String info = Connection.atStart(() -> connection.commands().info());
        Matcher version = VERSION.matcher(info);
        if (!version.find() || Integer.parseInt(version.group(1)) < 7) {
            throw new OutageException("old", "it is older than 7.0, scripts need 7.0 or newer", null);
        }
        if (info.contains("maxmemory_policy:") && !info.contains("maxmemory_policy:noeviction")) {
            log.warn(
                    "Redis at {} may evict keys (maxmemory-policy is not noeviction): budgets can vanish under memory pressure",
                    shown);
        }
        for (Script script : Script.values()) {
            Connection.atStart(() -> connection.commands().scriptLoad(script.text()));
        }
    }

    @Override
    public CompletionStage<Answer> acquire(Ask ask) {
        return run(Script.ACQUIRE, ask.project(), Arguments.of(ask), Replies::answer);
    }

    @Override
    public CompletionStage<Settled> settle(Settlement settlement) {
        return run(Script.SETTLE, settlement.project(), Arguments.of(settlement), Replies::settled);
    }

    @Override
    public CompletionStage<Beat> beat(BeatAsk ask) {
        return run(Script.BEAT, ask.project(), Arguments.of(ask), reply -> BeatReply.read(reply, ask));
    }

    @Override
    public CompletionStage<Observed> observe(Observations observations) {
        return run(
                Script.OBSERVE,
                observations.project(),
                Arguments.of(observations),
                reply -> ObserveReply.read(reply, observations.all()));
    }

    @Override
    public CompletionStage<Found> find(String project, String id) {
        return run(Script.INSPECT, project, List.of("", "call", id), FoundReply::read);
    }

    @Override
    public CompletionStage<List<Learned>> learned(String project) {
        return run(Script.INSPECT, project, List.of("", "learned"), ObserveReply::learned);
    }

    @Override
    public CompletionStage<Installed> install(Installation it) {
        byte[] epoch = new byte[8];
        new SecureRandom().nextBytes(epoch);
        List<String> arguments = Arguments.of(it, HexFormat.of().formatHex(epoch));
        return run(Script.POLICY, it.project(), arguments, Replies::installed);
    }

    @Override
    public CompletionStage<@Nullable StoredPolicy> policy(String project) {
        Keys its = keysOf(project);
        return run(Script.INSPECT, its, List.of("", "policy"), Replies::policy).thenApply(stored -> {
            if (stored == null) {
                forget(project);
            } else {
                keys.putIfAbsent(project, its);
            }
            return stored;
        });
    }

    @Override
    public CompletionStage<Boolean> check(String project, String host) {
        return rights.check(keysOf(project), Rights.Role.AGENT).handle((ok, e) -> {
            OutageException outage = e == null ? null : Outages.of(e);
            if (outage != null && outage.reason().equals("noperm")) {
                throw outage;
            }
            return outage == null;
        });
    }

    @Override
    public CompletionStage<Hosts> hosts(String project, String host) {
        return run(Script.INSPECT, project, List.of("", "hosts", host), Replies::hosts);
    }

    @Override
    public AutoCloseable listen(String project, String host, Consumer<List<String>> granted) {
        // Early, so that an operator hears of what is missing before the first call does.
        rights.check(keysOf(project), Rights.Role.AGENT).exceptionally(e -> {
            log.error("project {}: {}", project, Outages.of(e).getMessage());
            return null;
        });
        return messages.listen(keysOf(project).hints(host), message -> granted.accept(Messages.granted(message)));
    }

    @Override
    public boolean mustNotBlock() {
        Thread thread = Thread.currentThread();
        return thread instanceof FastThreadLocalThread || thread instanceof NonBlocking;
    }

    @Override
    public void timed(BiConsumer<String, Duration> listener) {
        times = listener;
    }

    @Override
    public boolean answers() {
        return !breaker.isOpen();
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            connection.close();
        }
    }

    @Override
    public Records records() {
        return records;
    }

    Keys keysOf(String project) {
        Keys known = keys.get(project);
        return known == null ? Keys.of(project) : known;
    }

    /** There is no such project. */
    void forget(String project) {
        keys.remove(project);
    }

    /** Of how many projects keys are kept. */
    int kept() {
        return keys.size();
    }

    <T extends @Nullable Object> CompletionStage<T> run(
            Script script, String project, List<String> arguments, Function<List<Object>, T> decode) {
        return run(script, keysOf(project), arguments, decode);
    }

    <T extends @Nullable Object> CompletionStage<T> run(
            Script script, Keys keys, List<String> arguments, Function<List<Object>, T> decode) {
        // A call that asks must not be the probe: it would pay for it with a time-out.
        if (script == Script.ACQUIRE ? breaker.isOpen() : !breaker.allows()) {
            return CompletableFuture.failedStage(
                    new OutageException("breaker", "Redis did not answer lately and is not asked now", null));
        }
        long begun = breaker.now();
        return allowed(script, keys, arguments).handle((reply, thrown) -> {
            times.accept(script.label(), Duration.ofNanos(breaker.now() - begun));
            if (thrown == null) {
                answered();
                return decode.apply(reply);
            }
            OutageException outage = Outages.of(thrown);
            if (Outages.isNoAnswer(outage)) {
                failed(keys, outage, begun);
            } else {
                answered();
            }
            throw outage;
        });
    }

    /** Scripts that write are stopped half way by what their user may not do, so that is asked first. */
    private CompletionStage<List<Object>> allowed(Script script, Keys keys, List<String> arguments) {
        Rights.Role role = Rights.Role.of(script);
        if (role == null) {
            return sent(script, keys, arguments);
        }
        CompletionStage<List<Object>> reply = role == Rights.Role.INSPECT
                ? sent(script, keys, arguments)
                : rights.check(keys, role).thenCompose(yes -> sent(script, keys, arguments));
        return reply.exceptionallyCompose(e -> rights.explained(keys, role, e));
    }

    /** What the driver refuses to send fails like what it could not send. */
    private CompletionStage<List<Object>> sent(Script script, Keys keys, List<String> arguments) {
        try {
            return scripts.run(script, keys, arguments.toArray(String[]::new));
        } catch (RuntimeException e) {
            return CompletableFuture.failedStage(e);
        }
    }

    private void answered() {
        if (breaker.succeeded()) {
            log.debug("Redis answers again");
        }
    }

    private void failed(Keys keys, OutageException outage, long begun) {
        failing = keys;
        if (breaker.failed(begun)) {
            // Each project in use says what that means for it.
            log.debug("Redis is out ({}): {}", outage.reason(), outage.getMessage());
            probeLater();
        }
    }

    /** While nobody is asked somebody must ask, until there is an answer. */
    private void probeLater() {
        CompletableFuture.delayedExecutor(PROBE.toMillis(), TimeUnit.MILLISECONDS)
                .execute(() -> {
                    if (!closed && breaker.isOpen()) {
                        run(Script.INSPECT, failing.eight(), List.of("", "hosts", ""), Replies::hosts)
                                .whenComplete((hosts, e) -> probeLater());
                    }
                });
    }
}
