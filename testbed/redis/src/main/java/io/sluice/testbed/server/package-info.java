/** The server as a process of its own, for tests and the demo. Start at {@link io.sluice.testbed.server.ServerProcess}. */
@NullMarked
package io.sluice.testbed.server;

import org.jspecify.annotations.NullMarked;
