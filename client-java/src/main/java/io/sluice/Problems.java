package io.sluice;

import io.sluice.InvalidPolicyException.Problem;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Collects what is wrong with a document, up to a bound. */
final class Problems {
    static final int MAX = 1_000;

    private final List<Problem> found = new ArrayList<>();
    private int left;

    void add(Node at, String message) {
        add(at.path(), at.line(), message, at.shown());
    }

    void add(String path, int line, String message, String value) {
        if (found.size() < MAX) {
            found.add(new Problem(path, line, message, value));
        } else {
            left++;
        }
    }

    void addAll(Problems others) {
        found.addAll(others.found);
        left += others.left;
    }

    int size() {
        return found.size() + left;
    }

    /** In the order of the document. */
    List<Problem> list() {
        List<Problem> sorted = new ArrayList<>(found);
        sorted.sort(Comparator.comparingInt(Problem::line));
        if (left > 0) {
            sorted.add(new Problem("", 0, "and " + left + " more problems", ""));
        }
        return sorted;
    }

    void refuseIfAny() {
        if (size() > 0) {
            throw new InvalidPolicyException(list());
        }
    }
}
