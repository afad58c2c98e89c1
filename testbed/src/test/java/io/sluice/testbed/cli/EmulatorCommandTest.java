package io.sluice.testbed.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.sluice.testbed.emulator.Emulator;
import io.sluice.testbed.emulator.EmulatorOptions;
import io.sluice.testbed.emulator.Limits;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

@Timeout(30)
class EmulatorCommandTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @Test
    void saysWhereItListensAndRunsUntilInterrupted() throws InterruptedException {
        AtomicInteger exit = new AtomicInteger(-1);
        Thread run = new Thread(() -> exit.set(execute(
                "--provider anthropic --port 0 --limits rpm=60,concurrency=4 --counting quantised --burst 5s")));
        run.start();
        await().until(() -> out.toString().contains("\n"));
        assertThat(out.toString())
                .matches("emulating anthropic on http://127.0.0.1:\\d+ "
                        + "\\(limits: rpm=60,concurrency=4; counting: quantised, burst 5000 ms\\)\\R");

        run.interrupt();
        run.join();

        assertThat(exit).hasValue(0);
        assertThat(err.toString()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            --provider anthropic --port 0 --limits rps=5             | unknown limit 'rps'
            --provider anthropic --port 0 --limits rpm=many          | no whole number: 'many'
            --provider anthropic --port many                         | 'many'
            --provider anthropic --port 70000                        | port must be 0 to 65535
            --provider acme --port 0                                 | unknown provider 'acme'
            --provider anthropic --port 0 --overload share=2         | overload: share must be a number from 0 to 1
            --provider anthropic --port 0 --plan 5h=0                | plan: 5h must be a whole number from 1
            --provider openrouter --port 0 --plan 5h=9               | openrouter has no plan windows
            --provider openai --port 0 --lies white                  | lies must be one of
            --provider openai --port 0 --new-day-in soon             | new-day-in is no time
            --provider openai --port 0 --prices input=x              | prices: input must be a number
            --provider openai --port 0 --spend as=window             | spend: openai has no window
            --provider gemini --port 0 --acceleration growth=2       | acceleration: start is needed
            --provider gemini --port 0 --stream-error kind=x         | stream-error: kind must be one of
            --provider anthropic --port 0 --counting guess           | unknown counting 'guess'
            --provider anthropic --port 0 --burst soon               | no time: 'soon'
            --provider anthropic --port 0 --burst 0s                 | burst must be 1 ms to 1 h
            --provider anthropic --port 0 --limits rpm=5 --burst 5s  | rpm=5 is less than one
            """)
    void aBadOptionIsOneLineAndExitTwo(String arguments, String words) {
        assertThat(execute(arguments)).isEqualTo(2);
        assertThat(err.toString().lines()).singleElement().asString().contains(words);
    }

    @Test
    void aTakenPortIsOneLineAndExitThree() {
        try (Emulator other = Emulator.start(EmulatorOptions.of("anthropic", Limits.NONE))) {
            assertThat(execute("--provider anthropic --port " + other.port())).isEqualTo(3);
            assertThat(err.toString().lines())
                    .singleElement()
                    .asString()
                    .contains("cannot listen on 127.0.0.1:" + other.port());
        }
    }

    /** As the launcher runs it: it prints what is wrong with the options, without the usage text. */
    private int execute(String arguments) {
        return new CommandLine(new EmulatorCommand())
                .setOut(new PrintWriter(out, true))
                .setErr(new PrintWriter(err, true))
                .setParameterExceptionHandler((e, args) -> {
                    e.getCommandLine().getErr().println(e.getMessage());
                    return 2;
                })
                .execute(arguments.split(" +", -1));
    }
}
