/** How agents send their requests on a budget: what docs/clients.md shows, run against the emulator. */
@NullMarked
package io.sluice.testbed.clients;

import org.jspecify.annotations.NullMarked;
