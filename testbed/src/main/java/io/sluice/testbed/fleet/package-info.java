/**
 * A fleet of agents in several OS processes, run against a provider and judged from the provider's side.
 * {@link io.sluice.testbed.fleet.Fleet} runs it, {@link io.sluice.testbed.fleet.FleetReport} says how it went.
 */
@NullMarked
package io.sluice.testbed.fleet;

import org.jspecify.annotations.NullMarked;
