/**
 * An LLM provider to test against: it speaks the provider's HTTP, enforces its limits, and logs every decision. Start one
 * with {@link io.sluice.testbed.emulator.Emulator#start}.
 *
 * <p>It is the judge of every benchmark, so it knows nothing of Sluice: an architecture test keeps it so.
 */
@NullMarked
package io.sluice.testbed.emulator;

import org.jspecify.annotations.NullMarked;
