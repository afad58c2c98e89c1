package io.sluice;

import java.util.List;

/**
 * One scope of a project with everything that bounds it.
 *
 * @param scope {@code p} for the whole project or {@code c:<class>} for a model class
 * @param slots the most calls in flight; 0 is closed, {@link #UNLIMITED} is no bound
 * @param refills the limits that refill, by name
 */
public record ScopeLimits(String scope, long slots, List<RefillLimit> refills) {
    /** The value of {@link #slots} where the policy sets no bound. */
    public static final long UNLIMITED = -1;

    public ScopeLimits {
        refills = List.copyOf(refills);
    }
}
