/**
 * Sluice beside the alternatives on one Redis, in one run. {@link io.sluice.testbed.bench.Bench} runs it, {@link
 * io.sluice.testbed.bench.BenchReport} says which numbers were reached.
 */
@NullMarked
package io.sluice.testbed.bench;

import org.jspecify.annotations.NullMarked;
