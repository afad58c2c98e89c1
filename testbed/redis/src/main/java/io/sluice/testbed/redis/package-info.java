/**
 * Real Redis servers for tests, the demo and the server: {@link io.sluice.testbed.redis.RedisServers} starts them,
 * {@link io.sluice.testbed.redis.WithRedis} hands one to a test.
 */
@NullMarked
package io.sluice.testbed.redis;

import org.jspecify.annotations.NullMarked;
