package io.sluice.server;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.properties.ConfigurationPropertiesScan;

/** Starts the server: {@code java -jar sluice-server-app.jar}, or {@code ./sluice server}. */
@SpringBootApplication(proxyBeanMethods = false)
@ConfigurationPropertiesScan
class Server {

    public static void main(String[] arguments) {
        SpringApplication.run(Server.class, arguments);
    }
}
