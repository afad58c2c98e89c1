package io.sluice.server.policy;

import io.sluice.server.problem.Problem;
import java.util.List;
import java.util.regex.Pattern;

/**
 * What there is.
 *
 * @param projects by id
 * @param files of the directory of policies, with what is wrong with them
 */
record Projects(List<Listed> projects, List<PolicyFiles.FileState> files) {
    private static final Pattern ID = Pattern.compile("[a-z0-9][a-z0-9._-]{0,62}");

    /** @throws Problem 400 if no project can have this id */
    static String checked(String project) {
        if (!ID.matcher(project).matches()) {
            throw Problem.invalid("a project's id matches " + ID);
        }
        return project;
    }
}
