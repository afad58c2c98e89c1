package io.sluice.server.security;

import io.sluice.server.config.BadSetting;
import java.net.InetAddress;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.boot.web.server.reactive.ConfigurableReactiveWebServerFactory;
import org.springframework.stereotype.Component;

/** Where nobody has to say who it is, only this machine is served; another address stops the start. */
@Component
class LoopbackRule implements WebServerFactoryCustomizer<ConfigurableReactiveWebServerFactory> {
    private final Doors doors;
    private final @Nullable InetAddress address;
    private final @Nullable Integer managementPort;

    LoopbackRule(
            Doors doors,
            @Value("${server.address:#{null}}") @Nullable InetAddress address,
            @Value("${management.server.port:#{null}}") @Nullable Integer managementPort) {
        this.doors = doors;
        this.address = address;
        this.managementPort = managementPort;
    }

    @Override
    public void customize(ConfigurableReactiveWebServerFactory factory) {
        if (!doors.open()) {
            return;
        }
        if (address != null && !address.isLoopbackAddress()) {
            throw unsafe("server.address is " + address.getHostAddress() + ", which others can reach");
        }
        if (managementPort != null) {
            throw unsafe("management.server.port opens a second port to others");
        }
        factory.setAddress(InetAddress.getLoopbackAddress());
    }

    private static BadSetting unsafe(String what) {
        return new BadSetting(
                what + ", and no tokens are configured",
                "Name a tokens file (sluice.tokens, SLUICE_TOKENS), or leave it out to listen on loopback only.");
    }
}
