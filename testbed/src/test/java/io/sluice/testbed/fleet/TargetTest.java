package io.sluice.testbed.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.Priority;
import io.sluice.Provider;
import io.sluice.Usage;
import io.sluice.testbed.emulator.Behaviour;
import io.sluice.testbed.emulator.Emulator;
import io.sluice.testbed.emulator.EmulatorOptions;
import io.sluice.testbed.emulator.Limits;
import io.sluice.testbed.fleet.Target.Answer;
import java.time.Duration;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** A fleet's calls against each provider's emulator. */
@Timeout(60)
class TargetTest {

    @ParameterizedTest
    @EnumSource(
            value = Provider.class,
            names = {"ANTHROPIC", "OPENAI", "GEMINI", "OPENROUTER"})
    void usageComesBackInOurOwnCountingWhateverTheProviders(Provider provider) {
        try (Emulator emulator = emulator(provider, "rpm=1000", Behaviour.NONE)) {
            Target target = new Target(emulator.uri(), Wire.of(provider));

            Answer answer = target.send(work()).join();

            assertThat(answer).isEqualTo(new Answer.Served(new Usage(100, 400, 0, 30)));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "ANTHROPIC, rpm=0, 60000",
        "OPENAI, rpm=0, 60000",
        "GEMINI, rpm=0, 60000",
        "OPENROUTER, rpm=0, 60000",
        "OPENROUTER, concurrency=0, 2000"
    })
    void aRejectionTellsItsWait(Provider provider, String limits, long waitMs) {
        try (Emulator emulator = emulator(provider, limits, Behaviour.NONE)) {
            Target target = new Target(emulator.uri(), Wire.of(provider));

            assertThat(target.send(work()).join()).isEqualTo(new Answer.Rejected(Duration.ofMillis(waitMs)));
        }
    }

    @ParameterizedTest
    @CsvSource({"ANTHROPIC, HTTP 529", "OPENAI, HTTP 503", "GEMINI, HTTP 503", "OPENROUTER, HTTP 503"})
    void overloadIsNoRejection(Provider provider, String why) {
        try (Emulator emulator = emulator(provider, "rpm=1", Behaviour.NONE.with("overload", "share=1"))) {
            Target target = new Target(emulator.uri(), Wire.of(provider));

            assertThat(target.send(work()).join()).isEqualTo(new Answer.Failed(why));
        }
    }

    private static Emulator emulator(Provider provider, String limits, Behaviour behaviour) {
        return Emulator.start(
                EmulatorOptions.of(provider.label(), Limits.parse(limits)).behaviour(behaviour));
    }

    private static Work work() {
        return new Work("p0/a0", null, null, Priority.NORMAL, "some-model", "s", 0, 100, 400, 30, 64, 0);
    }
}
