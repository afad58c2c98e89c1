package io.sluice.testbed.emulator;

import io.sluice.testbed.emulator.Decision.Rejected;
import java.util.Map;

/**
 * One provider's HTTP: how its requests are read, what its answers, headers and errors look like. Holds no state and
 * decides nothing. Another provider is another implementation.
 */
interface Dialect {

    /**
     * The dialect that speaks a provider's HTTP.
     *
     * @throws IllegalArgumentException if there is none
     */
    static Dialect of(EmulatorOptions options) {
        return switch (options.provider()) {
            case "anthropic" -> new AnthropicDialect(options.tokensPerSecond());
            case "openai" -> new OpenAiDialect(options.tokensPerSecond(), options.time());
            case "gemini" -> new GeminiDialect(options.tokensPerSecond());
            case "openrouter" -> new OpenRouterDialect(options.tokensPerSecond(), options.prices(), options.time());
            default ->
                throw new IllegalArgumentException("unknown provider '" + options.provider()
                        + "': known are anthropic, openai, gemini, openrouter");
        };
    }

    /** What the provider counts and keeps. */
    Rules rules();

    /**
     * What a request asks for.
     *
     * @throws BadRequest if it cannot be read
     */
    Ask read(Incoming request, long id);

    /** The headers of an accepted call. */
    Map<String, String> headers(Standing standing, long id);

    /** The HTTP status a rejection has. */
    int status(Denial denial);

    /** The answer to a rejected call. */
    default Reply rejection(Rejected rejected) {
        Denial denial = rejected.denial();
        if (denial instanceof Denial.Rate rate) {
            return overRate(rejected, rate);
        } else if (denial instanceof Denial.Slots slots) {
            return fullHouse(rejected, slots);
        } else if (denial instanceof Denial.Steep steep) {
            return tooSteep(rejected, steep);
        } else if (denial instanceof Denial.NoMoney noMoney) {
            return noMoney(rejected, noMoney);
        } else if (denial instanceof Denial.PlanUsedUp plan) {
            return planUsedUp(rejected, plan);
        }
        return busy(rejected, (Denial.Busy) denial);
    }

    Reply overRate(Rejected rejected, Denial.Rate rate);

    Reply fullHouse(Rejected rejected, Denial.Slots slots);

    Reply tooSteep(Rejected rejected, Denial.Steep steep);

    Reply noMoney(Rejected rejected, Denial.NoMoney noMoney);

    Reply planUsedUp(Rejected rejected, Denial.PlanUsedUp plan);

    Reply busy(Rejected rejected, Denial.Busy busy);

    /** An error that is no rejection. */
    Reply error(int status, String message, long id);

    /** The id of a request as its headers, its body and the log give it. */
    static String requestId(long id) {
        return "req_" + id;
    }

    /** A wait in whole seconds, rounded up, at least 1. */
    static String seconds(long waitUs) {
        return Long.toString(Math.max(1, (waitUs + 999_999) / 1_000_000));
    }

    /** What a request asks for: an answer of the model, or something that takes no limits and is answered at once. */
    sealed interface Ask {
        record Generate(Call call, Answer answer) implements Ask {}

        record Plain(Reply reply) implements Ask {}
    }

    /** A whole HTTP answer with a JSON body. */
    record Reply(int status, Map<String, String> headers, String body) {}
}
