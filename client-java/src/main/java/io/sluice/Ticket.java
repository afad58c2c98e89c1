package io.sluice;

import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What a call that asks at the desk has besides.
 *
 * @param caller who asks
 * @param lease what it asks for; {@code null}: as the policy says
 * @param waits hears why it waits
 */
record Ticket(String caller, @Nullable Duration lease, Consumer<WaitListener.Waiting> waits) {}
