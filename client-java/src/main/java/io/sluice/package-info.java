/**
 * Permits for LLM calls, drawn from one budget that a whole fleet shares. Start at {@link io.sluice.Sluice}.
 */
@NullMarked
package io.sluice;

import org.jspecify.annotations.NullMarked;
