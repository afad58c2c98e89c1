/** Budgets: set, read, taken back, watched in files. */
@NullMarked
package io.sluice.server.policy;

import org.jspecify.annotations.NullMarked;
