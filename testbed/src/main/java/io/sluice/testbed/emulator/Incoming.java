package io.sluice.testbed.emulator;

import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * An HTTP request as a dialect reads it.
 *
 * @param path without query
 * @param headers the value of a header by its name, {@code null} if absent
 */
record Incoming(String method, String path, UnaryOperator<@Nullable String> headers, String body) {}
