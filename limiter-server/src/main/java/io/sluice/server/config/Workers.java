package io.sluice.server.config;

import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.scheduling.concurrent.CustomizableThreadFactory;
import org.springframework.stereotype.Component;

/**
 * Who does what takes long: a few threads, and a queue with an end, beyond which callers are told {@code 503 busy}. None of them waits for
 * an answer: a stream, or a call that stands in line, has no thread.
 *
 * <p>Both of Java's kind and of Spring's: Reactor prints every task that one of Spring's alone refuses, twice, on the thread that serves
 * connections.
 */
@Component
class Workers extends ThreadPoolExecutor implements AsyncTaskExecutor {
    private static final int QUEUE = 1_000;
    private static final long IDLE_S = 60;

    Workers(Settings settings) {
        super(
                settings.workers(),
                settings.workers(),
                IDLE_S,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(QUEUE),
                new CustomizableThreadFactory("sluice-work-"));
        allowCoreThreadTimeOut(true);
    }
}
