package io.sluice;

import java.util.List;
import java.util.stream.Collectors;

/** A policy was refused as a whole; {@link #problems()} lists everything that is wrong with it. */
public final class InvalidPolicyException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final transient List<Problem> problems;
    private final transient List<Problem> warnings;

    public InvalidPolicyException(List<Problem> problems) {
        this(problems, List.of());
    }

    /** With what is allowed but probably not meant beside it, so that all is told at once. */
    public InvalidPolicyException(List<Problem> problems, List<Problem> warnings) {
        super(problems.stream().map(Problem::toString).collect(Collectors.joining("\n")));
        this.problems = List.copyOf(problems);
        this.warnings = List.copyOf(warnings);
    }

    /** At least one, in the order of the document. */
    public List<Problem> problems() {
        return problems;
    }

    /** What is allowed but probably not meant, as far as it was seen; may be empty. */
    public List<Problem> warnings() {
        return warnings;
    }

    /**
     * One thing that is wrong.
     *
     * @param path a JSON Pointer such as {@code /classes/0/limits/rpm}; empty for the document itself
     * @param line the line in the text, from 1; 0 where it is not known
     * @param message what is wrong and what would be right
     * @param value the value found, shortened; empty if there is none
     */
    public record Problem(String path, int line, String message, String value) {
        @Override
        public String toString() {
            return (line > 0 ? "line " + line + ": " : "")
                    + (path.isEmpty() ? "/" : path)
                    + ": "
                    + message
                    + (value.isEmpty() ? "" : " (got " + value + ")");
        }
    }
}
