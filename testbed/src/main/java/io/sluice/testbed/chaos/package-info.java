/**
 * {@code ./sluice bench chaos}: a fleet under faults that a seed draws, judged by the provider's log and by what Redis holds.
 * {@link io.sluice.testbed.chaos.Chaos} runs it.
 */
@NullMarked
package io.sluice.testbed.chaos;

import org.jspecify.annotations.NullMarked;
