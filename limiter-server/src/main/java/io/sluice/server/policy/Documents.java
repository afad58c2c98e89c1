package io.sluice.server.policy;

import io.sluice.InvalidPolicyException;
import io.sluice.InvalidPolicyException.Problem;
import io.sluice.Policy;
import java.net.URI;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.dataformat.yaml.YAMLMapper;
import tools.jackson.dataformat.yaml.YAMLWriteFeature;

/** Policies as documents: what is asked of one beyond its own grammar, and how it is written out. Pure. */
final class Documents {
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
        Policy policy = Policy.parse(text);
        if (project != null && !policy.project().equals(project)) {
            throw new InvalidPolicyException(List.of(new Problem(
                    "/project",
                    line(text, "project"),
                    "must be " + project + ", as in the address",
                    policy.project())));
        }
        return listed(policy, upstreams, line(text, "upstream"));
    }

    /**
     * The policy, whose upstream is one that the server knows, if it names any.
     *
     * @param line where it says so; 0 where it is no text
     * @throws InvalidPolicyException if it is none of these
     */
    static Policy listed(Policy policy, Set<String> upstreams, int line) {
        String upstream = upstream(policy);
        if (upstream != null && !upstreams.contains(host(upstream))) {
            throw new InvalidPolicyException(List.of(new Problem(
                    "/upstream", line, "its host must be on the server's list (sluice.upstreams)", upstream)));
        }
        return policy;
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
