package io.sluice.server.security;

import io.sluice.Priority;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.dataformat.yaml.YAMLMapper;

/**
 * The file of who may call: no token stands in it, only its SHA-256.
 *
 * <pre>{@code
 * tokens:
 *   - name: research-agents
 *     sha256: 5e88…            # printf %s "$TOKEN" | sha256sum
 *     role: agent              # admin | agent | viewer
 *     projects: ["acme-*"]
 *     team: research           # the rest is optional, and for agents
 *     workspace: prod
 *     max_priority: normal
 *     agent_prefix: research/
 *     may_report: true
 * }</pre>
 */
final class TokenFile {
    private static final Pattern SHA256 = Pattern.compile("[0-9a-f]{64}");
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._:/@-]{1,64}");
    private static final int MAX_TOKENS = 10_000;

    private static final YAMLMapper YAML = YAMLMapper.builder()
            .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .build();

    private TokenFile() {}

    /**
     * Who each hash is.
     *
     * @throws IllegalArgumentException naming what is wrong
     */
    static Map<String, Caller> read(byte[] file) {
        Document document;
        try {
            document = YAML.readValue(new String(file, StandardCharsets.UTF_8), Document.class);
        } catch (JacksonException e) {
            throw new IllegalArgumentException("the tokens file is not as documented: " + e.getOriginalMessage(), e);
        }
        List<Entry> entries = document == null || document.tokens == null ? List.of() : document.tokens;
        if (entries.size() > MAX_TOKENS) {
            throw new IllegalArgumentException("the tokens file has more than " + MAX_TOKENS + " tokens");
        }
        Map<String, Caller> callers = new HashMap<>();
        for (int i = 0; i < entries.size(); i++) {
            Entry entry = entries.get(i);
            String at = "tokens[" + i + "]";
            if (callers.put(hash(at, entry), caller(at, entry)) != null) {
                throw new IllegalArgumentException(at + ": the same sha256 stands above");
            }
        }
        return Map.copyOf(callers);
    }

    /** What names a token in the file. */
    static String hash(String token) {
        try {
            byte[] digest =
                    java.security.MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest);
        } catch (java.security.NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    private static String hash(String at, Entry entry) {
        String hash = entry.sha256 == null ? "" : entry.sha256.toLowerCase(Locale.ROOT);
        if (!SHA256.matcher(hash).matches()) {
            // Not shown: somebody may have put the token itself there.
            throw new IllegalArgumentException(at + ": sha256 must be 64 hexadecimal digits");
        }
        return hash;
    }

    private static Caller caller(String at, Entry entry) {
        try {
            List<String> projects = entry.projects == null ? List.of() : entry.projects;
            if (projects.isEmpty()) {
                throw new IllegalArgumentException("projects must list at least one");
            }
            return new Caller(
                    named("name", entry.name == null ? "" : entry.name),
                    Role.of(entry.role == null ? "" : entry.role),
                    projects,
                    entry.team == null ? null : named("team", entry.team),
                    entry.workspace == null ? null : named("workspace", entry.workspace),
                    entry.maxPriority == null ? Priority.INTERACTIVE : Priority.of(entry.maxPriority),
                    entry.agentPrefix == null ? "" : named("agent_prefix", entry.agentPrefix),
                    entry.mayReport == null || entry.mayReport);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(at + ": " + e.getMessage(), e);
        }
    }

    private static String named(String what, String value) {
        if (!NAME.matcher(value).matches()) {
            throw new IllegalArgumentException(what + " must be 1 to 64 of [A-Za-z0-9._:/@-]");
        }
        return value;
    }

    private record Document(@Nullable List<Entry> tokens) {}

    private record Entry(
            @Nullable String name,
            @Nullable String sha256,
            @Nullable String role,
            @Nullable List<String> projects,
            @Nullable String team,
            @Nullable String workspace,
            @Nullable String maxPriority,
            @Nullable String agentPrefix,
            @Nullable Boolean mayReport) {}
}
