package io.sluice.server;

import io.sluice.testbed.redis.RedisServers;
import java.util.ArrayList;
import java.util.List;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** The server as it is started by {@code java -jar}, in this JVM, on a port of its own. */
final class Started implements AutoCloseable {
    private static Started shared;

    final ConfigurableApplicationContext context;
    final int port;
    final Http http;

    private Started(ConfigurableApplicationContext context) {
        this.context = context;
        this.port = context.getEnvironment().getRequiredProperty("local.server.port", Integer.class);
        this.http = new Http(port);
    }

    static Started on(String redis, String... arguments) {
        return start(new SpringApplicationBuilder(Server.class), redis, arguments);
    }

    /** The same with beans of a test's own. */
    static Started with(Class<?> beans, String redis, String... arguments) {
        return start(new SpringApplicationBuilder(Server.class, beans), redis, arguments);
    }

    private static Started start(SpringApplicationBuilder server, String redis, String... arguments) {
        List<String> all = new ArrayList<>(List.of("--sluice.redis=" + redis));
        all.addAll(List.of(arguments));
        for (String usual : new String[] {"--server.port=0", "--sluice.redis-timeout=5s"}) {
            String name = usual.substring(0, usual.indexOf('=') + 1);
            if (all.stream().noneMatch(argument -> argument.startsWith(name))) {
                all.add(usual); // given twice it would be a list
            }
        }
        return new Started(server.run(all.toArray(String[]::new)));
    }

    /** One without tokens on the Redis that everybody shares, for tests that keep to projects of their own. */
    static synchronized Started shared() {
        if (shared == null) {
            shared = on(RedisServers.shared().uri());
        }
        return shared;
    }

    @Override
    public void close() {
        context.close();
    }
}
