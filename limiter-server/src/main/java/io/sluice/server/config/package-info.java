/** What the process is told when it starts, and its one connection to Redis. Start at {@link io.sluice.server.config.Settings}. */
@NullMarked
package io.sluice.server.config;

import org.jspecify.annotations.NullMarked;
