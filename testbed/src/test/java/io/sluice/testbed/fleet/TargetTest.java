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
import java.time.Instant;
import java.time.InstantSource;
import org.junit.jupiter.api.Test;
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
    @CsvSource({"ANTHROPIC, rpm=7, 9000", "OPENAI, rpm=7, 8572", "GEMINI, rpm=7, 8572", "OPENROUTER, rpm=7, 9000"})
    void aRejectionTellsItsWait(Provider provider, String limits, long waitMs) {
        try (Emulator emulator = emulator(provider, limits, Behaviour.NONE)) {
            Target target = new Target(emulator.uri(), Wire.of(provider));
            for (int i = 0; i < 7; i++) {
                assertThat(target.send(work()).join()).isInstanceOf(Answer.Served.class);
            }

            // 60 s / 7 = 8.57 s, in whole seconds where the provider says no finer.
            assertThat(target.send(work()).join()).isEqualTo(new Answer.Rejected(Duration.ofMillis(waitMs)));
        }
    }

    @Test
    void whatPassesIsARejectionAndWhatDoesNotIsNone() {
        try (Emulator emulator = emulator(Provider.OPENROUTER, "concurrency=0", Behaviour.NONE)) {
            Target target = new Target(emulator.uri(), Wire.OPENROUTER);
            assertThat(target.send(work()).join()).isEqualTo(new Answer.Rejected(Duration.ofSeconds(2)));
        }
        try (Emulator emulator = emulator(Provider.OPENROUTER, "usd=0", Behaviour.NONE)) {
            Target target = new Target(emulator.uri(), Wire.OPENROUTER);
            assertThat(target.send(work()).join()).isEqualTo(new Answer.Failed("HTTP 402"));
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
        return Emulator.start(EmulatorOptions.of(provider.label(), Limits.parse(limits))
                .behaviour(behaviour)
                .time(InstantSource.fixed(Instant.EPOCH)));
    }

    private static Work work() {
        return new Work("p0/a0", null, null, Priority.NORMAL, "some-model", "s", 0, 100, 400, 30, 64, 0, 3);
    }
}
