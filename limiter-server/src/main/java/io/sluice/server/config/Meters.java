package io.sluice.server.config;

import io.micrometer.core.instrument.config.MeterFilter;
import java.util.Set;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Of the client's meters those stay that are about this process; the rest is told of the whole fleet under the same names. */
@Configuration(proxyBeanMethods = false)
class Meters {
    private static final Set<String> FLEETS = Set.of(
            "sluice.permits",
            "sluice.wait",
            "sluice.tokens",
            "sluice.rejections",
            "sluice.usage.missing",
            "sluice.lease.lost",
            "sluice.in.flight",
            "sluice.waiters",
            "sluice.hold",
            "sluice.provider.remaining");

    @Bean
    MeterFilter ofThisProcess() {
        return MeterFilter.deny(id -> FLEETS.contains(id.getName()));
    }
}
