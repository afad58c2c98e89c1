package io.sluice.testbed.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class MainTest {
    private static final String POLICY = """
            project: acme
            provider: anthropic
            classes: [{name: all, models: ["*"], limits: {rpm: 60}}]
            """;

    @TempDir
    private Path directory;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    /** What was typed, the exit code, words of the one line. {@code GOOD} is a valid policy file. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            nothing                                                   | 2 | unknown command 'nothing'
            polici validate GOOD                                      | 2 | did you mean 'policy'?
            --frob                                                    | 2 | unknown option '--frob'
            fleet                                                     | 2 | missing required options: '--policy=FILE', '--target=URL'
            fleet --polcy GOOD                                        | 2 | unknown option '--polcy', did you mean '--policy'?
            fleet --policy GOOD --target http://localhost:1 more      | 2 | unexpected argument 'more'
            fleet --policy no/such/file --target http://localhost:1   | 2 | cannot read the policy file no/such/file
            fleet --policy BAD --target http://localhost:1            | 2 | /classes/0/limits/rpm
            fleet --policy GOOD --target ftp://localhost              | 2 | target must be an http or https URL
            fleet --policy GOOD --target http://localhost:1 --strategy luck | 2 | got 'luck'
            fleet --policy GOOD --target http://localhost:1 --strategy none --processes 0 | 2 | processes must be 1 to 64
            fleet --policy GOOD --target http://localhost:1 --strategy none --seconds 0s  | 2 | seconds must be 1 to 3600
            fleet --policy GOOD --target http://localhost:1 --seconds soon  | 2 | looks like 30s or 5m
            fleet --policy GOOD --target http://localhost:1 --strategy none --profile x.yaml | 2 | cannot read profile x.yaml
            fleet --policy GOOD --target http://localhost:1 --strategy none --project other  | 2 | is for acme
            fleet --policy GOOD --target http://localhost:1 --strategy none | 3 | localhost:1
            demo --compare luck                                       | 2 | got 'luck'
            demo --agents 0                                           | 2 | agents must be 1 to 200
            bench luck                                                | 2 | WHAT must be pairs, queue, server or chaos, got 'luck'
            bench --rounds 0                                          | 2 | rounds must be 1 to 50, got 0
            bench chaos --seconds 10                                  | 2 | seconds must be 20 to 3600, got 10
            bench chaos --processes 1                                 | 2 | processes must be 2 to 16, got 1
            bench chaos --processes 2 --agents 9                      | 2 | agents must be 20 in all, got 18: fewer do not use the budget up
            bench pairs --threads 1                                   | 2 | threads must be 2 to 256, got 1
            bench --seconds 10m                                       | 2 | seconds must be 0.05 to 300, got 600
            policy frob                                               | 2 | unknown command 'frob'
            policy validate                                           | 2 | missing required parameter: 'FILE'
            policy validate no/such/file                              | 2 | cannot read the policy file no/such/file
            policy apply GOOD --redis nowhere                         | 2 | --redis: no store for the scheme
            policy apply GOOD --redis redis://localhost:1             | 3 | localhost
            policy apply BAD --redis redis://localhost:1              | 1 | /classes/0/limits/rpm
            policy get acme --redis redis://localhost:1               | 3 | localhost
            policy get acme --redis redis://localhost:1 --server http://localhost:1 | 2 | name one of them
            policy get acme --server http://localhost:1               | 3 | nobody answers at http://localhost:1
            policy get acme --server http://localhost:1               | 3 | --redis URI asks Redis itself
            policy get --server http://localhost:1                    | 2 | name the project
            plan --in-flight 1 --server http://localhost:1            | 2 | name the project
            plan acme --project other --server http://localhost:1     | 2 | acme and other
            status acme --project other --server http://localhost:1   | 2 | acme and other
            hold acme --reason x --server localhost                   | 2 | must be such as http://localhost:8080
            policy get acme --redis redis://user:secretpw@host:99999999 | 2 | not the address of a Redis
            doctor --redis redis://user:secretpw@host:99999999        | 2 | not the address of a Redis
            doctor --redis nowhere                                    | 2 | --redis
            server --port 99999                                       | 2 | --port
            server --policies nowhere                                 | 2 | no directory nowhere
            server --tokens nowhere                                   | 2 | no file nowhere
            emulator --port 0 --provider acme                         | 2 | unknown provider 'acme'
            """)
    void saysWhatIsWrongInOneLine(String typed, int exit, String words) throws IOException {
        Path good = Files.writeString(directory.resolve("good.yaml"), POLICY);
        Path bad = Files.writeString(directory.resolve("bad.yaml"), POLICY.replace("60", "many"));

        int code = run(typed.replace("GOOD", good.toString()).replace("BAD", bad.toString()));

        assertThat(err.toString().lines())
                .singleElement()
                .asString()
                .contains(words)
                .doesNotContain("secretpw");
        assertThat(code).isEqualTo(exit);
    }

    /** A word of a help text that the formatter took for its own was told on standard error, beside every help. */
    @ParameterizedTest
    @MethodSource("commands")
    void everyCommandHasHelpAndNothingElseIsSaid(String command) {
        PrintStream errors = System.err;
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        System.setErr(new PrintStream(said, true, StandardCharsets.UTF_8));
        try {
            assertThat(run(command + " --help")).isZero();
        } finally {
            System.setErr(errors);
        }
        assertThat(out.toString()).startsWith("Usage: " + ("sluice " + command).strip());
        assertThat(err.toString()).isEmpty();
        assertThat(said.toString(StandardCharsets.UTF_8)).isEmpty();
    }

    static List<String> commands() {
        List<String> all = new ArrayList<>(List.of(""));
        new CommandLine(new Main()).getSubcommands().forEach((name, command) -> {
            all.add(name);
            command.getSubcommands().keySet().forEach(sub -> all.add(name + " " + sub));
        });
        return all;
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "policy"})
    void withoutACommandTheHelpIsAUsageError(String command) {
        assertThat(run(command)).isEqualTo(2);
        assertThat(err.toString()).startsWith("Usage: sluice");
    }

    @Test
    void theHelpTellsDefaults() {
        run("demo --help");

        assertThat(out.toString()).contains("default 30", "default 4", "default none");
    }

    private int run(String typed) {
        String[] args = typed.isBlank() ? new String[0] : typed.strip().split("\\s+", -1);
        return Main.run(new PrintWriter(out), new PrintWriter(err), args);
    }
}
