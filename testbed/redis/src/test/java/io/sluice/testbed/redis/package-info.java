@NullMarked
package io.sluice.testbed.redis;

import org.jspecify.annotations.NullMarked;
