package io.sluice.testbed.bench;

/** What a benchmark came to. */
public interface Report {

    /** Whether every number was reached. */
    boolean met();

    /** Markdown: what was measured and what it is judged by, below a line that says where. */
    String toTable();

    /** Everything, round by round, as one line of JSON with times in µs. */
    String toJson();
}
