package io.sluice.server.policy;

import io.sluice.InvalidPolicyException;
import io.sluice.InvalidPolicyException.Problem;
import io.sluice.Policy;
import java.net.URI;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.dataformat.yaml.YAMLMapper;
import tools.jackson.dataformat.yaml.YAMLWriteFeature;

/** Policies as documents: what is asked of one beyond its own grammar, and how it is written out. Pure. */
final class Documents {
    /** Of a policy, in bytes. */
    static final int LONGEST = 256 * 1024;

    private static final int MOST_SHOWN = 64;
    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final YAMLMapper YAML = YAMLMapper.builder()
            .disable(YAMLWriteFeature.WRITE_DOC_START_MARKER)
            .enable(YAMLWriteFeature.MINIMIZE_QUOTES, YAMLWriteFeature.ALWAYS_QUOTE_NUMBERS_AS_STRINGS)
            .build();

    private Documents() {}

    /**
     * A policy for this project, whose upstream is one that the server knows.
     *
     * @throws InvalidPolicyException with everything that is wrong
     */
    static Policy read(String text, @Nullable String project, Set<String> upstreams) {
        List<Problem> problems = new ArrayList<>();
        List<Problem> warnings;
        Policy policy = null;
        try {
            policy = Policy.parse(text);
            warnings = policy.warnings();
        } catch (InvalidPolicyException e) {
            problems.addAll(e.problems());
            warnings = e.warnings();
        }
        String named = policy == null ? loose(text, "project") : policy.project();
        if (project != null && named != null && !named.equals(project)) {
            problems.add(new Problem(
                    "/project", line(text, "project"), "must be " + project + ", as in the address", shown(named)));
        }
        String upstream = policy == null ? loose(text, "upstream") : upstream(policy);
        // What is no address at all is told once.
        if (upstream != null && problems.stream().noneMatch(told -> told.path().equals("/upstream"))) {
            unlisted(upstream, upstreams, line(text, "upstream")).ifPresent(problems::add);
        }
        if (policy == null || !problems.isEmpty()) {
            problems.sort(Comparator.comparingInt(Problem::line));
            throw new InvalidPolicyException(problems, warnings);
        }
        return policy;
    }

    /**
     * The policy, whose upstream is one that the server knows, if it names any.
     *
     * @throws InvalidPolicyException if it is none of these
     */
    static Policy listed(Policy policy, Set<String> upstreams) {
        String upstream = upstream(policy);
        if (upstream != null) {
            unlisted(upstream, upstreams, 0).ifPresent(problem -> {
                throw new InvalidPolicyException(List.of(problem));
            });
        }
        return policy;
    }

    private static Optional<Problem> unlisted(String upstream, Set<String> upstreams, int line) {
        return upstreams.contains(host(upstream))
                ? Optional.empty()
                : Optional.of(new Problem(
                        "/upstream",
                        line,
                        "its host must be on the server's list (sluice.upstreams)",
                        shown(upstream)));
    }

    /** A text of a document that is no policy, where it can be read at all, so that all its faults are told at once. */
    private static @Nullable String loose(String text, String key) {
        if (text.length() > LONGEST) {
            return null;
        }
        try {
            JsonNode value = YAML.readTree(text).get(key);
            return value == null || !value.isString() ? null : value.stringValue();
        } catch (JacksonException e) {
            return null;
        }
    }

    private static String shown(String value) {
        return value.length() <= MOST_SHOWN ? value : value.substring(0, MOST_SHOWN) + "…";
    }

    /** Where a key of the document stands that has this name nowhere else; 0 if that is not to be seen. */
    private static int line(String text, String key) {
        Pattern named = Pattern.compile("[^#]*?(?<![\\w-])[\"']?" + key + "[\"']?\\s*:.*");
        List<String> lines = text.lines().toList();
        for (int i = 0; i < lines.size(); i++) {
            if (named.matcher(lines.get(i)).matches()) {
                return i + 1;
            }
        }
        return 0;
    }

    /** Where the policy says its calls go; {@code null} if it does not. */
    static @Nullable String upstream(Policy policy) {
        JsonNode upstream = tree(policy).get("upstream");
        return upstream == null || upstream.isNull() ? null : upstream.stringValue();
    }

    static JsonNode tree(Policy policy) {
        return JSON.readTree(policy.toJson());
    }

    static String yaml(Policy policy) {
        return YAML.writeValueAsString(tree(policy));
    }

    private static String host(String upstream) {
        try {
            URI uri = URI.create(upstream);
            String host = uri.getHost() == null ? "" : uri.getHost();
            return uri.getPort() < 0 ? host : host + ":" + uri.getPort();
        } catch (IllegalArgumentException e) {
            return "";
        }
    }
}
