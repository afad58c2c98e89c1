package io.sluice.redis;

import io.sluice.testbed.redis.RedisServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The users of {@code docs/operations.md}, as they stand there. */
public final class Documented {
    private static final String PASSWORD = "pw";

    /** A rule in brackets is one word. */
    private static final Pattern WORD = Pattern.compile("\\([^)]*\\)|\\S+");

    private Documented() {}

    /** Makes a user for a project and returns its address. */
    public static String user(RedisServer redis, String user, String project) {
        String name = user + "-" + project;
        redis.command(rules(user, project)
                .map(word -> word.equals(user) ? name : word)
                .toArray(String[]::new));
        return redis.uri(name, PASSWORD);
    }

    /** The words of its {@code ACL SETUSER}. */
    public static Stream<String> rules(String user, String project) {
        String document = read(Path.of("..", "docs", "operations.md"));
        Pattern command = Pattern.compile("^ACL SETUSER " + user + " .*(?:\\n {4}.*)*", Pattern.MULTILINE);
        String found = command.matcher(document)
                .results()
                .map(MatchResult::group)
                .findFirst()
                .orElseThrow(() -> new AssertionError("no user " + user + " in the documentation"));
        return WORD.matcher(
                        found.replace("\\\n", " ").replace("acme-prod", project).replace("SECRET", PASSWORD))
                .results()
                .map(MatchResult::group);
    }

    /** What lets a user of this name find its nodes in a cluster. */
    public static Stream<String> inACluster(String name) {
        Matcher found = Pattern.compile("In a cluster each also needs `([^`]+)`")
                .matcher(read(Path.of("..", "docs", "operations.md")));
        if (!found.find()) {
            throw new AssertionError("nothing about clusters in the documentation");
        }
        return Stream.concat(
                Stream.of("ACL", "SETUSER", name), Stream.of(found.group(1).split(" ", -1)));
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
