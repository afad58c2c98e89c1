package io.sluice.redis;

import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.netty.util.concurrent.FastThreadLocalThread;
import io.sluice.OutageException;
import io.sluice.RefillLimit;
import io.sluice.ScopeLimits;
import io.sluice.Store;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
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
    private static final int GATE_SLOTS = 12;

    private final Connection connection;
    private final ScriptRunner scripts;
    private final Messages messages;
    private final Breaker breaker = new Breaker(System::nanoTime);
    private final Map<String, Keys> keys = new ConcurrentHashMap<>();

    private RedisStore(Connection connection) {
        this.connection = connection;
        this.scripts = new ScriptRunner(connection.commands(), Connection.COMMAND_TIMEOUT.multipliedBy(8));
        this.messages = new Messages(connection.messages());
    }

    static RedisStore open(String uri) {
        String shown = RedisURI.create(uri).toString(); // masks the password
        RedisStore store = connect(uri, shown);
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

    private static RedisStore connect(String uri, String shown) {
        try {
            return new RedisStore(Connection.open(uri));
        } catch (RedisException e) {
            Throwable root = e;
            while (root.getCause() != null) {
                root = root.getCause();
            }
            throw new OutageException("disconnected", "no Redis at " + shown + ": " + root.getMessage(), e);
        }
    }

    private void checkServer(String shown) {
        String info = await(connection.commands().info());
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
            await(connection.commands().scriptLoad(script.text()));
        }
    }

    private static <T> T await(CompletionStage<T> stage) {
        return stage.toCompletableFuture().join();
    }

    @Override
    public CompletionStage<Answer> acquire(Ask ask) {
        List<String> arguments = new ArrayList<>(List.of(
                "",
                ask.stamp(),
                ask.permit().id(),
                ask.permit().nonce(),
                ask.digest(),
                ask.host(),
                Long.toString(ask.leaseUs()),
                ask.memo(),
                ask.flow(),
                Integer.toString(ask.weight()),
                ask.agent(),
                Long.toString(ask.waitUs())));
        addCosts(arguments, ask.costs());
        return run(Script.ACQUIRE, ask.project(), arguments, Replies::answer);
    }

    @Override
    public CompletionStage<Settled> settle(Settlement settlement) {
        String fifth = settlement.how().equals("refused") ? Long.toString(settlement.keepUs()) : settlement.memo();
        List<String> arguments = new ArrayList<>(
                List.of("", settlement.permit().id(), settlement.permit().nonce(), settlement.how(), fifth));
        addCosts(arguments, settlement.used());
        return run(Script.SETTLE, settlement.project(), arguments, Replies::settled);
    }

    @Override
    public CompletionStage<Beat> beat(BeatAsk ask) {
        List<String> arguments = new ArrayList<>(List.of(
                "",
                ask.host(),
                Integer.toString(ask.renew().size()),
                Integer.toString(ask.claims().size()),
                Integer.toString(ask.looks().size())));
        for (PermitName permit : ask.renew()) {
            arguments.add(permit.id());
            arguments.add(permit.nonce());
        }
        arguments.addAll(ask.claims());
        arguments.addAll(ask.looks());
        return run(Script.BEAT, ask.project(), arguments, reply -> BeatReply.read(reply, ask));
    }

    @Override
    public CompletionStage<Installed> install(Installation it) {
        byte[] epoch = new byte[8];
        new SecureRandom().nextBytes(epoch);
        return run(
                Script.POLICY, it.project(), policyArguments(it, HexFormat.of().formatHex(epoch)), Replies::installed);
    }

    static List<String> policyArguments(Installation it, String epoch) {
        List<String> arguments = new ArrayList<>(List.of(
                "",
                epoch,
                Long.toString(it.held()),
                it.expected(),
                it.digest(),
                it.document(),
                it.note(),
                it.shadow() ? "shadow" : "enforce",
                Integer.toString(it.maxWaiters()),
                Integer.toString(it.scopes().size())));
        for (ScopeLimits scope : it.scopes()) {
            arguments.add(scope.scope());
            arguments.add(Long.toString(scope.slots()));
            arguments.add(Long.toString(scope.max()));
            arguments.add(Integer.toString(scope.refills().size()));
            for (RefillLimit limit : scope.refills()) {
                addLimit(arguments, limit);
            }
        }
        return arguments;
    }

    @Override
    public CompletionStage<@Nullable StoredPolicy> policy(String project) {
        return run(Script.INSPECT, project, List.of("", "policy"), Replies::policy);
    }

    @Override
    public AutoCloseable listen(String project, String host, Consumer<List<String>> granted) {
        return messages.listen(keysOf(project).hints(host), message -> granted.accept(Messages.granted(message)));
    }

    @Override
    public boolean mustNotBlock() {
        Thread thread = Thread.currentThread();
        return thread instanceof FastThreadLocalThread || thread instanceof NonBlocking;
    }

    @Override
    public boolean answers() {
        return !breaker.isOpen();
    }

    @Override
    public void close() {
        connection.close();
    }

    private Keys keysOf(String project) {
        return keys.computeIfAbsent(project, Keys::of);
    }

    private <T extends @Nullable Object> CompletionStage<T> run(
            Script script, String project, List<String> arguments, Function<List<Object>, T> decode) {
        if (!breaker.allows()) {
            return CompletableFuture.failedStage(
                    new OutageException("breaker", "Redis did not answer lately and is not asked now", null));
        }
        return sent(script, project, arguments).handle((reply, thrown) -> {
            if (thrown == null) {
                answered();
                return decode.apply(reply);
            }
            OutageException outage = Outages.of(thrown);
            if (Outages.isNoAnswer(outage)) {
                failed(outage);
            } else {
                answered();
            }
            throw outage;
        });
    }

    /** What the driver refuses to send fails like what it could not send. */
    private CompletionStage<List<Object>> sent(Script script, String project, List<String> arguments) {
        try {
            return scripts.run(script, keysOf(project), arguments.toArray(String[]::new));
        } catch (RuntimeException e) {
            return CompletableFuture.failedStage(e);
        }
    }

    private void answered() {
        if (breaker.succeeded()) {
            log.info("Redis answers again");
        }
    }

    private void failed(OutageException outage) {
        if (breaker.failed()) {
            log.error("Redis is out ({}): {}", outage.reason(), outage.getMessage());
        }
    }

    private static void addCosts(List<String> arguments, List<ScopeCost> costs) {
        for (ScopeCost cost : costs) {
            arguments.add(cost.scope());
            arguments.add(Integer.toString(cost.units().size()));
            for (long units : cost.units()) {
                arguments.add(Long.toString(units));
            }
        }
    }

    static void addLimit(List<String> arguments, RefillLimit limit) {
        // A gate is kept only where a call can be larger than the burst and still be admitted.
        boolean gated = limit.capacity() < limit.ceiling() * (double) limit.factor();
        long width = gated ? (limit.spanUs() + GATE_SLOTS - 1) / GATE_SLOTS : 0;
        arguments.add(limit.name());
        for (long number : new long[] {
            limit.rate(),
            limit.factor(),
            limit.tickUs(),
            limit.capacity(),
            limit.ceiling(),
            width,
            limit.spanAmount(),
            limit.minute(),
            limit.weights().unit()
        }) {
            arguments.add(Long.toString(number));
        }
    }
}
