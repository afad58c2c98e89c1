package io.sluice.testbed.bench;

import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * {@code INFO commandstats} since the last {@code CONFIG RESETSTAT}. A command inside a script is counted twice: as
 * itself and within the script's time.
 *
 * @param commands by lower-case name
 */
record CommandStats(Map<String, Command> commands) {
    private static final Pattern LINE = Pattern.compile("(?m)^cmdstat_([^:]+):calls=(\\d+),usec=(\\d+)");
    private static final Command NONE = new Command(0, 0);

    CommandStats {
        commands = Map.copyOf(commands);
    }

    /** @param info lines like {@code cmdstat_get:calls=21,usec=175,usec_per_call=8.33,…} */
    static CommandStats parse(String info) {
        Map<String, Command> commands = new HashMap<>();
        Matcher matcher = LINE.matcher(info);
        while (matcher.find()) {
            commands.put(
                    matcher.group(1), new Command(Long.parseLong(matcher.group(2)), Long.parseLong(matcher.group(3))));
        }
        return new CommandStats(commands);
    }

    Command command(String name) {
        return commands.getOrDefault(name, NONE);
    }

    long scriptCalls() {
        return command("eval").calls() + command("evalsha").calls();
    }

    long scriptMicros() {
        return command("eval").micros() + command("evalsha").micros();
    }

    /** The time of the calls of a command that no script made, where each script makes exactly one. */
    double microsOutsideScripts(String name) {
        Command command = command(name);
        long outside = Math.max(0, command.calls() - scriptCalls());
        return outside == 0 ? 0 : (double) command.micros() * outside / command.calls();
    }

    /**
     * What one script cost that ran alone since then. Its own {@code redis.call}s are all other commands that were counted,
     * but for the asking itself.
     *
     * @throws IllegalStateException if not exactly one ran
     */
    ScriptCost since(CommandStats earlier) {
        long scripts = scriptCalls() - earlier.scriptCalls();
        if (scripts != 1) {
            throw new IllegalStateException("one script was to be measured, " + scripts + " ran");
        }
        long calls = callsInAll() - earlier.callsInAll() - 1;
        long asked = command("info").calls() - earlier.command("info").calls();
        return new ScriptCost(scriptMicros() - earlier.scriptMicros(), calls - asked);
    }

    private long callsInAll() {
        return commands.values().stream().mapToLong(Command::calls).sum();
    }

    record Command(long calls, long micros) {}
}
