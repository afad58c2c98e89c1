package io.sluice;

/** The versioned document that sets a project's budget. */
public final class Policy {
    private final String project;

    Policy(String project) {
        this.project = project;
    }

    /** The project it is for. */
    public String project() {
        return project;
    }
}
