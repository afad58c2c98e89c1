/**
 * Requests of {@link io.sluice.Project#call} sent with {@code java.net.http}. Start at {@link io.sluice.http.HttpSender}.
 */
@NullMarked
package io.sluice.http;

import org.jspecify.annotations.NullMarked;
