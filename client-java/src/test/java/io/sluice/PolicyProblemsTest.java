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
    @MethodSource({"syntax", "shapes"})
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
                row(
                        "project: p\npreset: anthropic/nix\n",
                        "/preset",
                        2,
                        "is no preset; there are anthropic/start,",
                        "anthropic/nix"),
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
