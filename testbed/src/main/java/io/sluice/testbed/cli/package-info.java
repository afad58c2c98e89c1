/** The commands behind {@code ./sluice}. {@link io.sluice.testbed.cli.Main} lists them. */
@NullMarked
package io.sluice.testbed.cli;

import org.jspecify.annotations.NullMarked;
