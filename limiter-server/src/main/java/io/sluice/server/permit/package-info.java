/** Permits for agents in any language. */
@NullMarked
package io.sluice.server.permit;

import org.jspecify.annotations.NullMarked;
