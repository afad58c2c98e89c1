package io.sluice;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.sluice.InvalidPolicyException.Problem;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class PresetsTest {

    static List<String> names() {
        return Presets.NAMES;
    }

    private static Policy policy(String preset, String... lines) {
        return Policy.parse("project: p\npreset: " + preset + "\n" + String.join("\n", lines));
    }

    private static List<Problem> problems(String preset, String... lines) {
        return Objects.requireNonNull(catchThrowableOfType(InvalidPolicyException.class, () -> policy(preset, lines)))
                .problems();
    }

    /** {@code rpm: 4000, itpm: …} of a class, in the order of the names. */
    private static Map<String, String> limits(Policy policy, String modelClass) {
        return policy.spec().limitsOf("c:" + modelClass).stream()
                .collect(Collectors.toMap(
                        LimitSpec::name,
                        limit -> Objects.requireNonNull(limit.amount()).toPlainString()));
    }

    private static String classOf(Policy policy, String model) {
        return Objects.requireNonNull(policy.classOf(model)).name();
    }

    @Test
    void eachFileIsKnownByItsName() throws IOException, URISyntaxException {
        Path directory = Path.of(
                Objects.requireNonNull(Presets.class.getResource("presets")).toURI());
        try (Stream<Path> files = Files.walk(directory)) {
            assertThat(files.filter(Files::isRegularFile)
                            .map(file -> directory.relativize(file).toString().replace('\\', '/')))
                    .containsExactlyInAnyOrderElementsOf(
                            Presets.NAMES.stream().map(name -> name + ".yaml").toList());
        }
    }

    @ParameterizedTest
    @MethodSource("names")
    void saysWhoseFiguresItHasAndOfWhen(String name) {
        Map<String, Node> preset =
                Presets.read(new Node.Text("/preset", 2, name)).values();

        assertThat(((Node.Text) Objects.requireNonNull(preset.get("date"))).value())
                .matches("2026-(0[1-9]|1[0-2])");
        assertThat(((Node.Text) Objects.requireNonNull(preset.get("source"))).value())
                .isNotBlank();
        assertThat(preset.keySet())
                .containsExactlyInAnyOrder(
                        preset.containsKey("limits")
                                ? new String[] {"date", "source", "provider", "classes", "limits"}
                                : new String[] {"date", "source", "provider", "classes"});
    }

    @ParameterizedTest
    @MethodSource("names")
    void isAPolicyOfItsProvider(String name) {
        Policy policy = policy(name);

        String provider = name.substring(0, name.indexOf('/'));
        assertThat(policy.provider().label()).isEqualTo(provider.equals("spheron") ? "generic" : provider);
        assertThat(policy.scopes()).hasSize(1 + policy.spec().classes().size());
        assertThat(policy.warnings())
                .extracting(Problem::message)
                .allSatisfy(message -> assertThat(message).contains("limits in money are left out"));
        assertThat(policy(name, "prices: {'*': {input: 3, output: 15}}").warnings())
                .isEmpty();
    }

    /** The whole is installed: other hosts may have other presets. */
    @ParameterizedTest
    @MethodSource("names")
    void isSpeltOutInWhatIsInstalled(String name) {
        Policy policy = policy(name, "prices: {'*': {input: 3, output: 15}}");

        assertThat(policy.toJson()).contains("\"provider\":").doesNotContain("preset", "source");
        Policy again = Policy.parse(policy.toJson());
        assertThat(again.toJson()).isEqualTo(policy.toJson());
        assertThat(again.scopes()).isEqualTo(policy.scopes());
    }

    @ParameterizedTest
    @CsvSource({
        "anthropic/start,         sonnet,   4000,  2000000,  400000",
        "anthropic/build,         sonnet,   10000, 5000000,  1000000",
        "anthropic/scale,         sonnet,   13000, 10000000, 2000000",
        "anthropic/start,         opus-5,   1000,  2000000,  400000",
        "anthropic/build,         haiku-4-5, 5000, 5000000,  1000000",
        "anthropic/start,         fable,    1000,  500000,   100000",
        "anthropic/start-2026-08, sonnet,   1000,  2000000,  400000",
        "anthropic/build-2026-08, opus,     5000,  5000000,  1000000",
        "anthropic/scale-2026-08, haiku,    10000, 10000000, 2000000"
    })
    void hasTheFiguresOfItsTier(String preset, String modelClass, String rpm, String itpm, String otpm) {
        assertThat(limits(policy(preset), modelClass))
                .containsExactlyInAnyOrderEntriesOf(Map.of("rpm", rpm, "itpm", itpm, "otpm", otpm));
    }

    @ParameterizedTest
    @CsvSource({
        "anthropic/build,         claude-sonnet-5-5,          sonnet",
        "anthropic/build,         claude-sonnet-5-5-20261005, sonnet",
        "anthropic/build,         claude-sonnet-5,            sonnet-5",
        "anthropic/build,         claude-sonnet-5-20260401,   sonnet-5",
        "anthropic/build,         claude-sonnet-4-6,          sonnet-4",
        "anthropic/build,         claude-sonnet-4-5-20250929, sonnet-4",
        "anthropic/build,         claude-opus-4-8,            opus-4",
        "anthropic/build,         claude-opus-5,              opus-5",
        "anthropic/build,         claude-opus-5-5,            opus",
        "anthropic/build,         claude-haiku-4-5-20251001,  haiku-4-5",
        "anthropic/build,         claude-haiku-5-5,           haiku",
        "anthropic/build,         claude-fable-5,             fable",
        "anthropic/build-2026-08, claude-opus-4-5-20251101,   opus-4",
        "anthropic/build-2026-08, claude-sonnet-5,            sonnet",
        "openai/headers,          gpt-5,                      gpt-5",
        "openai/headers,          gpt-5-2025-08-07,           gpt-5",
        "openai/headers,          gpt-5-mini,                 gpt-5-mini",
        "openai/headers,          gpt-5.5,                    gpt-5-5",
        "openai/headers,          gpt-4o-2024-08-06,          gpt-4o",
        "openai/headers,          o4-mini,                    o4-mini",
        "gemini/tier-1,           gemini-2.5-pro,             pro-2-5",
        "gemini/tier-1,           gemini-2.5-flash-lite,      flash-lite-2-5",
        "gemini/tier-2,           gemini-3.1-flash-preview,   flash-3",
        "gemini/tier-3,           gemini-example,             other",
        "openrouter/free,         deepseek/deepseek-r1:free,  free",
        "spheron/starter,         anything/at-all,            all"
    })
    void knowsTheNamesOfModels(String preset, String model, String modelClass) {
        assertThat(classOf(policy(preset), model)).isEqualTo(modelClass);
    }

    @Test
    void boundsWhatIsInFlight() {
        assertThat(policy("spheron/starter").scopes().get(0).slots()).isEqualTo(8);
        assertThat(policy("spheron/growth").scopes().get(0).slots()).isEqualTo(32);
    }

    @Test
    void countsATiersMoneyOnceItHasPrices() {
        Policy priced = policy("anthropic/build", "prices: {'claude-*': {input: 3, output: 15}}");

        assertThat(priced.spec().limitsOf("p")).singleElement().satisfies(usd -> {
            assertThat(usd.name()).isEqualTo("usd");
            assertThat(usd.amount()).isEqualByComparingTo("1000");
        });
        assertThat(policy("anthropic/build").spec().limitsOf("p")).isEmpty();
        assertThat(policy("anthropic/build").warnings()).singleElement().satisfies(warning -> {
            assertThat(warning.path()).isEqualTo("/preset");
            assertThat(warning.line()).isEqualTo(2);
        });
    }

    /** Who prices the models in use means those: without the others the document holds for them. */
    @Test
    void itsClassesWithoutAPriceAreLeftOutWhereThereIsALimitInMoney() {
        String usd = "limits: {usd: {amount: 500, per: month, zone: UTC}}";
        String sonnet = "prices: {'claude-sonnet-*': {input: 3, output: 15}}";

        Policy policy = policy("anthropic/build", usd, sonnet);

        assertThat(classOf(policy, "claude-sonnet-5-5")).isEqualTo("sonnet");
        assertThat(policy.classOf("claude-opus-5")).isNull();
        assertThat(policy.warnings()).singleElement().satisfies(warning -> {
            assertThat(warning.path()).isEqualTo("/preset");
            assertThat(warning.message())
                    .contains("opus", "haiku", "fable", "left out")
                    .doesNotContain("sonnet");
        });
        assertThat(problems("anthropic/build", usd, sonnet, "classes: [{name: opus, limits: {rpm: 5}}]"))
                .as("a class that the document names needs its price")
                .extracting(Problem::message)
                .allSatisfy(message -> assertThat(message).contains("needs a price", "opus"));
        assertThat(policy("openai/headers", sonnet.replace("claude-sonnet", "gpt"))
                        .spec()
                        .classes())
                .as("without a limit in money nothing needs a price")
                .isEqualTo(policy("openai/headers").spec().classes());
    }

    // ---- the document over it

    /** That one number, and nothing else. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{rpm: 10}",
                "{rpm: {amount: 10}}",
            })
    void changesOnlyWhatTheDocumentSays(String limits) {
        Policy changed = policy("anthropic/build", "classes: [{name: sonnet, limits: " + limits + "}]");

        assertThat(changed.toJson())
                .isEqualTo(policy("anthropic/build").toJson().replace("\"rpm\":10000}", "\"rpm\":10}"))
                .contains("\"rpm\":10}");
    }

    @Test
    void addsAndTakesAway() {
        Policy policy = policy(
                "anthropic/build",
                "limits: {concurrency: 9}",
                "classes: [{name: haiku, limits: {rpm: null, concurrency: 5}, max_output: 100}]");

        assertThat(limits(policy, "haiku"))
                .containsExactlyInAnyOrderEntriesOf(Map.of("itpm", "5000000", "otpm", "1000000", "concurrency", "5"));
        assertThat(Objects.requireNonNull(policy.classOf("claude-haiku-5-5")).maxOutput())
                .isEqualTo(100);
        assertThat(policy.scopes().get(0).slots()).isEqualTo(9);
        assertThat(policy.warnings()).hasSize(1);
    }

    @Test
    void keepsTheRestOfALimit() {
        Policy policy = policy(
                "anthropic/build",
                "prices: {'*': {input: 3, output: 15}}",
                "limits: {usd: 77}",
                "classes: [{name: sonnet, limits: {itpm: {weights: {cache_read: 0.1}}, rpm: {headroom: 1}}}]");

        assertThat(policy.toJson())
                .contains("\"usd\":{\"amount\":77,\"per\":\"month\",\"zone\":\"UTC\"}")
                .contains("\"itpm\":{\"amount\":5000000,\"weights\":{\"cache_read\":0.1}}")
                .contains("\"rpm\":{\"amount\":10000,\"headroom\":1}");
    }

    /** An amount and trial and error are two ways to say how much: the document's counts. */
    @Test
    void replacesHowAnAmountIsFound() {
        assertThat(policy(
                                "anthropic/build",
                                "classes: [{name: sonnet, limits: {rpm: {adaptive: {start: 100, max: 900}}}}]")
                        .toJson())
                .contains("\"rpm\":{\"adaptive\":{\"start\":100,\"max\":900}}");
        assertThat(limits(policy("gemini/tier-1", "classes: [{name: other, limits: {rpm: 60}}]"), "other"))
                .containsEntry("rpm", "60");
        assertThat(policy("gemini/tier-1", "classes: [{name: other, limits: {rpm: 60}}]")
                        .toJson())
                .contains("\"rpm\":60,");
    }

    /** Else it would never be used, or leave nothing to those it was added to. */
    @Test
    void triesAClassOfItsOwnFirstAndOneForTheRestLast() {
        Policy policy = policy(
                "anthropic/build",
                "classes:",
                "  - {name: rest, models: ['*'], limits: {rpm: 10}}",
                "  - {name: big, models: ['claude-sonnet-5-5-big'], limits: {rpm: 10}}",
                "  - {name: priority, models: ['claude-*'], when: {service_tier: priority}, limits: {rpm: 10}}",
                "  - {name: sonnet, limits: {rpm: 20}}");

        assertThat(policy.spec().classes())
                .extracting(ModelClass::name)
                .startsWith("big", "priority", "opus-4")
                .endsWith("fable", "rest");
        assertThat(classOf(policy, "claude-sonnet-5-5")).isEqualTo("sonnet");
        assertThat(classOf(policy, "claude-sonnet-5-5-big")).isEqualTo("big");
        assertThat(classOf(policy, "gpt-5")).isEqualTo("rest");
        assertThat(policy.warnings()).hasSize(1);
    }

    // ---- what is wrong

    @Test
    void tellsTheKnownOnesAndTheNearest() {
        assertThat(problems("anthropic/biuld")).singleElement().satisfies(problem -> {
            assertThat(problem.path()).isEqualTo("/preset");
            assertThat(problem.message())
                    .startsWith("is no preset; did you mean anthropic/build?; there are anthropic/start, ")
                    .contains("openrouter/free", "spheron/growth");
        });
    }

    @Test
    void isForOneProvider() {
        assertThat(problems("anthropic/build", "provider: openai"))
                .singleElement()
                .satisfies(problem -> assertThat(problem.message())
                        .isEqualTo("is for provider anthropic, and the document says openai"));
        assertThat(policy("anthropic/build", "provider: anthropic").provider()).isEqualTo(Provider.ANTHROPIC);
    }

    /** The document's mistakes are told at its own lines, what it makes wrong of the preset at the preset's name. */
    @Test
    void tellsWhereTheMistakeIs() {
        assertThat(problems("spheron/starter", "classes:", "  - name: all", "    limits: {rpm: -1, rmp: 5}"))
                .extracting(Problem::path, Problem::line)
                .containsExactlyInAnyOrder(
                        org.assertj.core.groups.Tuple.tuple("/classes/0/limits/rpm", 5),
                        org.assertj.core.groups.Tuple.tuple("/classes/0/limits/rmp", 5));
        assertThat(problems("openrouter/free", "headroom: 0.01"))
                .singleElement()
                .satisfies(problem -> {
                    assertThat(problem.path()).isEqualTo("/preset/classes/0/limits/rpm");
                    assertThat(problem.line()).isEqualTo(2);
                    assertThat(problem.message()).contains("no call could ever pass");
                });
        assertThat(problems("anthropic/build", "classes: {sonnet: 1}"))
                .extracting(Problem::path)
                .containsExactly("/classes");
    }
}
