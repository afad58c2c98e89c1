package io.sluice.server.policy;

import io.sluice.Admin;
import io.sluice.InvalidPolicyException;
import io.sluice.Policy;
import io.sluice.server.config.BadSetting;
import io.sluice.server.config.Link;
import io.sluice.server.config.Settings;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * The directory of policy files. It is read every second (a ConfigMap that is mounted changes by a symbolic link, which file
 * watches miss); a file that is new or has changed is installed. One that is wrong is reported and changes nothing: its project
 * keeps the budget it has, and stays the file's. A file that goes leaves its project as it is.
 */
@Component
public class PolicyFiles {
    private static final Logger log = LoggerFactory.getLogger(PolicyFiles.class);
    private static final int MOST_FILES = 1_000;
    private static final int MOST_TOLD = 1 << 20;
    private static final String WHO = "file:";

    private final @Nullable Path directory;
    private final Set<String> upstreams;
    private final Link link;

    /** What was read of each file, by its name. */
    private final Map<String, Known> known = new HashMap<>();

    private volatile List<FileState> states = List.of();

    /** By project, the file that is just being installed: it is its owner before anybody can see the policy. */
    private final Map<String, String> claimed = new ConcurrentHashMap<>();

    PolicyFiles(Settings settings, Link link) {
        directory = settings.policies();
        upstreams = Set.copyOf(settings.upstreams());
        this.link = link;
        if (directory != null && !Files.isDirectory(directory)) {
            throw new BadSetting("sluice.policies is no directory: " + directory, "Make it, or leave the setting out.");
        }
    }

    /** The file that owns a project, or {@code null}. */
    @Nullable
    String owner(String project) {
        return states.stream()
                .filter(state -> project.equals(state.project))
                .map(FileState::file)
                .findFirst()
                .orElseGet(() -> claimed.get(project));
    }

    /** Every file, by name. */
    public List<FileState> states() {
        return states;
    }

    /**
     * One file.
     *
     * @param project the one it owns; {@code null} where it has not been readable yet
     * @param problem why what it says is not in force; {@code null} if it is
     */
    public record FileState(
            String file, @Nullable String project, @Nullable String problem) {}

    /** Looks, and installs what changed. */
    @Scheduled(fixedDelay = 1_000)
    void look() {
        if (directory == null) {
            return;
        }
        try {
            Map<String, byte[]> found = read(directory);
            known.keySet().retainAll(found.keySet());
            Map<String, String> owners = new HashMap<>();
            List<FileState> all = new ArrayList<>();
            found.forEach((file, content) -> {
                Known now = look(file, content, known.get(file), owners);
                known.put(file, now);
                if (now.project != null) {
                    owners.putIfAbsent(now.project, file);
                }
                all.add(new FileState(file, now.project, now.problem));
            });
            states = List.copyOf(all);
            claimed.clear();
        } catch (IOException e) {
            log.error("the policy files stay as they were read: {}", e.toString());
        }
    }

    private Known look(String file, byte[] content, @Nullable Known before, Map<String, String> owners) {
        String text = new String(content, StandardCharsets.UTF_8);
        if (before != null && before.text.equals(text) && !before.again) {
            return before;
        }
        Known now = install(file, text, before == null ? null : before.project, owners);
        if (now.problem != null && (before == null || !now.problem.equals(before.problem))) {
            log.error("policy file {} is not in force: {}", file, now.problem);
        }
        return now;
    }

    private Known install(String file, String text, @Nullable String projectBefore, Map<String, String> owners) {
        Policy policy;
        try {
            policy = Documents.read(text, null, upstreams);
        } catch (InvalidPolicyException e) {
            return new Known(text, projectBefore, e.getMessage(), false);
        }
        String owner = owners.get(policy.project());
        if (owner != null) {
            return new Known(text, null, "project " + policy.project() + " is in " + owner + " already", true);
        }
        claimed.put(policy.project(), file);
        try {
            Admin.Change change = link.sluice()
                    .admin()
                    .install(policy, null, WHO + file, false)
                    .toCompletableFuture()
                    .get(10, TimeUnit.SECONDS);
            log.info(
                    "policy file {}: project {} is at version {}{}",
                    file,
                    policy.project(),
                    change.version(),
                    change.same() ? ", as it was" : "");
            return new Known(text, policy.project(), null, false);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return new Known(text, policy.project(), "interrupted", true);
        } catch (java.util.concurrent.ExecutionException | TimeoutException | CompletionException e) {
            return new Known(text, policy.project(), "not installed yet: " + cause(e), true);
        } catch (RuntimeException e) {
            return new Known(text, policy.project(), "not installed yet: " + cause(e), true);
        }
    }

    private static String cause(Exception e) {
        Throwable cause = e.getCause() == null ? e : e.getCause();
        return cause.getMessage() == null ? cause.toString() : cause.getMessage();
    }

    /** One that is too long is not read: blanks of its length are told as what it is. */
    private static byte[] content(Path file) throws IOException {
        long size = Files.size(file);
        return size > Documents.LONGEST ? new byte[(int) Math.min(size, MOST_TOLD)] : Files.readAllBytes(file);
    }

    /** Hidden files are not ours: a ConfigMap's own links begin with a dot. */
    private static Map<String, byte[]> read(Path directory) throws IOException {
        Map<String, byte[]> found = new TreeMap<>();
        try (Stream<Path> files = Files.list(directory)) {
            for (Path file : files.limit(MOST_FILES).toList()) {
                String name = String.valueOf(file.getFileName());
                if (!name.startsWith(".") && name.matches(".*\\.(yaml|yml|json)") && Files.isRegularFile(file)) {
                    found.put(name, content(file));
                }
            }
        }
        return found;
    }

    /** {@code again}: to be tried again though it is the same. */
    private record Known(
            String text, @Nullable String project, @Nullable String problem, boolean again) {}
}
