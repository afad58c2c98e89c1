/** What every "no" of the server looks like: problem+json whose type ends in the kind. Start at {@link io.sluice.server.problem.Problem}. */
@NullMarked
package io.sluice.server.problem;

import org.jspecify.annotations.NullMarked;
