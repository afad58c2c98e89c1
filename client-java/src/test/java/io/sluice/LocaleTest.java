package io.sluice;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A machine's locale wrote numbers into a script's arguments that Redis could not read (redisson/redisson#2627). */
class LocaleTest {
    private static final Locale MACHINE = Locale.getDefault();

    @AfterEach
    void back() {
        Locale.setDefault(MACHINE);
    }

    @ParameterizedTest
    @ValueSource(strings = {"de-DE", "ar-EG-u-nu-arab", "tr-TR", "hi-IN-u-nu-deva"})
    void doesNotShowInWhatIsSentOrTold(String tag) {
        Locale.setDefault(Locale.ROOT);
        List<String> expected = texts();

        Locale.setDefault(Locale.forLanguageTag(tag));

        assertThat(texts()).isEqualTo(expected);
    }

    private static List<String> texts() {
        Policy policy = Budget.policy("acme", "rpm: 1234567, itpm: {amount: 1.5e6, headroom: 0.85}, concurrency: 1000");
        Store.Queued wait = new Store.Queued(12_345_678, 0, "c:m", "itpm", 1_234);
        return List.of(
                policy.toJson(),
                policy.scopes().toString(),
                Memo.of(new Permit.Reserved(1, 1_000_000, 2, 3, 4)),
                Permit.How.SETTLED.toString(),
                Priority.INTERACTIVE.label(),
                Refusal.Kind.WAIT.label(),
                Rejection.Kind.INPUT.label(),
                Refusals.wait(Refusal.Kind.WAIT, "acme", wait).message(),
                Refusals.of("acme", Budget.CALL, new Store.Answer.Never("p", "itpm", 1_000_000, 999_999))
                        .message(),
                new WaitListener.Waiting("acme", Budget.CALL, "p", "itpm", 1_000, Duration.ofSeconds(2_000), true)
                        .toString());
    }
}
