package io.sluice.redis;

import io.lettuce.core.resource.EventLoopGroupProvider;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.EventExecutorGroup;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** Somebody else's threads, for connections to Redis: they are used, and never ended. */
final class LentLoops implements EventLoopGroupProvider {
    private final EventLoopGroup loops;

    private LentLoops(EventLoopGroup loops) {
        this.loops = loops;
    }

    /** @throws IllegalArgumentException if these are no threads of Netty */
    static LentLoops of(ScheduledExecutorService threads) {
        if (threads instanceof EventLoopGroup loops) {
            return new LentLoops(loops);
        }
        throw new IllegalArgumentException("loops must be an EventLoopGroup of Netty, got " + threads.getClass());
    }

    /** The driver asks for the type of its transport, and takes any group that runs it. */
    @Override
    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    public <T extends EventLoopGroup> T allocate(Class<T> type) {
        return (T) loops;
    }

    @Override
    public int threadPoolSize() {
        return 1;
    }

    @Override
    public Future<Boolean> release(EventExecutorGroup group, long quietPeriod, long timeout, TimeUnit unit) {
        return GlobalEventExecutor.INSTANCE.newSucceededFuture(true);
    }

    @Override
    public Future<Boolean> shutdown(long quietPeriod, long timeout, TimeUnit unit) {
        return GlobalEventExecutor.INSTANCE.newSucceededFuture(true);
    }
}
