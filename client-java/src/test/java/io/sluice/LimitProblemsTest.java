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
class LimitProblemsTest {

    /** Every row: the document, then the only problem it has: path, line, part of the message, value. */
    @ParameterizedTest
    @MethodSource({
        "limits",
        "windows",
        "together",
        "parts",
        "found",
        "money",
        "amountsOfWindows",
        "agentsOfWhatHasNoName"
    })
    void reportsExactly(String text, String path, int line, String message, String value) {
        List<Problem> problems = problems(text);

        assertThat(problems).hasSize(1);
        Problem problem = problems.get(0);
        assertThat(problem.path()).isEqualTo(path);
        assertThat(problem.line()).isEqualTo(line);
        assertThat(problem.message()).contains(message);
        assertThat(problem.value()).isEqualTo(value);
    }

    static Stream<Arguments> limits() {
        return Stream.of(
                row("project: p\nlimits: [rpm]", "/limits", 2, "must be a mapping", "[…]"),
                limit("rpm: -1", "/rpm", "from 0 to", "-1"),
                limit("rpm: '60'", "/rpm", "without quotes", "60"),
                limit("rpm: true", "/rpm", "must be a number", "true"),
                limit("rpm: 0.0000001", "/rpm", "at most 6 decimals", "0.0000001"),
                limit("rpm: {}", "/rpm/amount", "must be there", ""),
                limit("rpm: {amount: 1, headroom: 1, bursts: 1s}", "/rpm/bursts", "did you mean burst?", "1s"),
                limit("concurrency: 1.5", "/concurrency", "whole number", "1.5"),
                limit(
                        "concurrency: {amount: 1, per: minute}",
                        "/concurrency/per",
                        "does not go with concurrency",
                        "minute"),
                limit("rmp: 60", "/rmp", "did you mean rpm?", "rmp"),
                limit("images: 60", "/images", "one of your own needs per, and weights or of", "images"),
                limit("'a b': 60", "/a b", "name must be", "60"),
                limit("x: {amount: 60, of: requests}", "/x/per", "must be there", ""),
                limit("x: {amount: 60, per: week, of: requests}", "/x/per", "minute, hour, day, month", "week"),
                limit("x: {amount: 60, per: 999ms, of: requests}", "/x/per", "from 1s", "999ms"),
                limit("x: {amount: 60, per: hour, of: images}", "/x/of", "requests, tokens, usd", "images"),
                limit(
                        "x: {amount: 60, per: hour, of: tokens, weights: {input: 1}}",
                        "/x/of",
                        "give one of them",
                        "tokens"),
                limit("rpm: {amount: 60, per: hour}", "/rpm/per", "rpm is per minute", "hour"),
                limit("rpm: {amount: 60, of: tokens}", "/rpm/of", "what rpm counts is known", "tokens"),
                limit("x: {amount: 60, per: hour, weights: {input: 0}}", "/x/weights", "above 0", "{…}"),
                limit("x: {amount: 60, per: hour, weights: {input: -1}}", "/x/weights/input", "from 0 to", "-1"),
                limit(
                        "itpm: {amount: 60, weights: {cache_read: 0.00001}}",
                        "/itpm/weights/cache_read",
                        "at most 4 decimals",
                        "0.00001"),
                limit("itpm: {amount: 60, weights: {cached: 1}}", "/itpm/weights/cached", "unknown key", "1"),
                limit(
                        "itpm: {amount: 60, weights_for: {'m{': {input: 1}}}",
                        "/itpm/weights_for/m{",
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
                limit("rpm: {amount: 60, zone: UTC}", "/rpm/zone", "window: calendar only", "UTC"),
                limit("rpm: {amount: 60, window: fixed}", "/rpm/window", "refill, calendar, rolling", "fixed"),
                limit("rpm: {amount: 60, burst: 61s}", "/rpm/burst", "at most the limit's period", "61s"),
                limit("rpm: {amount: 60, quantum: 2m}", "/rpm/quantum", "at most the limit's period", "2m"),
                limit(
                        "x: {amount: 60, per: 2h, window: refill, of: requests, headroom: 1}",
                        "/x/headroom",
                        "periods up to 1h only",
                        "1"),
                limit(
                        "x: {amount: 60, per: 90000001ms, window: refill, of: requests}",
                        "/x/per",
                        "whole seconds above a day",
                        "90000001ms"),
                limit(
                        "x: {amount: 60, per: month, window: refill, of: requests}",
                        "/x/window",
                        "no fixed length",
                        "refill"),
                // 2^53 - 1 over 60,000,000 ticks × 0.9: whole amounts up to 16,679,998 are always exact.
                limit("tpm: 1000000001", "/tpm", "every whole amount up to 16679998 can", "1000000001"),
                // 1 × 0.9: the bucket would never hold one call.
                limit("rpm: 1", "/rpm", "no call could ever pass", "1"),
                limit("rpm: {amount: 60, quantum: 1s}", "/rpm", "less than one call fits into 1s", "{…}"));
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

    /** Workspaces, teams, and each agent, team or run. */
    static Stream<Arguments> parts() {
        String classes = "project: p\nclasses: [{name: sonnet, models: [m]}]\n";
        return Stream.of(
                row("project: p\nworkspaces: {name: w}", "/workspaces", 2, "must be a list", "{…}"),
                row("project: p\nworkspaces:\n  - limits: {rpm: 60}", "/workspaces/0/name", 3, "must be there", ""),
                row("project: p\nworkspaces: [{name: 'w|x'}]", "/workspaces/0/name", 2, "must be a name", "w|x"),
                row(
                        "project: p\nworkspaces:\n  - {name: w}\n  - {name: w}\n",
                        "/workspaces/1/name",
                        4,
                        "name of an earlier workspace",
                        "w"),
                row("project: p\nworkspaces: [{name: w, weight: 2}]", "/workspaces/0/weight", 2, "unknown key", "2"),
                row(
                        classes + "workspaces: [{name: w, classes: [{name: sonet, limits: {rpm: 60}}]}]",
                        "/workspaces/0/classes/0/name",
                        3,
                        "is not the name of a class; did you mean sonnet?",
                        "sonet"),
                row(
                        classes + "teams: [{name: t, classes: [{name: sonnet}, {name: sonnet}]}]",
                        "/teams/0/classes/1/name",
                        3,
                        "has its limits in an earlier entry",
                        "sonnet"),
                row(
                        "project: p\nteams: [{name: t, limits: {concurrency: -1}}]",
                        "/teams/0/limits/concurrency",
                        2,
                        "from 0 to",
                        "-1"),
                row(
                        "project: p\nteams: [{name: t, limits: {agents: 1.5}}]",
                        "/teams/0/limits/agents",
                        2,
                        "whole",
                        "1.5"),
                row("project: p\neach: [{limits: {rpm: 60}}]", "/each/0/by", 2, "must be there", ""),
                row(
                        "project: p\neach: [{by: host, limits: {rpm: 60}}]",
                        "/each/0/by",
                        2,
                        "one of agent, team, run",
                        "host"),
                row("project: p\neach: [{by: agent}]", "/each/0/limits", 2, "must be there", ""),
                row(
                        "project: p\neach: [{by: agent, limits: {rpm: 60}, max: 0}]",
                        "/each/0/max",
                        2,
                        "from 1 to 1000000",
                        "0"),
                row(
                        "project: p\neach:\n  - {by: run, limits: {rpm: 60}}\n  - {by: run, limits: {tpm: 60}}\n",
                        "/each/1/by",
                        4,
                        "has its limits in an earlier entry",
                        "run"),
                // Their numbers must be as exact and as passable as the project's.
                row(
                        "project: p\nworkspaces: [{name: w, limits: {tpm: 1000000001}}]",
                        "/workspaces/0/limits/tpm",
                        2,
                        "every whole amount up to 16679998 can",
                        "1000000001"),
                row(
                        classes + "teams: [{name: t, classes: [{name: sonnet, limits: {rpm: 1}}]}]",
                        "/teams/0/classes/0/limits/rpm",
                        3,
                        "no call could ever pass",
                        "1"),
                row(
                        "project: p\neach: [{by: agent, limits: {rpm: {amount: 60, quantum: 1s}}}]",
                        "/each/0/limits/rpm",
                        2,
                        "less than one call fits into 1s",
                        "{…}"),
                // 5 teams with limits in each of 199 classes, and the teams, the classes and the project themselves.
                row(
                        "project: p\nclasses: [" + entries(199, "{name: c%d, models: [m%d]}") + "]\nteams: ["
                                + entries(
                                        5,
                                        "{name: t%d, limits: {agents: 2, rpm: 60}, classes: ["
                                                + entries(199, "{name: c%d, limits: {rpm: 60}}")
                                                        .replace("%d", "%%d")
                                                + "]}")
                                + "]",
                        "",
                        1,
                        "has 1205 scopes with limits of their own; at most 1000 may be",
                        "{…}"));
    }

    /** Amounts that come with the provider's answers. */
    static Stream<Arguments> found() {
        String classes = "project: p\nclasses:\n  - name: a\n    models: [m]\n";
        return Stream.of(
                limit("rpm: {amount: 9, adopt: 1}", "/rpm/adopt", "true or false", "1"),
                limit("rpm: {adopt: false}", "/rpm/amount", "must be there", ""),
                limit("rpm: {adaptive: 5}", "/rpm/adaptive", "must be a mapping", "5"),
                limit("rpm: {adaptive: {max: 5}}", "/rpm/adaptive/start", "the amount to begin with", ""),
                limit("rpm: {adaptive: {start: 0, max: 5}}", "/rpm/adaptive/start", "from 0.000001", "0"),
                limit("rpm: {adaptive: {start: 50, max: 5}}", "/rpm/adaptive/start", "must be at most max", "50"),
                limit("tpm: {adaptive: {start: 50, max: 9000000}}", "/tpm/adaptive/start", "1/100000 of max", "50"),
                limit("rpm: {adaptive: {start: 5, most: 9}}", "/rpm/adaptive/most", "unknown key", "9"),
                limit("rpm: {amount: 9, adaptive: {start: 5}}", "/rpm/amount", "begins with start", "9"),
                limit("rpm: {adopt: true, adaptive: {start: 5}}", "/rpm/adopt", "give one of them", "true"),
                // 1 × 0.9: not one call, to begin with
                limit("rpm: {adaptive: {start: 1, max: 100}}", "/rpm", "no call could ever pass", "{…}"),
                limit(
                        "tpm: {adaptive: {start: 1000000, max: 1000000001}}",
                        "/tpm",
                        "every whole amount up to 16679998 can",
                        "{…}"),
                limit(
                        "x: {amount: 9, per: hour, of: tokens, adopt: true}",
                        "/x/adopt",
                        "goes with rpm, itpm, otpm, tpm only",
                        "true"),
                limit("usd: {per: hour, adopt: true}", "/usd/adopt", "goes with rpm, itpm, otpm, tpm only", "true"),
                limit(
                        "rpm: {window: calendar, adaptive: {start: 5}}",
                        "/rpm/adaptive",
                        "goes with window: refill only",
                        "{…}"),
                limit(
                        "concurrency: {adaptive: {start: 1, max: 5}}",
                        "/concurrency/adaptive",
                        "adaptive does not go with concurrency",
                        "{…}"),
                limit("agents: {amount: 5, adopt: true}", "/agents/adopt", "adopt does not go with agents", "true"),
                row(
                        classes + "workspaces: [{name: w, classes: [{name: a, limits: {rpm: {adopt: true}}}]}]\n",
                        "/workspaces/0/classes/0/limits/rpm",
                        5,
                        "adopt goes with the limits of the project and its classes only",
                        "{…}"),
                row(
                        "project: p\neach: [{by: run, limits: {tpm: {adaptive: {start: 9000}}}}]\n",
                        "/each/0/limits/tpm",
                        2,
                        "adaptive goes with the limits of the project and its classes only",
                        "{…}"));
    }

    static Stream<Arguments> money() {
        String priced = "project: p\nprices: {'*': {input: 0.000001, output: 15}}\nlimits: {";
        return Stream.of(
                limit("usd: 5", "/usd/per", "must be there", ""),
                limit("usd: {amount: 5, per: hour, of: usd}", "/usd/of", "counts by prices", "usd"),
                limit("usd: {amount: 5, per: hour, weights: {input: 1}}", "/usd/weights", "counts by prices", "{…}"),
                limit(
                        "x: {amount: 5, per: hour, of: usd, weights_for: {m: {input: 1}}}",
                        "/x/weights_for",
                        "counts by prices",
                        "{…}"),
                row(
                        priced + "usd: {amount: 9008, per: month}}",
                        "/limits/usd",
                        3,
                        "usd cannot be counted exactly below 2^53; amounts up to 9007 can",
                        "{…}"),
                // 10^12 parts a dollar, because the price has 6 decimals of a micro-dollar
                row(
                        priced + "usd: {amount: 20000, per: hour}}",
                        "/limits/usd",
                        3,
                        "usd cannot be counted exactly below 2^53 with weights of 12 decimals",
                        "{…}"));
    }

    /** Windows count whole units of cost, and hold a whole amount. */
    static Stream<Arguments> amountsOfWindows() {
        return Stream.of(
                limit(
                        "x: {amount: 9007199254741, per: day, weights: {input: 0.001}}",
                        "/x",
                        "x cannot be counted exactly below 2^53; amounts up to 9007199254740 can",
                        "{…}"),
                limit(
                        "x: {amount: 1000000000000000, per: 5h, weights: {output: 1.25}}",
                        "/x",
                        "x cannot be counted exactly below 2^53; amounts up to 90071992547409 can",
                        "{…}"),
                limit("rpd: 0.5", "/rpd", "no call could ever pass: less than one fits into a window", "0.5"),
                limit(
                        "x: {amount: 2, per: 10m, window: rolling, weights: {requests: 3}}",
                        "/x",
                        "no call could ever pass: less than one fits into a window",
                        "{…}"));
    }

    static Stream<Arguments> agentsOfWhatHasNoName() {
        return Stream.of(row(
                "project: p\neach: [{by: team, limits: {agents: 5}}]\n",
                "/each/0/limits/agents",
                2,
                "agents are counted of what the policy names",
                "5"));
    }

    /** Every key of the grammar once. */
    @Test
    void understandsTheWholeGrammar() {
        Policy policy = Policy.parse("""
                project: acme-prod
                provider: anthropic
                account: subscription
                upstream: https://api.anthropic.com
                headroom: 0.9
                burst: 5s
                quantum: 60s
                lease: 30s
                queue: {max_waiters: 10000, max_wait: 10m}
                outage: local-share
                mode: shadow
                classes:
                  - name: sonnet
                    models: ["claude-sonnet-*"]
                    when: {service_tier: standard, speed: fast, endpoint: messages, context_over: 200000}
                    limits: {rpm: 4000, itpm: 2000000, otpm: 400000, concurrency: 64}
                    output_reserve: learned
                    max_output: 8192
                limits: {concurrency: 200, usd: {amount: 500, per: month, zone: UTC}}
                workspaces:
                  - name: prod
                    classes: [{name: sonnet, limits: {itpm: 1000000}}]
                    limits: {concurrency: 100}
                teams:
                  - {name: research, weight: 2, limits: {concurrency: 20}, classes: [{name: sonnet, limits: {rpm: 500}}]}
                each: [{by: agent, limits: {rpm: 120, concurrency: 4}, max: 10000}]
                priorities: {interactive: 16, normal: 4, batch: 1}
                ramp: {from: 0.1, double_every: 60s, agents_per_minute: 10}
                prices: {"claude-sonnet-*": {input: 3, cache_read: 0.3, cache_write: 3.75, output: 15}}
                """);

        assertThat(policy.warnings()).isEmpty();
        assertThat(Policy.parse(policy.toJson()).toJson()).isEqualTo(policy.toJson());
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
    void refusesATeamsMoneyWithoutAPriceForTheClassesItIsFor() {
        String classes = "project: p\nclasses: [{name: a, models: [m]}, {name: b, models: [n]}]\n";

        assertThat(problems(classes + "teams: [{name: t, limits: {usd: {amount: 5, per: hour}}}]"))
                .extracting(Problem::message)
                .contains("needs a price for m of class a", "needs a price for n of class b");
        assertThat(problems(classes
                        + "workspaces: [{name: w, classes: [{name: b, limits: {usd: {amount: 5, per: hour}}}]}]"))
                .extracting(Problem::message)
                .contains("needs a price for n of class b")
                .doesNotContain("needs a price for m of class a");
    }

    private static List<Problem> problems(String text) {
        return Objects.requireNonNull(catchThrowableOfType(InvalidPolicyException.class, () -> Policy.parse(text)))
                .problems();
    }

    private static Arguments row(String text, String path, int line, String message, String value) {
        return Arguments.of(text, path, line, message, value);
    }

    /** A limit of the project, on line 2, and a path below {@code /limits}. */
    private static Arguments limit(String limit, String path, String message, String value) {
        return row("project: p\nlimits: {" + limit + "}", "/limits" + path, 2, message, value);
    }

    private static String entries(int count, String format) {
        return IntStream.range(0, count)
                .mapToObj(i -> format.replace("%d", String.valueOf(i)))
                .collect(Collectors.joining(", "));
    }
}
