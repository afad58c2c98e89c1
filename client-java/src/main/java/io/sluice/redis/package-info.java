/** The store in Redis: everything that knows Lettuce, keys or scripts. Start at {@link io.sluice.redis.RedisStore}. */
@NullMarked
package io.sluice.redis;

import org.jspecify.annotations.NullMarked;
