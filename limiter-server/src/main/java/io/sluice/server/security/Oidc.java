package io.sluice.server.security;

import io.sluice.Priority;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.security.oauth2.jwt.Jwt;
import org.springframework.security.oauth2.server.resource.InvalidBearerTokenException;

/** Who a caller is by the claims of an identity provider's token, named as in the tokens file after a prefix. Pure. */
final class Oidc {
    private Oidc() {}

    /**
     * The caller.
     *
     * @throws InvalidBearerTokenException if a claim is not as documented
     */
    static Caller caller(Jwt jwt, String prefix) {
        try {
            String role = jwt.getClaimAsString(prefix + "role");
            List<String> projects = jwt.getClaimAsStringList(prefix + "projects");
            String highest = jwt.getClaimAsString(prefix + "max_priority");
            String agents = jwt.getClaimAsString(prefix + "agent_prefix");
            Boolean reports = jwt.getClaimAsBoolean(prefix + "may_report");
            return new Caller(
                    name(jwt.getSubject()),
                    Role.of(role == null ? "" : role),
                    projects == null ? List.of() : projects,
                    jwt.getClaimAsString(prefix + "team"),
                    jwt.getClaimAsString(prefix + "workspace"),
                    highest == null ? Priority.INTERACTIVE : Priority.of(highest),
                    agents == null ? "" : agents,
                    reports == null || reports);
        } catch (IllegalArgumentException e) {
            throw new InvalidBearerTokenException("the claims of this token are not as documented", e);
        }
    }

    /** Subjects are any text; names are not. */
    private static String name(@Nullable String subject) {
        String text = "oidc:" + (subject == null ? "-" : subject.replaceAll("[^A-Za-z0-9._:/@-]", "_"));
        return text.length() <= 64 ? text : "oidc:" + TokenFile.hash(text).substring(0, 32);
    }
}
