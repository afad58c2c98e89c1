package io.sluice.redis;

import static io.sluice.redis.Scripted.T0;
import static io.sluice.redis.Scripted.modelClass;
import static io.sluice.redis.Scripted.perMinute;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.Store.Effect.Knows;
import io.sluice.Store.Learned;
import io.sluice.Store.Observation.Learn;
import io.sluice.Store.Observation.Outputs;
import io.sluice.Store.Observations;
import io.sluice.Store.Observed;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the scripts learn of calls, at given times. */
@WithRedis
class LearnIT {
    private final RedisServer server;
    private Scripted scripts;
    private long now = T0;

    LearnIT(RedisServer server) {
        this.server = server;
    }

    @BeforeEach
    void connect() {
        scripts = new Scripted(server);
        scripts.install(T0, modelClass(-1, perMinute("rpm", 60)));
    }

    @AfterEach
    void close() {
        scripts.close();
    }

    private Knows learn(Learn... told) {
        List<String> arguments = new ArrayList<>(Arguments.of(new Observations("any", "h", List.of(told))));
        arguments.set(0, Long.toString(now++));
        List<Object> reply = scripts.run(Script.OBSERVE, arguments);
        Observed.Done done = (Observed.Done) ObserveReply.read(reply, List.of(told));
        return (Knows) done.effects().get(told.length - 1);
    }

    private static Learn outputs(String agent, long... tokens) {
        List<Outputs> outputs = new ArrayList<>();
        for (long one : tokens) {
            outputs.add(new Outputs(one, 1));
        }
        return new Learn("m", agent, 0, 0, 0, 0, outputs);
    }

    private static Learn sums(long bytes, long tokens, long cached, long input) {
        return new Learn("m", "-", bytes, tokens, cached, input, List.of());
    }

    private static Learn many(String agent, long tokens, long answers) {
        return new Learn("m", agent, 0, 0, 0, 0, List.of(new Outputs(tokens, answers)));
    }

    // ---- output

    @Test
    void nothingIsKnownOfWhatWasNeverSeenAndAskingLeavesNothing() {
        Knows knows = learn(Learn.nothing("m", "a"));

        assertThat(knows).isEqualTo(new Knows(new Learned("m", "-", 0, 0, 0, 0), new Learned("m", "a", 0, 0, 0, 0)));
        assertThat(scripts.redis.hgetall(scripts.keys.all()[7])).containsOnlyKeys("!");
    }

    /** Few answers say little: twice the largest of them. */
    @Test
    void belowTwentyAnswersTheReserveIsTwiceTheLargestSeen() {
        assertThat(learn(outputs("a", 500)).ofAgent().output()).isEqualTo(1_000);
        assertThat(learn(outputs("a", 700, 0, 3)).ofAgent().output()).isEqualTo(1_400);
        assertThat(learn(many("a", 500, 15)).ofAgent()).isEqualTo(new Learned("m", "a", 19, 1_400, 0, 0));
        assertThat(learn(many("a", 500, 1)).ofAgent()).isEqualTo(new Learned("m", "a", 20, 512, 0, 0));
    }

    @Test
    void anAnswerWithoutOutputStillReservesOneToken() {
        assertThat(learn(many("a", 0, 100)).ofAgent().output()).isEqualTo(1);
    }

    @Test
    void ninetyFiveOfAHundredAnswersFit() {
        learn(many("a", 500, 95));
        assertThat(learn(many("a", 8_000, 5)).ofAgent().output()).isEqualTo(512);
        assertThat(learn(many("a", 8_000, 1)).ofAgent().output()).isEqualTo(8_192);
    }

    /** Tokens, and the edge of their bucket: never below, at most 19 % above. */
    @ParameterizedTest
    @CsvSource({
        "1, 1",
        "2, 2",
        "3, 3",
        "4, 4",
        "5, 5",
        "6, 6",
        "7, 8",
        "256, 256",
        "257, 304",
        "304, 304",
        "305, 362",
        "430, 430",
        "431, 512",
        "512, 512",
        "513, 608",
        "32000, 32768",
        "32768, 32768",
        "1048576, 1048576",
        "1000000000, 1048576"
    })
    void anAnswerCountsInTheBucketWhoseEdgeItFitsUnder(long tokens, long edge) {
        assertThat(learn(many("a", tokens, 20)).ofAgent().output()).isEqualTo(edge);
    }

    @Test
    void whatAClassUsesIsWhatAllItsAgentsUse() {
        learn(many("a", 500, 30));
        Knows knows = learn(many("b", 4_000, 30));

        assertThat(knows.ofClass()).isEqualTo(new Learned("m", "-", 60, 4_096, 0, 0));
        assertThat(knows.ofAgent()).isEqualTo(new Learned("m", "b", 30, 4_096, 0, 0));
        assertThat(learn(Learn.nothing("m", "a")).ofAgent()).isEqualTo(new Learned("m", "a", 30, 512, 0, 0));
        assertThat(learn(Learn.nothing("x", "a")).ofAgent().samples()).isZero();
    }

    @Test
    void callsOfNoAgentCountForTheirClassOnce() {
        Knows knows = learn(many("-", 500, 30));

        assertThat(knows.ofClass()).isEqualTo(new Learned("m", "-", 30, 512, 0, 0));
        assertThat(knows.ofAgent()).isEqualTo(knows.ofClass());
    }

    /** The prompt changed: what was learned before must not stand for ever. */
    @Test
    void newAnswersOutweighOldOnes() {
        learn(many("a", 8_000, 100_000));
        int more = 0;
        while (learn(many("a", 500, 10)).ofAgent().output() > 512) {
            more += 10;
            assertThat(more).isLessThan(5_000);
        }
        assertThat(more).isBetween(1_000, 4_000);
    }

    // ---- input

    @Test
    void tokensAByteAndTheCachedShareAreOfAllThatWasSeen() {
        assertThat(learn(sums(1_000, 250, 0, 0)).ofClass()).isEqualTo(new Learned("m", "-", 0, 0, 250_000, 0));
        assertThat(learn(sums(2_000, 751, 800, 1_000)).ofClass())
                .isEqualTo(new Learned("m", "-", 0, 0, 333_667, 800_000));
        assertThat(learn(sums(0, 0, 0, 2_000)).ofClass().cachedShare()).isEqualTo(266_666);
    }

    @Test
    void hugeSumsStayExact() {
        for (int i = 0; i < 50; i++) {
            learn(sums(4_000_000_000L, 1_000_000_000L, 900_000_000L, 1_000_000_000L));
        }
        assertThat(learn(sums(9_000_000_000_000_000L, 3_000_000_000_000_000L, 0, 0))
                        .ofClass())
                .satisfies(known -> assertThat(known.tokensPerByte()).isEqualTo(333_334));
        assertThat(scripts.redis.hgetall(scripts.keys.all()[7]).get("c|m").length())
                .isLessThan(100);
    }

    // ---- bounds

    @Test
    void theAgentsSeenLongestAgoGo() {
        for (int from = 0; from < 2_050; from += 50) {
            Learn[] batch = new Learn[50];
            for (int i = 0; i < 50; i++) {
                batch[i] = many("agent-" + (from + i), 500, 1);
            }
            learn(batch);
            learn(many("agent-0", 500, 1)); // it is seen all the time
        }
        Map<String, String> kept = scripts.redis.hgetall(scripts.keys.all()[7]);
        assertThat(kept).hasSizeBetween(1_900, 2_002).containsKeys("!", "c|m", "a|m|agent-0", "a|m|agent-2049");
        assertThat(kept).doesNotContainKey("a|m|agent-1");
        assertThat(kept.keySet().stream().filter(field -> field.contains("|")).count())
                .isEqualTo(Long.parseLong(kept.get("#records")));
    }

    @ParameterizedTest
    @CsvSource({
        "class, 4, ''",
        "class, 4, a|b",
        "agent, 5, ''",
        "agent, 5, a b",
        "bytes, 6, -1",
        "bytes, 7, nan",
        "input, 8, 1.5",
        "input, 8, 5", // more of it cached than there is
        "input, 9, 1e99",
        "outputs, 10, 129",
        "outputs, 10, 2",
        "outputs, 11, -1",
        "outputs, 12, inf",
        "count, 2, 65",
        "count, 2, 0",
        "observation, 3, lern"
    })
    void anArgumentOutOfRangeIsNamedAndNothingIsWritten(String named, int at, String value) {
        List<String> arguments = new ArrayList<>(
                List.of(Long.toString(T0), "h", "1", "learn", "m", "a", "4", "1", "3", "4", "1", "500", "1"));
        arguments.set(at, value);

        assertThatThrownBy(() -> scripts.run(Script.OBSERVE, arguments)).hasMessageContaining("BADARG " + named);
        assertThat(scripts.redis.hgetall(scripts.keys.all()[7])).containsOnlyKeys("!");
    }

    @Test
    void aNameOf128CharactersIsTheLongest() {
        learn(many("a".repeat(128), 1, 1));
        assertThatThrownBy(() -> learn(many("a".repeat(129), 1, 1))).hasMessageContaining("BADARG agent");
    }

    @Test
    void whatWasWrittenByNobodyKnownIsForgotten() {
        scripts.redis.hset(scripts.keys.all()[7], Map.of("c|m", "rubbish", "a|m|a", "12345678\u0001"));
        assertThat(learn(many("a", 500, 20)).ofAgent()).isEqualTo(new Learned("m", "a", 20, 512, 0, 0));
    }

    // ---- inspect

    @Test
    void inspectTellsAllClassesOrOneAgent() {
        learn(many("a", 500, 30), new Learn("x", "-", 1_000, 250, 8, 10, List.of()));

        assertThat(inspect())
                .containsExactly(new Learned("m", "-", 30, 512, 0, 0), new Learned("x", "-", 0, 0, 250_000, 800_000));
        assertThat(inspect("m")).containsExactly(new Learned("m", "-", 30, 512, 0, 0));
        assertThat(inspect("m", "a")).containsExactly(new Learned("m", "a", 30, 512, 0, 0));
        assertThat(inspect("m", "b")).containsExactly(new Learned("m", "b", 0, 0, 0, 0));
    }

    private List<Learned> inspect(String... which) {
        List<String> arguments = new ArrayList<>(List.of("", "learned"));
        arguments.addAll(List.of(which));
        return ObserveReply.learned(scripts.run(Script.INSPECT, arguments));
    }

    // ---- against the reference

    @Test
    void itLearnsWhatTheReferenceLearns() {
        long seed = System.nanoTime();
        System.out.println("LearnIT seed " + seed);
        Random random = new Random(seed);
        Map<String, ReferenceLearning> reference = new HashMap<>();
        for (int i = 0; i < 1_500; i++) {
            String agent = "agent-" + random.nextInt(5);
            Learn told = random(agent, random);
            Knows knows = learn(told);
            assertThat(knows.ofClass()).as("seed %s, step %s", seed, i).isEqualTo(taken(reference, told, "-"));
            assertThat(knows.ofAgent()).as("seed %s, step %s", seed, i).isEqualTo(taken(reference, told, agent));
        }
    }

    private static Learn random(String agent, Random random) {
        List<Outputs> outputs = new ArrayList<>();
        for (int k = random.nextInt(4); k > 0; k--) {
            long tokens = (long) Math.exp(random.nextDouble() * 16) - 1;
            outputs.add(new Outputs(tokens, random.nextInt(random.nextInt(20) == 0 ? 2_000 : 8)));
        }
        long input = (long) Math.exp(random.nextDouble() * 18);
        long cached = (long) (input * random.nextDouble());
        boolean inBytes = random.nextBoolean();
        return new Learn("m", agent, inBytes ? 4 * input : 0, inBytes ? input : 0, cached, input, outputs);
    }

    private static Learned taken(Map<String, ReferenceLearning> reference, Learn told, String agent) {
        ReferenceLearning known = reference.computeIfAbsent(agent, any -> new ReferenceLearning());
        told.outputs().forEach(outputs -> known.outputs(outputs.tokens(), outputs.answers()));
        if (agent.equals("-")) {
            known.sums(told.bytes(), told.bytesTokens(), told.cached(), told.input());
        }
        known.decay();
        return new Learned("m", agent, known.samples(), known.output(), known.tokensPerByte(), known.cachedShare());
    }
}
