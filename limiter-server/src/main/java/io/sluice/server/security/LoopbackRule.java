package io.sluice.server.security;

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
            throw new UnsafeAddressException("server.address is " + address.getHostAddress()
                    + ", which others can reach, and no tokens are configured");
        }
        if (managementPort != null) {
            throw new UnsafeAddressException(
                    "management.server.port opens a second port to others, and no tokens are configured");
        }
        factory.setAddress(InetAddress.getLoopbackAddress());
    }

    /** Explained by {@link StartFailures}. */
    static final class UnsafeAddressException extends RuntimeException {
        private static final long serialVersionUID = 1;

        UnsafeAddressException(String message) {
            super(message);
        }
    }
}
