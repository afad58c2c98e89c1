package io.sluice.server.policy;

import io.sluice.Admin;
import io.sluice.OutageException;
import io.sluice.server.config.Link;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * Keeps the policies that this server knows where they belong. A Redis that came back empty has none, and agents that ask it themselves
 * cannot wait until somebody asks a server. So every few seconds the list is asked for, one command for all projects and files: what it
 * lacks is put back, and what was set elsewhere is read, so that the newest is put back should it be lost ({@link Admin#projects}).
 */
@Component
class Mending {
    private static final Logger log = LoggerFactory.getLogger(Mending.class);

    private final Link link;

    Mending(Link link) {
        this.link = link;
    }

    @Scheduled(fixedDelay = 3_000)
    void look() {
        try {
            link.sluice().admin().projects().whenComplete((all, e) -> {
                if (e != null) {
                    later(e);
                }
            });
        } catch (OutageException e) {
            later(e);
        }
    }

    /** Readiness and the metrics say why. */
    private static void later(Throwable e) {
        log.debug("what Redis lacks is put back later: {}", e.toString());
    }
}
