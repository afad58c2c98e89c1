package io.sluice.testbed.cli;

import io.sluice.InvalidPolicyException;
import io.sluice.InvalidPolicyException.Problem;
import io.sluice.Policy;
import java.nio.file.Files;
import java.nio.file.Path;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/** A policy named on the command line. */
final class PolicyFile {
    private PolicyFile() {}

    /** Fails as a usage error unless the file can be read. */
    static void check(CommandLine line, Path file) {
        if (!Files.isRegularFile(file) || !Files.isReadable(file)) {
            throw new ParameterException(line, "cannot read the policy file " + file);
        }
    }

    /** The policy, for commands that need a valid one; its first problem is a usage error. */
    static Policy load(CommandLine line, Path file) {
        check(line, file);
        try {
            return Policy.load(file);
        } catch (InvalidPolicyException e) {
            int more = e.problems().size() - 1;
            throw new ParameterException(
                    line,
                    show(file, e.problems().get(0))
                            + (more == 0 ? "" : ", and " + more + " more: ./sluice policy validate shows them all"),
                    e);
        }
    }

    /** {@code FILE:LINE: /path: message}. */
    static String show(Path file, Problem problem) {
        return file
                + (problem.line() > 0 ? ":" + problem.line() : "")
                + ": "
                + (problem.path().isEmpty() ? "/" : problem.path())
                + ": "
                + problem.message()
                + (problem.value().isEmpty() ? "" : " (got " + problem.value() + ")");
    }
}
