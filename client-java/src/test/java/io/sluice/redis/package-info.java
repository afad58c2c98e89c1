@NullMarked
package io.sluice.redis;

import org.jspecify.annotations.NullMarked;
