/** Who calls and what they may do. Start at {@link io.sluice.server.security.Caller}. */
@NullMarked
package io.sluice.server.security;

import org.jspecify.annotations.NullMarked;
