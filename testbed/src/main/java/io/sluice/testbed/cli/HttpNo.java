package io.sluice.testbed.cli;

import io.sluice.InvalidPolicyException;
import io.sluice.InvalidPolicyException.Problem;
import java.io.IOException;
import java.net.URI;
import java.util.List;
import java.util.Set;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * What a server's "no" means to whoever asked. Only where the server itself says what kind of no it is can the question be at
 * fault; a proxy's page, or the 404 of something that is no Sluice server, says nothing about it. Pure.
 */
final class HttpNo {
    /** Who asks may not, or should ask later; that there is nothing at this address is said of ours, not of the user's words. */
    private static final Set<Integer> NOT_THE_QUESTION = Set.of(401, 403, 429);

    private static final String NOTHING_THERE = "not_found";

    private HttpNo() {}

    /**
     * The failure to throw, in the server's words where it has some.
     *
     * @throws WrongQuestion if what was asked cannot be
     * @throws InvalidPolicyException if the policy is at fault
     */
    static IOException of(URI server, int status, String body) {
        JsonNode problem = read(body);
        String kind = problem.path("kind").asString("");
        if (kind.equals("invalid_policy")) {
            throw new InvalidPolicyException(problems(problem));
        }
        String detail = Shown.text(problem.path("detail").asString(""));
        String words = detail.isEmpty() ? server + " answered " + status : detail;
        boolean told = !kind.isEmpty() && !kind.equals(NOTHING_THERE);
        if (told && status >= 400 && status < 500 && !NOT_THE_QUESTION.contains(status)) {
            throw new WrongQuestion(words);
        }
        return new IOException(words);
    }

    /** Without lines: those of the file are not those of what was sent. */
    private static List<Problem> problems(JsonNode problem) {
        return problem.path("problems").values().stream()
                .map(one -> new Problem(
                        one.path("path").asString(""),
                        0,
                        one.path("message").asString(""),
                        one.path("value").asString("")))
                .toList();
    }

    private static JsonNode read(String body) {
        try {
            return JsonMapper.shared().readTree(body);
        } catch (JacksonException e) {
            return JsonMapper.shared().missingNode();
        }
    }
}
