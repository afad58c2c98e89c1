/**
 * The server: the client library over HTTP, for platform teams and for agents in any language. Start at {@link
 * io.sluice.server.Server}.
 */
@NullMarked
package io.sluice.server;

import org.jspecify.annotations.NullMarked;
