package io.sluice.testbed.cli;

import io.sluice.testbed.emulator.Counting;
import io.sluice.testbed.emulator.Emulator;
import io.sluice.testbed.emulator.EmulatorOptions;
import io.sluice.testbed.emulator.Limits;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
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
            "A call may state its size in headers: x-emulate-{input,cache-read,cache-write,output}-tokens,",
            "x-emulate-duration-ms, x-emulate-agent."
        })
public final class EmulatorCommand implements Callable<Integer> {
    private static final int ENVIRONMENT = 3;
    private static final Pattern DURATION = Pattern.compile("(\\d{1,9})(ms|s|m)");

    @Spec
    private CommandSpec spec;

    @Option(names = "--provider", required = true, paramLabel = "P", description = "anthropic")
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
            description = "rpm=..,itpm=..,otpm=..,concurrency=..; what is absent is unlimited")
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

    @Option(names = "--count-rejected", description = "rejected requests count toward rpm; default no")
    private boolean countRejected;

    @Option(
            names = "--tokens-per-second",
            paramLabel = "N",
            defaultValue = "80",
            description = "pace of output where a call names no duration; default 80")
    private int tokensPerSecond;

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
                .tokensPerSecond(tokensPerSecond);
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
