package io.sluice.testbed.cli;

import io.sluice.testbed.emulator.Behaviour;
import io.sluice.testbed.emulator.Counting;
import io.sluice.testbed.emulator.Emulator;
import io.sluice.testbed.emulator.EmulatorOptions;
import io.sluice.testbed.emulator.Limits;
import io.sluice.testbed.emulator.Prices;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import reactor.netty.ChannelBindException;

/** {@code emulator}: runs a provider to test against until it is interrupted. */
@Command(
        name = "emulator",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description =
                "Runs an LLM provider to test against: its HTTP, its limits, its errors, and a log of every decision.",
        footer = {
            "",
            "GET /_log?since=SEQ is the log, GET /_stats the sums, POST /_reset starts over.",
            "A call may state its size in headers: x-emulate-input-tokens, and likewise",
            "cache-read, cache-write, output, thinking; x-emulate-duration-ms,",
            "x-emulate-agent.",
            "",
            "POST /_behave changes while it runs what these options set: --overload,",
            "--stream-error, --acceleration, --plan, --spend, --lies, --new-day-in.",
            "It takes a JSON object of at most 10,000 bytes: a member for each one to",
            "change, named as the option, its value the option's text, an object of the",
            "same pairs, or null for off.",
            "  {\"overload\": {\"share\": 0.5, \"for\": \"10s\"}, \"lies\": \"late\", \"plan\": null}",
            "What is named begins anew; limits do not change. POST /_reset goes back to the",
            "options."
        })
public final class EmulatorCommand implements Callable<Integer> {
    private static final int ENVIRONMENT = 3;
    private static final Pattern DURATION = Pattern.compile("(\\d{1,9})(ms|s|m)");

    @Spec
    private CommandSpec spec;

    @Option(
            names = "--provider",
            required = true,
            paramLabel = "P",
            description = "anthropic, openai, gemini or openrouter")
    private String provider;

    @Option(names = "--port", required = true, paramLabel = "N", description = "0 takes a free one")
    private int port;

    @Option(
            names = "--host",
            paramLabel = "ADDRESS",
            defaultValue = "127.0.0.1",
            description = "default: loopback only")
    private String host;

    @Option(
            names = "--limits",
            paramLabel = "LIST",
            converter = LimitsConverter.class,
            description = "rpm=..,itpm=..,otpm=..,tpm=..,rpd=..,tpd=..,usd=..,concurrency=..; what is absent is "
                    + "unlimited. Days are the provider's: OpenAI's refill all the time, Gemini's begin at midnight in "
                    + "California, others at midnight UTC")
    private Limits limits = Limits.NONE;

    @Option(
            names = "--counting",
            paramLabel = "HOW",
            converter = CountingConverter.class,
            description = "bucket (default), rolling or quantised")
    private Counting counting = Counting.BUCKET;

    @Option(
            names = "--burst",
            paramLabel = "TIME",
            converter = DurationConverter.class,
            description = "what a bucket holds, or how long a quantised window is: 500ms, 5s, 1m; default 60s")
    private Duration burst = Duration.ofSeconds(60);

    @Option(
            names = "--pool",
            paramLabel = "NAME=GLOB",
            description = "models that share limits of their own; repeatable, the first match wins")
    private Map<String, String> pools = new LinkedHashMap<>();

    @Option(
            names = "--count-rejected",
            negatable = true,
            description = "rejected requests count toward rpm, or not; default as the provider: only OpenAI's do")
    private @Nullable Boolean countRejected;

    @Option(
            names = "--tokens-per-second",
            paramLabel = "N",
            defaultValue = "80",
            description = "pace of output where a call names no duration; default 80")
    private int tokensPerSecond;

    @Option(
            names = "--prices",
            paramLabel = "LIST",
            converter = PricesConverter.class,
            description = "dollars a million tokens; default input=3,cache-read=0.3,cache-write=3.75,output=15")
    private Prices prices = Prices.DEFAULT;

    @Option(
            names = "--spend",
            paramLabel = "LIST",
            description = "what the usd limit is: as=cap (of the account, a month), own (the customer's cap, a month), "
                    + "credits (gone for good) or window (10 minutes, Gemini); default what the provider does most. "
                    + "spent=true: it is gone already")
    private @Nullable String spend;

    @Option(
            names = "--new-day-in",
            paramLabel = "TIME",
            description =
                    "the provider's next day begins so long after the start, and one every 24 h; default at midnight. "
                            + "OpenAI's days refill and have no beginning")
    private @Nullable String newDayIn;

    @Option(
            names = "--overload",
            paramLabel = "LIST",
            description = "turns calls away that keep every limit: share=0..1 (default 1), from=TIME, for=TIME, "
                    + "retry-after=TIME, status=429|500|502|503|504|529")
    private @Nullable String overload;

    @Option(
            names = "--stream-error",
            paramLabel = "LIST",
            description = "streams fail under way: share=0..1 (default 1), after=N events with output (default 3), "
                    + "kind=overload (default), requests, server or cut")
    private @Nullable String streamError;

    @Option(
            names = "--acceleration",
            paramLabel = "LIST",
            description = "refuses a sharp rise: start=N a minute, growth=1.5 times what the last step used, every=1m "
                    + "(a step), of=input or requests")
    private @Nullable String acceleration;

    @Option(
            names = "--plan",
            paramLabel = "LIST",
            description = "a subscription's windows: 5h=TOKENS, 7d=TOKENS; 5h-lasts=TIME, 7d-lasts=TIME shorten them, "
                    + "5h-used=0..1, 7d-used=0..1 is what is gone already. Not OpenRouter's")
    private @Nullable String plan;

    @Option(
            names = "--lies",
            paramLabel = "LIST",
            description =
                    "what headers tell wrongly: reset-past, rounded (to thousands), late (by 10 answers), full, empty, "
                            + "limit-doubled, limit-halved, no-wait, short-wait, retry-after-date, retry-after-junk")
    private @Nullable String lies;

    /** @return 0 once interrupted, 3 if it cannot listen; a bad option is a {@link ParameterException} */
    @Override
    public Integer call() {
        CommandLine line = spec.commandLine();
        try (Emulator emulator = Emulator.start(options())) {
            Runtime.getRuntime().addShutdownHook(new Thread(emulator::close, "emulator-stop"));
            PrintWriter out = line.getOut();
            out.printf(
                    "emulating %s on %s (limits: %s; counting: %s, burst %d ms)%n",
                    provider,
                    emulator.uri(),
                    limits.equals(Limits.NONE) ? "none" : limits,
                    word(counting),
                    burst.toMillis());
            out.flush();
            new CountDownLatch(1).await();
        } catch (IllegalArgumentException e) {
            throw new ParameterException(line, e.getMessage(), e);
        } catch (ChannelBindException e) {
            line.getErr().printf("cannot listen on %s:%d: %s%n", host, port, reason(e));
            line.getErr().flush();
            return ENVIRONMENT;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return 0;
    }

    private EmulatorOptions options() {
        return EmulatorOptions.of(provider, limits)
                .listen(host, port)
                .counting(counting, burst)
                .pools(pools)
                .countRejected(countRejected)
                .tokensPerSecond(tokensPerSecond)
                .prices(prices)
                .behaviour(behaviour());
    }

    private Behaviour behaviour() {
        Map<String, @Nullable String> given = new LinkedHashMap<>();
        given.put("spend", spend);
        given.put("new-day-in", newDayIn);
        given.put("overload", overload);
        given.put("stream-error", streamError);
        given.put("acceleration", acceleration);
        given.put("plan", plan);
        given.put("lies", lies);
        Behaviour behaviour = Behaviour.NONE;
        for (Map.Entry<String, @Nullable String> option : given.entrySet()) {
            if (option.getValue() != null) {
                behaviour = behaviour.with(option.getKey(), option.getValue());
            }
        }
        return behaviour;
    }

    private static String reason(ChannelBindException e) {
        Throwable cause = e.getCause() == null ? e : e.getCause();
        return String.valueOf(cause.getMessage());
    }

    private static String word(Counting counting) {
        return counting.name().toLowerCase(Locale.ROOT);
    }

    private static final class LimitsConverter implements CommandLine.ITypeConverter<Limits> {
        @Override
        public Limits convert(String text) {
            try {
                return Limits.parse(text);
            } catch (IllegalArgumentException e) {
                throw new CommandLine.TypeConversionException(e.getMessage());
            }
        }
    }

    private static final class PricesConverter implements CommandLine.ITypeConverter<Prices> {
        @Override
        public Prices convert(String text) {
            try {
                return Prices.parse(text);
            } catch (IllegalArgumentException e) {
                throw new CommandLine.TypeConversionException(e.getMessage());
            }
        }
    }

    private static final class CountingConverter implements CommandLine.ITypeConverter<Counting> {
        @Override
        public Counting convert(String text) {
            for (Counting counting : Counting.values()) {
                if (word(counting).equals(text)) {
                    return counting;
                }
            }
            throw new CommandLine.TypeConversionException(
                    "unknown counting '" + text + "': known are bucket, rolling, quantised");
        }
    }

    private static final class DurationConverter implements CommandLine.ITypeConverter<Duration> {
        @Override
        public Duration convert(String text) {
            Matcher match = DURATION.matcher(text);
            if (!match.matches()) {
                throw new CommandLine.TypeConversionException("no time: '" + text + "'; write 500ms, 5s or 1m");
            }
            long amount = Long.parseLong(match.group(1));
            return switch (match.group(2)) {
                case "ms" -> Duration.ofMillis(amount);
                case "s" -> Duration.ofSeconds(amount);
                default -> Duration.ofMinutes(amount);
            };
        }
    }
}
