package io.sluice;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.Estimates.Usual;
import io.sluice.Permit.Reserved;
import java.util.List;
import java.util.Map;
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
        "LEARNED, 32000, 1,    1", // answers without output reserve one token: the scripts see to it
        "LEARNED, 0,     512,  0", // the call says that it wants none
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

    @ParameterizedTest
    @CsvSource({
        // bytes or none, attached tokens, millionths of a token a byte, cached; fresh, cached
        "3000, 4784, 250000, 0,      5534, 0",
        "3000, 4784, 0,      0,      5785, 0",
        "3000, 4250, 250000, 800000, 1000, 4000", // cached like the text it stands in
        "    , 4784, 250000, 800000, 4791, 0",
        "1000000000, 1000000000, 2000000000, 0, 1000000000, 0" // no call is larger than that
    })
    void whatIsAttachedComesOnTop(Long bytes, long attached, long perByte, long share, long fresh, long cached) {
        Call call = Call.of("m").inputTokens(7).attachedTokens(attached);
        call = bytes == null ? call : call.inputBytes(bytes);

        assertThat(reserve(call, OutputReserve.NONE, new Usual(0, perByte, share)))
                .isEqualTo(new Reserved(1, fresh, cached, 0, 0));
    }

    @ParameterizedTest
    @CsvSource({
        // how output is reserved, the call's cap, learned, reserved: of three answers
        "MAX,     ,     0,   24576", // its class's cap is one answer's
        "MAX,     1200, 0,   1200", // the call's is all of them together
        "LEARNED, ,     0,   24576",
        "LEARNED, ,     512, 512", // what is learned is of whole calls
        "NONE,    ,     0,   0"
    })
    void severalAnswersAreSoManyCaps(OutputReserve how, Long cap, long learned, long reserved) {
        Call call = Call.of("m").choices(3);
        call = cap == null ? call : call.maxOutputTokens(cap);

        assertThat(reserve(call, how, new Usual(learned, 0, 0)).output()).isEqualTo(reserved);
    }

    @ParameterizedTest
    @CsvSource({
        // told, came of it, reserved, cap; booked
        "1,    200,  4000, 4000, 200", // told at the start, and 200 more came
        "900,  200,  4000, 4000, 900",
        ",     200,  4000, 4000, ", // it ran to its end without a word: the estimate stands
        ",     200,  100,  4000, 200", // but never for less than came
        "1,    4500, 4000, 4000, 4000", // long words: no answer is longer than it may be
        ",     200,  0,    ,     200",
        ",     0,    0,    ,     ",
        "1,    0,    10,   ,     1"
    })
    void whatCameOfAStreamIsBooked(Long told, long seen, long reserved, Long cap, Long booked) {
        Reading reading =
                new Reading(null, new Usage(7L, null, null, told), false, seen, List.of(), List.of(), null, Map.of());
        Call call = cap == null ? Call.of("m") : Call.of("m").maxOutputTokens(cap);

        assertThat(Estimates.booked(reading, call, reserved)).isEqualTo(new Usage(7L, null, null, booked));
    }

    /** The provider's last word is not put right. */
    @Test
    void aCompleteUsageIsTakenAsItIs() {
        Reading reading = new Reading(null, new Usage(7, 0, 0, 3), true, 200, List.of(), List.of(), null, Map.of());

        assertThat(Estimates.booked(reading, Call.of("m"), 1)).isEqualTo(new Usage(7, 0, 0, 3));
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
        assertThat(Digests.of("h", call)).isNotEqualTo(Digests.of("h", call.attachedTokens(1)));
        assertThat(Digests.of("h", call)).isNotEqualTo(Digests.of("h", call.choices(2)));
    }
}
