package io.sluice.server.security;

import java.util.regex.Pattern;
import org.springframework.http.HttpMethod;

/** Which role may do what. Pure; what is not listed is for nobody. */
final class Access {
    /** Neither an escape nor a parameter of a path: what is checked here is then what the address means. */
    private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9._~:@-]+");

    private Access() {}

    /**
     * Whether the caller may.
     *
     * @param path as sent, such as {@code /v1/projects/acme-prod/status}
     */
    static boolean allows(Caller caller, HttpMethod method, String path) {
        if (caller.isRoot()) {
            return true; // also of what is not there: it is told so
        }
        String[] parts = path.split("/", -1);
        if (parts.length < 3 || !parts[1].equals("v1")) {
            return false;
        }
        boolean reads = method.equals(HttpMethod.GET) || method.equals(HttpMethod.HEAD);
        return switch (parts[2]) {
            case "me" -> reads;
            case "hold" -> caller.role() == Role.ADMIN;
            case "projects" ->
                parts.length == 3
                        ? reads
                        : PLAIN.matcher(parts[3]).matches()
                                && caller.covers(parts[3])
                                && allowed(caller.role(), reads, parts.length == 4 ? "" : parts[4]);
            default -> false;
        };
    }

    private static boolean allowed(Role role, boolean reads, String part) {
        return switch (part) {
            case "permits", "waits" -> role != Role.VIEWER;
            case "", "versions", "status", "usage", "events", "plan" ->
                role == Role.ADMIN || (role == Role.VIEWER && reads);
            case "rollback", "hold", "levels" -> role == Role.ADMIN;
            default -> role == Role.ADMIN;
        };
    }
}
