package io.sluice.server.config;

import io.micrometer.core.instrument.MeterRegistry;
import io.netty.channel.EventLoopGroup;
import io.sluice.OutageException;
import io.sluice.Sluice;
import io.sluice.Sluice.Options;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.context.SmartLifecycle;
import org.springframework.http.client.ReactorResourceFactory;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;
import reactor.netty.resources.LoopResources;

/**
 * The one client of this process. A server may start before its Redis: until that answers every call is told of the outage,
 * readiness says no, and it is tried again each second.
 *
 * <p>It has last words: what was counted, learnt and ended within the last second. So it closes when nobody calls any more and the
 * threads that its connections run on, the web server's, are still there.
 */
@Component
public class Link implements SmartLifecycle, DisposableBean {
    private static final Logger log = LoggerFactory.getLogger(Link.class);

    private final Settings settings;
    private final MeterRegistry meters;
    private final EventLoopGroup loops;
    private volatile @Nullable Sluice sluice;
    private volatile @Nullable OutageException why;
    private volatile boolean closed;

    Link(Settings settings, MeterRegistry meters, ReactorResourceFactory threads) {
        this.settings = settings;
        this.meters = meters;
        this.loops = threads.getLoopResources().onServer(LoopResources.DEFAULT_NATIVE);
        connect();
    }

    /**
     * The client.
     *
     * @throws OutageException if Redis has not answered yet
     */
    public Sluice sluice() {
        Sluice connected = sluice;
        if (connected == null) {
            OutageException last = why;
            throw new OutageException(
                    last == null ? "disconnected" : last.reason(), "Redis has not answered yet", last);
        }
        return connected;
    }

    /** Tries again, where it is not connected. */
    @Scheduled(fixedDelay = 1_000)
    void again() {
        if (sluice == null) {
            connect();
        }
    }

    private synchronized void connect() {
        if (closed) {
            return;
        }
        try {
            sluice = Sluice.connect(settings.redis(), options());
        } catch (IllegalArgumentException e) {
            throw new BadSetting(
                    "sluice.redis and its like: " + e.getMessage(),
                    "Correct it; a Redis that is down does not matter.");
        } catch (OutageException e) {
            OutageException last = why;
            if (last == null || !last.reason().equals(e.reason())) {
                log.warn("not connected yet: {}", e.getMessage());
            }
            why = e;
        }
    }

    private Options options() {
        Options options = Options.DEFAULT
                .withCommandTimeout(settings.redisTimeout())
                .withMeters(meters)
                .withLoops(loops);
        if (settings.host() != null) {
            options = options.withHost(settings.host());
        }
        if (settings.redisAuthority() != null) {
            options = options.withAuthority(settings.redisAuthority());
        }
        String password = settings.redisPassword();
        return password == null
                ? options
                : options.withCredentials(() -> new Sluice.Credentials(settings.redisUser(), password));
    }

    /** It connects when it is made: whoever is made later may ask already. */
    @Override
    public void start() {}

    @Override
    public synchronized void stop() {
        closed = true;
        if (sluice != null) {
            sluice.close();
        }
    }

    @Override
    public boolean isRunning() {
        return !closed;
    }

    /** After all that serves calls, and before {@link ReactorResourceFactory}, which is in phase 0 and ends the threads. */
    @Override
    public int getPhase() {
        return 1;
    }

    /** Where the server never came to run nothing is stopped. */
    @Override
    public void destroy() {
        stop();
    }
}
