package io.sluice;

import static io.sluice.Budget.CALL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.sluice.redis.Documented;
import io.sluice.redis.Levels;
import io.sluice.testbed.redis.RedisCluster;
import io.sluice.testbed.redis.RedisOptions;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.RedisServers;
import io.sluice.testbed.redis.WithCluster;
import io.sluice.testbed.redis.WithRedis;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The users of the operations page: each can do its work, and no more; and what is missing is named. */
@WithRedis(own = true)
@Tag("contract")
@Timeout(60)
class AclIT {
    private static final String LIMITS = "concurrency: 2, " + Budget.THOUSAND;

    private final RedisServer redis;
    private final String id = "acl-" + UUID.randomUUID();
    private Sluice platform;

    AclIT(RedisServer redis) {
        this.redis = redis;
    }

    @BeforeEach
    void install() {
        platform = Sluice.connect(Documented.user(redis, "platform", id));
        platform.install(Budget.policy(id, LIMITS));
    }

    @AfterEach
    void close() {
        platform.close();
    }

    // ---- what they can do

    @Test
    void agentsTakeWaitAreToldAndSettle() throws Exception {
        try (Sluice agents = connect("agents")) {
            Project project = agents.project(id);
            Permit first = Budget.take(project, CALL);
            Permit second = Budget.take(project, CALL);
            CompletableFuture<Permit> third =
                    project.acquireAsync(CALL, Duration.ofSeconds(20)).toCompletableFuture();
            await().until(() -> ((ProjectClient) project).waiting() == 1);
            // Longer than the lease of a second: beats keep both, and the third waits on.
            await().during(Duration.ofMillis(1_500))
                    .atMost(Duration.ofSeconds(5))
                    .until(() -> !third.isDone());
            assertThat(first.settle(new Usage(1, 0, 0, 1)).ended()).isEqualTo(Permit.How.SETTLED);
            assertThat(third.get(10, TimeUnit.SECONDS).cancel().ended()).isEqualTo(Permit.How.CANCELLED);
            assertThat(second.throttled(new Rejection(Rejection.Kind.INPUT, Rejection.Scope.CLASS, true, null))
                            .ended())
                    .isEqualTo(Permit.How.THROTTLED);
            assertThat(levels().used()).isZero();
        }
    }

    @Test
    void agentsFollowAPolicyThatChanges() {
        try (Sluice agents = connect("agents")) {
            Project project = agents.project(id);
            Budget.take(project, CALL).cancel();
            platform.install(Budget.policy(id, "concurrency: 1"));
            Permit only = Budget.take(project, CALL);
            assertThat(Budget.refusal(project, CALL).limit()).isEqualTo("concurrency");
            only.cancel();
            assertThat(agents.installed(id).version()).isEqualTo(2);
        }
    }

    @Test
    void viewersSeeAndChangeNothing() {
        try (Sluice viewer = connect("viewer")) {
            assertThat(viewer.installed(id).version()).isEqualTo(1);
            assertThat(Levels.of(Documented.user(redis, "viewer", id), id, "c:m")
                            .left())
                    .containsEntry("calls", 1000L);

            OutageException thrown = catchThrowableOfType(
                    OutageException.class, () -> viewer.project(id).tryAcquire(CALL));
            assertThat(thrown)
                    .returns("noperm", OutageException::reason)
                    .hasMessageContaining("HSET {" + id + "}:levels");
        }
        assertThat(levels().permits()).isZero();
        assertThat(levels().left()).containsEntry("calls", 1000L);
    }

    @Test
    @WithCluster
    void inAClusterTheyAlsoFindTheirNodeAndFollowASlotThatMoves(RedisCluster cluster) throws Exception {
        int slot = RedisCluster.slotOf("{" + id + "}:levels");
        RedisServer from = cluster.ownerOf(slot);
        RedisServer to = cluster.nodes().get((cluster.nodes().indexOf(from) + 1) % 3);
        for (RedisServer node : cluster.nodes()) {
            for (String user : new String[] {"agents", "platform"}) {
                Documented.user(node, user, id);
                node.command(Documented.inACluster(user + "-" + id).toArray(String[]::new));
            }
            node.command("ACL", "LOG", "RESET");
        }
        try (Sluice install = Sluice.connect(from.uri("platform-" + id, "pw"));
                Sluice agents = Sluice.connect(to.uri("agents-" + id, "pw"))) {
            install.install(Budget.policy(id, LIMITS));
            Project project = agents.project(id);
            Budget.take(project, CALL).cancel();
            cluster.migrateSlot(slot, from, to, moved -> {
                // All keys are there, and the old node says so (ASK): the eight, and what is told by now.
                if (from.command("CLUSTER", "COUNTKEYSINSLOT", Integer.toString(slot))
                        .equals("0")) {
                    Budget.take(project, CALL).cancel();
                }
            });
            Budget.take(project, CALL).cancel();
        }
        for (RedisServer node : cluster.nodes()) {
            assertThat(node.command("ACL", "LOG"))
                    .as("refused by " + node.uri())
                    .isEmpty();
        }
    }

    // ---- what they cannot

    @Test
    void agentsInstallNothing() {
        try (Sluice agents = connect("agents")) {
            OutageException thrown = told(() -> agents.install(Budget.policy(id, "concurrency: 1000")));
            assertThat(thrown)
                    .returns("noperm", OutageException::reason)
                    .hasMessageContaining("HSET {" + id + "}:policy");
        }
        assertThat(platform.installed(id).version()).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"agents", "platform", "viewer"})
    void nobodyRunsWhatIsDangerous(String user) {
        List<Consumer<RedisCommands<String, String>>> dangerous = List.of(
                RedisCommands::flushall,
                RedisCommands::flushdb,
                RedisCommands::scriptFlush,
                RedisCommands::scriptKill,
                RedisCommands::dbsize,
                RedisCommands::randomkey,
                RedisCommands::aclList,
                RedisCommands::clientList,
                RedisCommands::bgsave,
                RedisCommands::replicaofNoOne,
                r -> r.keys("*"),
                r -> r.configGet("*"),
                r -> r.configSet("maxmemory", "1"),
                r -> r.debugObject("x"),
                r -> r.swapdb(0, 1),
                r -> r.publish("x", "y"),
                r -> r.set("x", "y"));
        as(user, commands -> dangerous.forEach(command -> refused(() -> command.accept(commands))));
    }

    @Test
    void anotherProjectIsOutOfReach() {
        String other = "acl-" + UUID.randomUUID();
        redis.command("HSET", "{" + other + "}:levels", "!", "1:x");
        for (String user : new String[] {"agents", "platform", "viewer"}) {
            as(user, commands -> {
                String levels = "{" + other + "}:levels";
                refused(() -> commands.hget(levels, "!"));
                refused(() -> commands.hset(levels, "!", "2:x"));
                refused(() -> commands.eval("return 1", ScriptOutputType.INTEGER, levels));
                // Not declared, as a script of the user's own might do.
                refused(() -> commands.eval(
                        "return redis.call('HGET', '" + levels + "', '!')",
                        ScriptOutputType.VALUE,
                        "{" + id + "}:levels"));
                refused(() -> commands.spublish("{" + other + "}:h:x", "g"));
            });
        }
        assertThat(redis.command("HGET", "{" + other + "}:levels", "!")).isEqualTo("1:x");
    }

    /** A script declares the policy as a key, and Redis counts each key of a script as written. */
    @Test
    void agentsChangeThePolicyNeitherByACommandNorByAScript() {
        String key = "{" + id + "}:policy";
        Set<String> before = Set.copyOf(redis.command("HGETALL", key).lines().toList());
        as("agents", commands -> {
            assertThat(commands.hget(key, "version")).isEqualTo("1");
            refused(() -> commands.hset(key, "version", "9"));
            refused(() -> commands.hdel(key, "version"));
            refused(() -> commands.del(key));
            refused(() ->
                    commands.eval("return redis.call('HSET', KEYS[1], 'version', '9')", ScriptOutputType.INTEGER, key));
        });
        assertThat(redis.command("HGETALL", key).lines()).hasSameElementsAs(before);
    }

    // ---- what is missing is named

    @ParameterizedTest
    @ValueSource(strings = {"policy", "levels", "permits", "waiters", "lines", "times", "hosts", "learn"})
    void aMissingKeyIsNamedBeforeAnythingIsWritten(String missing) {
        String all = Stream.of("policy", "levels", "permits", "waiters", "lines", "times", "hosts", "learn")
                .filter(name -> !name.equals(missing))
                .map(name -> " ~{" + id + "}:" + name)
                .reduce("", String::concat);
        try (Sluice some = connect("resetkeys" + all + " resetchannels &{" + id + "}:* +@all", "some")) {
            OutageException thrown = catchThrowableOfType(
                    OutageException.class, () -> some.project(id).tryAcquire(CALL));
            assertThat(thrown)
                    .returns("noperm", OutageException::reason)
                    .hasMessageContaining("{" + id + "}:" + missing);
            assertThat(levels().permits()).isZero();

            redis.command("ACL", "SETUSER", "some", "~{" + id + "}:*");
            Budget.take(some.project(id), CALL).cancel();
        }
    }

    /** Half of the script had run when it came to this. */
    @ParameterizedTest
    @ValueSource(strings = {"zadd", "hset", "zrem", "time"})
    void aMissingCommandIsNamedBeforeAnythingIsWritten(String missing) {
        try (Sluice some = connect("~{" + id + "}:* &{" + id + "}:* +@all -" + missing, "some")) {
            Project project = some.project(id);
            OutageException thrown = told(() -> project.tryAcquire(CALL));
            assertThat(thrown)
                    .returns("noperm", OutageException::reason)
                    .hasMessageContaining(missing.toUpperCase(Locale.ROOT));
            assertThat(levels().permits()).isZero();
            assertThat(levels().left()).containsEntry("calls", 1000L);

            redis.command("ACL", "SETUSER", "some", "+" + missing);
            Budget.take(project, CALL).cancel();
        }
    }

    /** Hints only save time: who may not have them is served all the same, and the log says so. */
    @Test
    void aMissingChannelIsToldAndCostsLittle() throws Exception {
        LogLines log = LogLines.record();
        try (Sluice some = connect("~{" + id + "}:* resetchannels +@all", "some")) {
            Project project = some.project(id);
            Permit first = Budget.take(project, CALL);
            Permit second = Budget.take(project, CALL);
            CompletableFuture<Permit> third =
                    project.acquireAsync(CALL, Duration.ofSeconds(20)).toCompletableFuture();
            await().until(() -> ((ProjectClient) project).waiting() == 1);
            first.settle(Usage.UNKNOWN);
            third.get(10, TimeUnit.SECONDS).cancel();
            second.cancel();
        } finally {
            log.close();
        }
        assertThat(log.lines())
                .filteredOn(line -> line.contains("ERROR") && line.contains("{" + id + "}:h:"))
                .anySatisfy(line -> assertThat(line).contains("may not publish"))
                .anySatisfy(line -> assertThat(line).contains("may not listen"))
                .hasSize(2);
    }

    @Test
    void aWrongPasswordIsToldAtConnect() {
        Documented.user(redis, "agents", id);
        OutageException thrown = catchThrowableOfType(
                OutageException.class,
                () -> Sluice.connect(redis.uri("agents-" + id, "wrong")).close());
        assertThat(thrown)
                .returns("wrongpass", OutageException::reason)
                .hasMessageContainingAll("no Redis at redis://agents-" + id, "WRONGPASS")
                .hasMessageNotContaining("wrong@");
    }

    @Test
    void aPasswordThatIsAskedForAndNotGivenIsToldAtConnect() {
        try (RedisServer locked = RedisServers.start(RedisOptions.DEFAULT.withPassword("secret"))) {
            OutageException thrown = catchThrowableOfType(
                    OutageException.class,
                    () -> Sluice.connect("redis://127.0.0.1:" + locked.port()).close());
            assertThat(thrown).returns("noauth", OutageException::reason).hasMessageContaining("NOAUTH");
        }
    }

    // ----

    /** What a caller is told; on a busy machine not by the first answer that comes late. */
    private static OutageException told(ThrowingCallable call) {
        return await().until(
                        () -> catchThrowableOfType(OutageException.class, call),
                        outage -> !Set.of("timeout", "breaker").contains(outage.reason()));
    }

    private Levels levels() {
        return Levels.of(redis.uri(), id, "c:m");
    }

    private Sluice connect(String user) {
        return Sluice.connect(Documented.user(redis, user, id));
    }

    /** As a user with rules of the test's own. */
    private Sluice connect(String rules, String name) {
        String[] words = ("ACL SETUSER " + name + " reset on >pw " + rules.strip()).split(" +", -1);
        redis.command(words);
        return Sluice.connect(redis.uri(name, "pw"));
    }

    private void as(String user, Consumer<RedisCommands<String, String>> what) {
        RedisClient client = RedisClient.create(Documented.user(redis, user, id));
        try (StatefulRedisConnection<String, String> connection = client.connect()) {
            what.accept(connection.sync());
        } finally {
            client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
        }
    }

    private static void refused(Runnable command) {
        assertThatThrownBy(command::run)
                .isInstanceOf(RedisCommandExecutionException.class)
                .hasMessageMatching("(?s)(NOPERM|ERR The user executing the script can't).*");
    }
}
