package io.sluice;

import java.util.List;

/**
 * One scope of a project with everything that bounds it.
 *
 * <p>Scopes are named {@code p} (the whole project), {@code c:<class>}, {@code w:<workspace>}, {@code t:<team>},
 * {@code w:<workspace>|<class>} and {@code t:<team>|<class>} (their calls of one class), and {@code n:<scope>} (how many
 * agents of that scope are active). {@code a:}, {@code e:} and {@code r:} are templates: of each agent, team or run a scope
 * of its own is made when it is first needed, such as {@code a:host-3/agent-17}.
 *
 * @param scope its name
 * @param slots the most calls in flight, or agents active; 0 is closed, {@link #UNLIMITED} is no bound
 * @param max of a template, how many scopes may be made of it; else 0
 * @param rampPpm the part of its amounts that is in force after a while without calls, in millionths; 0 is no ramp
 * @param everyUs how long until that part has doubled; 0 without a ramp
 * @param refills the limits that refill, by name
 */
public record ScopeLimits(String scope, long slots, long max, long rampPpm, long everyUs, List<RefillLimit> refills) {
    /** The value of {@link #slots} where the policy sets no bound. */
    public static final long UNLIMITED = -1;

    public ScopeLimits {
        refills = List.copyOf(refills);
    }

    /** A scope without a ramp. */
    public ScopeLimits(String scope, long slots, long max, List<RefillLimit> refills) {
        this(scope, slots, max, 0, 0, refills);
    }

    /** A scope that is no template, without a ramp. */
    public ScopeLimits(String scope, long slots, List<RefillLimit> refills) {
        this(scope, slots, 0, refills);
    }
}
