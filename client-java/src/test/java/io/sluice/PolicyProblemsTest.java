package io.sluice;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.sluice.InvalidPolicyException.Problem;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

@Tag("contract")
class PolicyProblemsTest {

    /** Every row: the document, then the only problem it has: path, line, part of the message, value. */
    @ParameterizedTest
    @MethodSource({"syntax", "shapes", "limits", "windows", "together", "notYet"})
    void reportsExactly(String text, String path, int line, String message, String value) {
        List<Problem> problems = problems(text);

        assertThat(problems).hasSize(1);
        Problem problem = problems.get(0);
        assertThat(problem.path()).isEqualTo(path);
        assertThat(problem.line()).isEqualTo(line);
        assertThat(problem.message()).contains(message);
        assertThat(problem.value()).isEqualTo(value);
    }

    static Stream<Arguments> syntax() {
        return Stream.of(
                row("", "", 1, "empty", ""),
                row("# only a comment\n", "", 1, "empty", ""),
                row("- a list\n", "", 1, "must be a mapping", "[…]"),
                row("project", "", 1, "must be a mapping", "project"),
                row("project: p\n bad: [1\n", "", 2, "not valid YAML", ""),
                row("project: p\nlimits: {rpm: 1\n", "", 3, "not valid YAML", ""),
                row("{\"project\": \"p\",\n \"limits\": {\"rpm\": 1,}\n", "", 3, "not valid YAML", ""),
                row("project: p\nteams:\n\t- name: x\n", "", 3, "not valid YAML", ""),
                row("project: \"\\x\"", "", 1, "not valid YAML", ""),
                row("? [a]\n: b\n", "", 1, "not valid YAML", ""),
                row("project: p\n---\nproject: q\n", "", 3, "more than one document", ""),
                // Aliases could blow a small text up; they are not resolved at all.
                row("project: p\nlimits: &l {rpm: 60}\n", "/limits", 2, "anchors", "&l"),
                row("project: p\nlimits: *l\n", "/limits", 2, "aliases", "*l"),
                row("project: !!str p\n", "/project", 1, "tags", "tag:yaml.org,2002:str"),
                row("project: p\nlimits: !x {rpm: 60}\n", "/limits", 2, "tags", "x"),
                row("project: p\nproject: q\n", "/project", 2, "duplicate of the key on line 1", "q"),
                row("project: p\nlimits:\n  rpm: 60\n  tpm: 60\n  rpm: 61\n", "/limits/rpm", 5, "on line 3", "61"),
                row(
                        "project: p\nlimits: {rpm: " + "9".repeat(41) + "}",
                        "/limits/rpm",
                        2,
                        "out of all range",
                        "9".repeat(41)),
                row("project: p\nlimits: {rpm: 1e999999999}", "/limits/rpm", 2, "out of all range", "1e999999999"),
                row("#".repeat(PolicyReader.MAX_BYTES + 1), "", 0, "larger than 256 KiB", ""));
    }

    static Stream<Arguments> shapes() {
        return Stream.of(
                row("lease: 30s\n", "/project", 1, "must be there", ""),
                row("lease: 30s\nproject:\n", "/project", 2, "must be there", ""),
                row("project: Acme\n", "/project", 1, "must be a project id", "Acme"),
                row("project: 12\n", "/project", 1, "in quotes", "12"),
                row("project: p\nprovder: openai\n", "/provder", 2, "did you mean provider?", "openai"),
                row("project: p\ncompletely_else: {a: 1}\n", "/completely_else", 2, "unknown key", "{…}"),
                row("project: p\na/b~c: 1\n", "/a~1b~0c", 2, "unknown key", "1"),
                row("project: p\nprovider: claude\n", "/provider", 2, "one of anthropic, openai, gemini", "claude"),
                row("project: p\naccount: team\n", "/account", 2, "one of api, subscription", "team"),
                row("project: p\nupstream: ftp://x\n", "/upstream", 2, "http or https", "ftp://x"),
                row("project: p\npreset: anthropic/nix\n", "/preset", 2, "no such preset", "anthropic/nix"),
                row("project: p\nheadroom: 1.1\n", "/headroom", 2, "from 0.01 to 1", "1.1"),
                row("project: p\nheadroom: 0\n", "/headroom", 2, "from 0.01 to 1", "0"),
                row("project: p\nheadroom: 0.99999\n", "/headroom", 2, "at most 4 decimals", "0.99999"),
                row("project: p\nheadroom: .nan\n", "/headroom", 2, "must be a number", ".nan"),
                row("project: p\nburst: 5\n", "/burst", 2, "must be a duration from 1ms to 1h", "5"),
                row("project: p\nburst: 0s\n", "/burst", 2, "must be a duration", "0s"),
                row("project: p\nquantum: 1 minute\n", "/quantum", 2, "must be a duration", "1 minute"),
                row("project: p\nlease: 16m\n", "/lease", 2, "from 1s to 15m", "16m"),
                row("project: p\nlease: 999ms\n", "/lease", 2, "from 1s to 15m", "999ms"),
                row("project: p\nlease: -5s\n", "/lease", 2, "from 1s to 15m", "-5s"),
                row("project: p\nqueue: 100\n", "/queue", 2, "must be a mapping", "100"),
                row("project: p\nqueue:\n  max_waiters: -1\n", "/queue/max_waiters", 3, "from 0 to 100000", "-1"),
                row("project: p\nqueue:\n  max_waiters: 1.5\n", "/queue/max_waiters", 3, "whole number", "1.5"),
                row("project: p\nqueue:\n  max_wait: 8d\n", "/queue/max_wait", 3, "from 0s to 7d", "8d"),
                row("project: p\nqueue: {max_waiter: 1}\n", "/queue/max_waiter", 2, "did you mean max_waiters?", "1"),
                row("project: p\noutage: open\n", "/outage", 2, "local-share, fail-closed, fail-open", "open"),
                row("project: p\nmode: off\n", "/mode", 2, "enforce, shadow", "off"),
                row("project: p\nclasses: {name: x}\n", "/classes", 2, "must be a list", "{…}"),
                row("project: p\nclasses:\n  - sonnet\n", "/classes/0", 3, "must be a mapping", "sonnet"),
                row("project: p\nclasses:\n  - models: [m]\n", "/classes/0/name", 3, "must be there", ""),
                row(
                        "project: p\nclasses:\n  - name: a b\n    models: [m]\n",
                        "/classes/0/name",
                        3,
                        "must be a name",
                        "a b"),
                row("project: p\nclasses:\n  - name: a\n", "/classes/0/models", 3, "must be there", ""),
                row(
                        "project: p\nclasses:\n  - name: a\n    models: []\n",
                        "/classes/0/models",
                        4,
                        "at least one",
                        "[]"),
                row(
                        "project: p\nclasses: [{name: a, models: ['m[1]']}]\n",
                        "/classes/0/models/0",
                        2,
                        "only wildcards",
                        "m[1]"),
                row(
                        "project: p\nclasses: [{name: a, models: ['']}]\n",
                        "/classes/0/models/0",
                        2,
                        "1 to 256 characters",
                        ""),
                row("project: p\nclasses: [{name: a, models: [1]}]\n", "/classes/0/models/0", 2, "in quotes", "1"),
                row(
                        "project: p\nclasses: [{name: a, models: [m], output_reserve: all}]",
                        "/classes/0/output_reserve",
                        2,
                        "learned, max, none",
                        "all"),
                row(
                        "project: p\nclasses: [{name: a, models: [m], max_output: 0}]",
                        "/classes/0/max_output",
                        2,
                        "from 1 to",
                        "0"),
                row("project: p\nteams: [{weight: 2}]", "/teams/0/name", 2, "must be there", ""),
                row("project: p\nteams: [{name: t, weight: 0}]", "/teams/0/weight", 2, "from 1 to 1000", "0"),
                row("project: p\nteams: [{name: other}]", "/teams/0/name", 2, "unlisted", "other"),
                row("project: p\npriorities: {urgent: 2}", "/priorities/urgent", 2, "unknown key", "2"),
                row("project: p\npriorities: {batch: 0}", "/priorities/batch", 2, "from 1 to 1000", "0"),
                row("project: p\nprices: {m: {input: 1}}", "/prices/m/output", 2, "must be there", ""),
                row("project: p\nprices: {m: {input: -1, output: 1}}", "/prices/m/input", 2, "from 0 to", "-1"),
                row("project: p\nprices: {'m m': {input: 1, output: 1}}", "/prices/m m", 2, "model pattern", "{…}"),
                // The message never breaks a line, whatever the value holds.
                row("project: \"a\\nb\"", "/project", 1, "must be a project id", "a b"),
                row("project: " + "x".repeat(300), "/project", 1, "must be a project id", "x".repeat(128) + "…"));
    }

    static Stream<Arguments> limits() {
        return Stream.of(
                row("project: p\nlimits: [rpm]", "/limits", 2, "must be a mapping", "[…]"),
                row("project: p\nlimits: {rpm: -1}", "/limits/rpm", 2, "from 0 to", "-1"),
                row("project: p\nlimits: {rpm: '60'}", "/limits/rpm", 2, "without quotes", "60"),
                row("project: p\nlimits: {rpm: true}", "/limits/rpm", 2, "must be a number", "true"),
                row("project: p\nlimits: {rpm: 0.0000001}", "/limits/rpm", 2, "at most 6 decimals", "0.0000001"),
                row("project: p\nlimits: {rpm: {}}", "/limits/rpm/amount", 2, "must be there", ""),
                row(
                        "project: p\nlimits: {rpm: {amount: 1, headroom: 1, bursts: 1s}}",
                        "/limits/rpm/bursts",
                        2,
                        "did you mean burst?",
                        "1s"),
                row("project: p\nlimits: {concurrency: 1.5}", "/limits/concurrency", 2, "whole number", "1.5"),
                row(
                        "project: p\nlimits: {concurrency: {amount: 1, per: minute}}",
                        "/limits/concurrency/per",
                        2,
                        "does not go with concurrency",
                        "minute"),
                row("project: p\nlimits: {rmp: 60}", "/limits/rmp", 2, "did you mean rpm?", "rmp"),
                row(
                        "project: p\nlimits: {images: 60}",
                        "/limits/images",
                        2,
                        "one of your own needs per, and weights or of",
                        "images"),
                row("project: p\nlimits: {'a b': 60}", "/limits/a b", 2, "name must be", "60"),
                row("project: p\nlimits: {x: {amount: 60, of: requests}}", "/limits/x/per", 2, "must be there", ""),
                row(
                        "project: p\nlimits: {x: {amount: 60, per: week, of: requests}}",
                        "/limits/x/per",
                        2,
                        "minute, hour, day, month",
                        "week"),
                row(
                        "project: p\nlimits: {x: {amount: 60, per: 999ms, of: requests}}",
                        "/limits/x/per",
                        2,
                        "from 1s",
                        "999ms"),
                row(
                        "project: p\nlimits: {x: {amount: 60, per: hour, of: images}}",
                        "/limits/x/of",
                        2,
                        "requests, tokens, usd",
                        "images"),
                row(
                        "project: p\nlimits: {x: {amount: 60, per: hour, of: tokens, weights: {input: 1}}}",
                        "/limits/x/of",
                        2,
                        "give one of them",
                        "tokens"),
                row(
                        "project: p\nlimits: {rpm: {amount: 60, per: hour}}",
                        "/limits/rpm/per",
                        2,
                        "rpm is per minute",
                        "hour"),
                row(
                        "project: p\nlimits: {rpm: {amount: 60, of: tokens}}",
                        "/limits/rpm/of",
                        2,
                        "what rpm counts is known",
                        "tokens"),
                row(
                        "project: p\nlimits: {x: {amount: 60, per: hour, weights: {input: 0}}}",
                        "/limits/x/weights",
                        2,
                        "above 0",
                        "{…}"),
                row(
                        "project: p\nlimits: {x: {amount: 60, per: hour, weights: {input: -1}}}",
                        "/limits/x/weights/input",
                        2,
                        "from 0 to",
                        "-1"),
                row(
                        "project: p\nlimits: {itpm: {amount: 60, weights: {cache_read: 0.00001}}}",
                        "/limits/itpm/weights/cache_read",
                        2,
                        "at most 4 decimals",
                        "0.00001"),
                row(
                        "project: p\nlimits: {itpm: {amount: 60, weights: {cached: 1}}}",
                        "/limits/itpm/weights/cached",
                        2,
                        "unknown key",
                        "1"),
                row(
                        "project: p\nlimits: {itpm: {amount: 60, weights_for: {'m{': {input: 1}}}}",
                        "/limits/itpm/weights_for/m{",
                        2,
                        "model pattern",
                        "{…}"),
                // the class's limits have the same rules
                row(
                        "project: p\nclasses:\n  - name: a\n    models: [m]\n    limits:\n      rpm: 60\n      tpm: -1\n",
                        "/classes/0/limits/tpm",
                        7,
                        "from 0 to",
                        "-1"));
    }

    static Stream<Arguments> windows() {
        return Stream.of(
                row(
                        "project: p\nlimits: {rpm: {amount: 60, zone: UTC}}",
                        "/limits/rpm/zone",
                        2,
                        "window: calendar only",
                        "UTC"),
                row(
                        "project: p\nlimits: {rpm: {amount: 60, window: fixed}}",
                        "/limits/rpm/window",
                        2,
                        "refill, calendar, rolling",
                        "fixed"),
                row(
                        "project: p\nlimits: {rpm: {amount: 60, burst: 61s}}",
                        "/limits/rpm/burst",
                        2,
                        "at most the limit's period",
                        "61s"),
                row(
                        "project: p\nlimits: {rpm: {amount: 60, quantum: 2m}}",
                        "/limits/rpm/quantum",
                        2,
                        "at most the limit's period",
                        "2m"),
                row(
                        "project: p\nlimits: {x: {amount: 60, per: 2h, window: refill, of: requests, headroom: 1}}",
                        "/limits/x/headroom",
                        2,
                        "periods up to 1h only",
                        "1"),
                row(
                        "project: p\nlimits: {x: {amount: 60, per: 90000001ms, window: refill, of: requests}}",
                        "/limits/x/per",
                        2,
                        "whole seconds above a day",
                        "90000001ms"),
                row(
                        "project: p\nlimits: {x: {amount: 60, per: month, window: refill, of: requests}}",
                        "/limits/x/window",
                        2,
                        "no fixed length",
                        "refill"),
                // 2^53 - 1 over 60,000,000 ticks × 0.9: whole amounts up to 16,679,998 are always exact.
                row(
                        "project: p\nlimits: {tpm: 1000000001}",
                        "/limits/tpm",
                        2,
                        "every whole amount up to 16679998 can",
                        "1000000001"),
                // 1 × 0.9: the bucket would never hold one call.
                row("project: p\nlimits: {rpm: 1}", "/limits/rpm", 2, "no call could ever pass", "1"),
                row(
                        "project: p\nlimits: {rpm: {amount: 60, quantum: 1s}}",
                        "/limits/rpm",
                        2,
                        "less than one call fits into 1s",
                        "{…}"));
    }

    static Stream<Arguments> together() {
        return Stream.of(
                row(
                        "project: p\nclasses:\n  - {name: a, models: [m]}\n  - {name: a, models: [n]}\n",
                        "/classes/1/name",
                        4,
                        "name of an earlier class",
                        "a"),
                row(
                        "project: p\nteams:\n  - {name: a}\n  - {name: a}\n",
                        "/teams/1/name",
                        4,
                        "name of an earlier team",
                        "a"),
                row(
                        "project: p\nclasses: [" + entries(201, "{name: c%d, models: [m%d]}") + "]",
                        "/classes",
                        2,
                        "at most 200 entries, has 201",
                        "[…]"),
                row(
                        "project: p\nteams: [" + entries(201, "{name: t%d}") + "]",
                        "/teams",
                        2,
                        "at most 200 entries, has 201",
                        "[…]"),
                row(
                        "project: p\nlimits: {" + entries(33, "x%d: {amount: 9, per: hour, of: tokens}") + "}",
                        "/limits",
                        2,
                        "at most 32 limits",
                        "{…}"));
    }

    /** Valid by the grammar, refused because nothing would enforce it. */
    static Stream<Arguments> notYet() {
        String classes = "project: p\nclasses:\n  - name: a\n    models: [m]\n";
        return Stream.of(
                row(
                        "project: p\nmode: shadow\n",
                        "/mode",
                        2,
                        "mode: shadow is not enforced by this version yet",
                        "shadow"),
                row(
                        classes + "workspaces: [{name: w, classes: [{name: a, limits: {rpm: 60}}]}]\n",
                        "/workspaces",
                        5,
                        "workspaces is not enforced",
                        "[…]"),
                row(
                        "project: p\neach: [{by: agent, limits: {rpm: 60}, max: 10}]\n",
                        "/each",
                        2,
                        "each is not enforced",
                        "[…]"),
                row(
                        "project: p\nramp: {from: 0.1, double_every: 60s, agents_per_minute: 10}\n",
                        "/ramp",
                        2,
                        "ramp is not enforced",
                        "{…}"),
                row(
                        "project: p\nteams:\n  - name: t\n    limits: {rpm: 60}\n",
                        "/teams/0/limits",
                        4,
                        "limits is not enforced",
                        "{…}"),
                row(
                        classes + "teams: [{name: t, classes: [{name: a, limits: {rpm: 60}}]}]\n",
                        "/teams/0/classes",
                        5,
                        "classes is not enforced",
                        "[…]"),
                row(
                        classes + "    when: {service_tier: standard, context_over: 200000}\n",
                        "/classes/0/when",
                        5,
                        "when is not enforced",
                        "{…}"),
                row("project: p\nlimits: {rpd: 60}\n", "/limits/rpd", 2, "a calendar window is not enforced", "60"),
                row(
                        "project: p\nlimits: {tpd: {amount: 60, zone: UTC}}\n",
                        "/limits/tpd",
                        2,
                        "a calendar window is not enforced",
                        "{…}"),
                row(
                        "project: p\nlimits: {x: {amount: 60, per: 5h, of: tokens}}\n",
                        "/limits/x",
                        2,
                        "a rolling window is not enforced",
                        "{…}"),
                row(
                        "project: p\nlimits: {rpm: {amount: 60, window: rolling}}\n",
                        "/limits/rpm",
                        2,
                        "a rolling window is not enforced",
                        "{…}"),
                row(
                        "project: p\nlimits: {usd: {amount: 5, per: hour}}\n",
                        "/limits/usd",
                        2,
                        "a limit in usd is not enforced",
                        "{…}"),
                row("project: p\nlimits: {agents: 5}\n", "/limits/agents", 2, "a limit on agents is not enforced", "5"),
                row("project: p\nlimits: {rpm: {adopt: true}}\n", "/limits/rpm", 2, "adopt is not enforced", "{…}"),
                row(
                        "project: p\nlimits: {rpm: {adaptive: {start: 10, max: 100}}}\n",
                        "/limits/rpm",
                        2,
                        "adaptive is not enforced",
                        "{…}"));
    }

    @Test
    void refusesMoneyWithoutAPrice() {
        List<Problem> problems = problems("""
                project: p
                classes:
                  - {name: a, models: ["m-*", "n"]}
                limits: {usd: {amount: 5, per: hour}}
                prices: {"n*": {input: 1, output: 2}}
                """);

        assertThat(problems).anySatisfy(problem -> {
            assertThat(problem.path()).isEqualTo("/limits/usd");
            assertThat(problem.line()).isEqualTo(4);
            assertThat(problem.message()).isEqualTo("needs a price for m-* of class a");
        });
        assertThat(problems).noneMatch(problem -> problem.message().contains("price for n "));
    }

    @Test
    void refusesWhatANotYetEnforcedPartGetsWrong() {
        assertThat(
                        problems(
                                "project: p\nteams: [{name: t, classes: [{name: sonet}]}]\nclasses: [{name: sonnet, models: [m]}]"))
                .anyMatch(problem -> problem.path().equals("/teams/0/classes/0/name")
                        && problem.message().contains("did you mean sonnet?"));
        assertThat(problems("project: p\neach: [{by: host, limits: {rpm: 60}}]"))
                .anyMatch(problem -> problem.path().equals("/each/0/by"));
    }

    @Test
    void reportsEverythingAtOnceInTheOrderOfTheDocument() {
        List<Problem> problems = problems("""
                {
                  "project": "Bad Name",
                  "lease": "1h",
                  "limits": {
                    "rpm": -5,
                    "rpm": 6,
                    "itmp": 7
                  },
                  "classes": [
                    {"name": "a", "models": ["m m"]}
                  ],
                  "headrom": 0.9
                }
                """);

        assertThat(problems)
                .extracting(Problem::path)
                .containsExactly(
                        "/project",
                        "/lease",
                        "/limits/rpm",
                        "/limits/rpm",
                        "/limits/itmp",
                        "/classes/0/models/0",
                        "/headrom");
        assertThat(problems).extracting(Problem::line).containsExactly(2, 3, 5, 6, 7, 10, 12);
    }

    @Test
    void listsNoMoreProblemsThanAPersonReads() {
        List<Problem> problems =
                problems("project: p\n" + entries(1_500, "k%d: 1").replace(", ", "\n"));

        assertThat(problems).hasSize(Problems.MAX + 1);
        assertThat(problems.get(Problems.MAX).message()).isEqualTo("and 500 more problems");
    }

    @Test
    void refusesDeepNesting() {
        assertThat(problems("project: p\nx: " + "[".repeat(15) + "]".repeat(15)))
                .noneMatch(problem -> problem.message().contains("levels deep"));
        assertThat(problems("project: p\nx: " + "[".repeat(16) + "]".repeat(16)))
                .anyMatch(problem -> problem.path().equals("/x" + "/0".repeat(15))
                        && problem.message().equals("is nested more than 16 levels deep"));
    }

    @Test
    void survivesNestingOfAnyDepth() {
        assertThat(problems("[".repeat(100_000))).isNotEmpty();
        assertThat(problems("{a: ".repeat(50_000))).isNotEmpty();
        assertThat(problems("- ".repeat(100_000))).isNotEmpty();
    }

    private static List<Problem> problems(String text) {
        return Objects.requireNonNull(catchThrowableOfType(InvalidPolicyException.class, () -> Policy.parse(text)))
                .problems();
    }

    private static Arguments row(String text, String path, int line, String message, String value) {
        return Arguments.of(text, path, line, message, value);
    }

    private static String entries(int count, String format) {
        return IntStream.range(0, count)
                .mapToObj(i -> format.replace("%d", String.valueOf(i)))
                .collect(Collectors.joining(", "));
    }
}
