package io.sluice.testbed.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.Call;
import io.sluice.Decision;
import io.sluice.Policy;
import io.sluice.Refusal;
import io.sluice.Sluice;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.RedisServers;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class HoldCommandIT {
    private static RedisServer redis;
    private static Sluice sluice;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @BeforeAll
    static void start() {
        redis = RedisServers.start();
        sluice = Sluice.connect(redis.uri());
        sluice.install(Policy.parse("""
                project: acme
                provider: anthropic
                classes:
                  - {name: sonnet, models: ["claude-sonnet-*"], limits: {rpm: 600}}
                  - {name: haiku, models: ["claude-haiku-*"], limits: {rpm: 600}}
                """));
    }

    @AfterAll
    static void stop() {
        sluice.close();
        redis.close();
    }

    @Test
    void aHeldClassLetsNobodyInUntilItIsReleasedAndOthersGoOn() {
        assertThat(run("hold", "--project", "acme", "--class", "sonnet", "--reason", "looking into it"))
                .isZero();
        assertThat(said()).isEqualTo("acme, class sonnet is on hold until it is released: looking into it");
        assertThat(refusal("claude-sonnet-5-5").kind()).isEqualTo(Refusal.Kind.HOLD);
        assertThat(refusal("claude-sonnet-5-5").retryAfter()).isNull();
        assertThat(refusal("claude-sonnet-5-5").message()).contains("operator").contains("looking into it");
        assertThat(ask("claude-haiku-5")).isInstanceOf(Decision.Granted.class);

        assertThat(run("release", "--project", "acme", "--class", "sonnet")).isZero();
        assertThat(said()).isEqualTo("acme, class sonnet is released");
        assertThat(ask("claude-sonnet-5-5")).isInstanceOf(Decision.Granted.class);
        assertThat(run("release", "--project", "acme", "--class", "sonnet")).isZero();
        assertThat(said()).isEqualTo("acme, class sonnet was not on hold, nothing to release");
    }

    @Test
    void aHeldProjectTellsForHowLongAndBecomesLongerButNotShorter() {
        assertThat(run("hold", "--project", "acme", "--for", "5m", "--reason", "deploy", "--json"))
                .isZero();
        assertThat(said()).isEqualTo("{\"project\":\"acme\",\"scope\":\"p\",\"left_ms\":300000,\"reason\":\"deploy\"}");
        assertThat(refusal("claude-haiku-5").retryAfter()).isBetween(seconds(290), seconds(300));

        assertThat(run("hold", "--project", "acme", "--for", "10s", "--reason", "short"))
                .isZero();
        assertThat(refusal("claude-haiku-5").retryAfter()).isGreaterThan(seconds(280));
        said();

        assertThat(run("release", "--project", "acme", "--json")).isZero();
        assertThat(said()).isEqualTo("{\"project\":\"acme\",\"scope\":null,\"released\":true}");
        assertThat(ask("claude-haiku-5")).isInstanceOf(Decision.Granted.class);
    }

    @Test
    void oneAgentOfManyIsHeld() {
        assertThat(run("hold", "acme", "--agent", "a-7", "--reason", "loops", "--json"))
                .isZero();
        assertThat(said())
                .isEqualTo("{\"project\":\"acme\",\"scope\":\"a:a-7\",\"left_ms\":null,\"reason\":\"loops\"}");
        Call call = Call.of("claude-haiku-5").inputTokens(10);
        assertThat(sluice.project("acme").tryAcquire(call.agent("a-7"))).isInstanceOf(Decision.Refused.class);
        assertThat(sluice.project("acme").tryAcquire(call.agent("a-8"))).isInstanceOf(Decision.Granted.class);
        assertThat(run("release", "acme", "--agent", "a-7")).isZero();
        assertThat(said()).isEqualTo("acme, agent a-7 is released");
        assertThat(sluice.project("acme").tryAcquire(call.agent("a-7"))).isInstanceOf(Decision.Granted.class);
        assertThat(run("hold", "acme", "--agent", "a-7", "--run", "r", "--reason", "x"))
                .as("one scope")
                .isEqualTo(2);
    }

    @Test
    void whatCannotBeIsAUsageErrorInOneLine() {
        assertThat(run("hold", "--project", "acme", "--class", "opus", "--reason", "x"))
                .isEqualTo(2);
        assertThat(err.toString().lines()).singleElement().asString().contains("c:opus");
        assertThat(run("hold", "--project", "acme", "--reason", " ")).isEqualTo(2);
        assertThat(run("hold", "--project", "acme", "--for", "0s", "--reason", "x"))
                .isEqualTo(2);
        assertThat(run("hold", "--project", "acme")).isEqualTo(2);
        assertThat(run("hold", "--project", "No!", "--reason", "x")).isEqualTo(2);
        assertThat(run("release", "--project", "nobody")).isEqualTo(2);
        assertThat(out.toString()).isEmpty();
    }

    private static Duration seconds(long seconds) {
        return Duration.ofSeconds(seconds);
    }

    private static Decision ask(String model) {
        Decision decision = sluice.project("acme").tryAcquire(Call.of(model));
        if (decision instanceof Decision.Granted granted) {
            granted.permit().cancel();
        }
        return decision;
    }

    private static Refusal refusal(String model) {
        return ((Decision.Refused) ask(model)).refusal();
    }

    private int run(String... words) {
        String[] args = new String[words.length + 2];
        System.arraycopy(words, 0, args, 0, words.length);
        args[words.length] = "--redis";
        args[words.length + 1] = redis.uri();
        return Main.run(new PrintWriter(out), new PrintWriter(err), args);
    }

    /** What was printed since the last call. */
    private String said() {
        String text = out.toString().strip();
        out.getBuffer().setLength(0);
        return text;
    }
}
