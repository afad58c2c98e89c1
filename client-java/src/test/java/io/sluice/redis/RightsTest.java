package io.sluice.redis;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What {@code rights.lua} asks about is what the scripts call, word for word. */
class RightsTest {
    private static final Set<String> HASHES = Set.of("policy", "levels", "permits", "waiters", "learn");
    private static final Set<String> WRITES =
            Set.of("HDEL", "HINCRBY", "HSET", "ZADD", "ZREM", "ZREMRANGEBYLEX", "ZREMRANGEBYSCORE");
    private static final Set<String> SORTED = Set.of("lines", "times", "hosts");
    private static final Set<String> KEYS =
            Stream.concat(HASHES.stream(), SORTED.stream()).collect(Collectors.toUnmodifiableSet());
    private static final Set<String> TOLD = Set.of("counters", "hour", "day", "events");
    private static final Pattern CALL = Pattern.compile("redis\\.p?call\\(\\s*([^\\s,)]+)(?:\\s*,\\s*([\\w\\[\\]]+))?");

    @Test
    void anAgentIsAskedAboutAllThatItsScriptsCall() {
        Map<String, Set<String>> called = new TreeMap<>();
        for (Script script : List.of(Script.ACQUIRE, Script.SETTLE, Script.BEAT, Script.OBSERVE)) {
            collect(script.text(), called);
        }
        // What a client inspects: the policy, what was learned, what stands in line.
        collect(ownLines("inspect"), called);
        assertThat(asked("agent")).isEqualTo(called);
    }

    @Test
    void whoInstallsIsAskedAboutAllThatThisCalls() {
        Map<String, Set<String>> called = new TreeMap<>();
        collect(Script.POLICY.text(), called);
        assertThat(asked("install")).isEqualTo(called);
    }

    /** What it includes has more to it than it uses, so only what does not write counts. */
    @Test
    void whoInspectsIsAskedAboutAllThatIsRead() {
        Map<String, Set<String>> called = new TreeMap<>();
        collect(Script.INSPECT.text(), called);
        collect(ownLines("status"), called);
        collect(ownLines("lib/short"), called);
        called.values().forEach(commands -> commands.removeIf(WRITES::contains));
        called.values().removeIf(Set::isEmpty);
        assertThat(asked("inspect")).isEqualTo(called);
    }

    @Test
    void whoTellsIsAskedAboutAllThatThisCalls() {
        Map<String, Set<String>> called = new TreeMap<>();
        collect(Script.TALLY.text(), called);
        assertThat(asked("tally")).isEqualTo(called);
    }

    private static void collect(String text, Map<String, Set<String>> called) {
        Matcher call = CALL.matcher(text.replaceAll("--[^\n]*", ""));
        while (call.find()) {
            String command = call.group(1);
            String key = String.valueOf(call.group(2));
            if (command.equals("kind")) { // HGET or ZSCORE, by the type of each
                HASHES.forEach(name -> add(called, name, "HGET"));
                SORTED.forEach(name -> add(called, name, "ZSCORE"));
                continue;
            }
            assertThat(command).as("a command by its name in " + call.group()).matches("'[A-Z]+'");
            command = command.substring(1, command.length() - 1);
            if (key.equals("KEYS[k]")) {
                String each = command;
                (command.equals("HSET") ? HASHES : command.equals("ZADD") ? SORTED : KEYS)
                        .forEach(name -> add(called, name, each));
            } else if (key.equals("key")) { // of an hour or a day
                add(called, "hour", command);
                add(called, "day", command);
            } else if (key.endsWith("_key")) {
                add(called, key.substring(0, key.length() - "_key".length()), command);
            } else {
                assertThat(command).as("needs no key: " + call.group()).isIn("TIME", "SPUBLISH");
            }
        }
    }

    private static void add(Map<String, Set<String>> called, String key, String command) {
        assertThat(key).isIn(Stream.concat(KEYS.stream(), TOLD.stream()).toList());
        called.computeIfAbsent(key, each -> new TreeSet<>()).add(command);
    }

    private static Map<String, Set<String>> asked(String role) {
        String text = Script.RIGHTS.text();
        int start = text.indexOf("  " + role + " = {");
        String table = text.substring(start, text.indexOf("  },", start));
        Map<String, Set<String>> asked = new TreeMap<>();
        Matcher line = Pattern.compile("(\\w+) = '([A-Z ]+)'").matcher(table);
        while (line.find()) {
            asked.put(line.group(1), new TreeSet<>(List.of(line.group(2).split(" ", -1))));
        }
        return asked;
    }

    /** Without what it includes. */
    private static String ownLines(String script) {
        try (InputStream in = Script.class.getResourceAsStream("/io/sluice/lua/" + script + ".lua")) {
            return new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
