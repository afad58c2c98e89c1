package io.sluice;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.Estimates.Usual;
import io.sluice.Permit.Reserved;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What calls reserve, by their own words and by what calls like them use. */
class EstimatesTest {

    private static Reserved reserve(Call call, OutputReserve output, Usual usual) {
        return Estimates.reserve(call, new ModelClass("m", List.of(), When.ALWAYS, output, 8_192), usual);
    }

    @ParameterizedTest
    @CsvSource({
        // how output is reserved, the call's cap, learned, reserved
        "LEARNED, 32000, 512,  512",
        "LEARNED, 32000, 0,    8192", // nothing known: no more than its class has
        "LEARNED, 100,   0,    100",
        "LEARNED, ,      0,    8192",
        "LEARNED, ,      512,  512",
        "LEARNED, 100,   512,  100", // the provider cuts it there
        "LEARNED, 32000, 9000, 9000", // what is learned may be more than its class assumes
        "LEARNED, ,      9000, 8192",
        "LEARNED, 0,     512,  1", // never nothing
        "MAX,     32000, 512,  32000",
        "MAX,     ,      512,  8192",
        "NONE,    32000, 512,  0"
    })
    void outputIsReservedAsTheClassSaysAndAsCallsLikeItUse(OutputReserve how, Long cap, long learned, long reserved) {
        Call call = cap == null ? Call.of("m") : Call.of("m").maxOutputTokens(cap);

        assertThat(reserve(call, how, new Usual(learned, 0, 0)).output()).isEqualTo(reserved);
    }

    @ParameterizedTest
    @CsvSource({
        // bytes, millionths of a token a byte, of the input cached; fresh, cached
        "3000, 0,       0,       1001, 0", // a third, rounded up
        "3000, 250000,  0,       750,  0",
        "3001, 250000,  0,       751,  0",
        "3000, 250000,  800000,  150,  600",
        "3001, 250000,  800000,  151,  600",
        "3000, 250000,  1000000, 0,    750",
        "0,    250000,  800000,  0,    0",
        "1,    1,       0,       1,    0",
        "1000000000, 2000000000, 0, 1000000000, 0" // no call is larger than that
    })
    void bytesAreTokensByWhatWasLearned(long bytes, long perByte, long share, long fresh, long cached) {
        Reserved reserved = reserve(Call.of("m").inputBytes(bytes), OutputReserve.NONE, new Usual(0, perByte, share));

        assertThat(reserved).isEqualTo(new Reserved(1, fresh, cached, 0, 0));
    }

    @Test
    void aCallThatSaysWhatIsCachedIsBelieved() {
        Usual usual = new Usual(0, 250_000, 800_000);
        Call call = Call.of("m").inputTokens(7).inputBytes(4_000);

        assertThat(reserve(call.cacheReadTokens(300), OutputReserve.NONE, usual))
                .isEqualTo(new Reserved(1, 700, 300, 0, 0));
        assertThat(reserve(call.cacheReadTokens(0), OutputReserve.NONE, usual))
                .isEqualTo(new Reserved(1, 1_000, 0, 0, 0));
        assertThat(reserve(call.cacheWriteTokens(400), OutputReserve.NONE, usual))
                .isEqualTo(new Reserved(1, 600, 0, 400, 0));
        assertThat(reserve(call.cacheReadTokens(9_000), OutputReserve.NONE, usual))
                .isEqualTo(new Reserved(1, 0, 9_000, 0, 0));
    }

    /** A call that counts its tokens needs nothing of that. */
    @Test
    void tokensAreTakenAsTheyAre() {
        Call call = Call.of("m").inputTokens(1_000);

        assertThat(reserve(call, OutputReserve.NONE, new Usual(0, 250_000, 800_000)))
                .isEqualTo(new Reserved(1, 1_000, 0, 0, 0));
    }

    /** A class for long contexts is found before anything of its calls is known. */
    @Test
    void theClassOfACallInBytesIsFoundByTheUsualSizeOfAToken() {
        Policy policy = Policy.parse("""
                project: p
                classes:
                  - {name: long, models: [m], when: {context_over: 200000}}
                  - {name: short, models: [m]}
                """);

        assertThat(policy.classOf(Call.of("m").inputBytes(500_000)))
                .extracting(ModelClass::name)
                .isEqualTo("short");
        assertThat(policy.classOf(Call.of("m").inputBytes(700_000)))
                .extracting(ModelClass::name)
                .isEqualTo("long");
    }

    @Test
    void theSizeInBytesIsPartOfTheCall() {
        Call call = Call.of("m").id("job-1").inputBytes(10);

        assertThat(Digests.of("h", call)).isNotEqualTo(Digests.of("h", call.inputBytes(11)));
    }
}
