/**
 * What the providers' answers mean: their refusals, their usage, their limits. Start at a {@code PROFILE}, such as
 * {@link io.sluice.provider.Anthropic#PROFILE}.
 */
@NullMarked
package io.sluice.provider;

import org.jspecify.annotations.NullMarked;
