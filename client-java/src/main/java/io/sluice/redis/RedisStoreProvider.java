package io.sluice.redis;

import io.sluice.Sluice;
import io.sluice.Store;
import java.util.Set;

/** Opens {@link RedisStore}s for Redis URIs. */
public final class RedisStoreProvider implements Store.Provider {
    private static final Set<String> SCHEMES = Set.of("redis", "rediss", "redis-sentinel", "rediss-sentinel");

    @Override
    public boolean accepts(String scheme) {
        return SCHEMES.contains(scheme);
    }

    @Override
    public Store open(String uri, Sluice.Options options) {
        return RedisStore.open(uri, options);
    }
}
