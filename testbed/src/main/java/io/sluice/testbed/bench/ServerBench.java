package io.sluice.testbed.bench;

import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.RedisServers;
import io.sluice.testbed.server.ServerProcess;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** {@code ./sluice bench server}: when a server is ready, what HTTP adds to a permit, what thousands of waiting calls cost. */
public final class ServerBench {
    private ServerBench() {}

    /**
     * Runs it on a Redis of its own.
     *
     * @param command as it was typed, for the report
     * @param progress hears a line every few seconds at most
     * @throws IllegalStateException the server was not built, did not start, or answered what it never should
     * @throws io.sluice.testbed.redis.NoRedisException there is no Redis to start
     */
    public static ServerReport run(ServerBenchOptions options, String command, Consumer<String> progress)
            throws InterruptedException {
        BenchToken token = BenchToken.fresh();
        try (RedisServer redis = RedisServers.start()) {
            Instant began = Instant.now().truncatedTo(ChronoUnit.SECONDS);
            progress.accept("start  the jar is laid out as in the image");
            ServerImage image = ServerImage.lay(options.home());
            List<Reached> reached =
                    new ArrayList<>(ServerStarts.measure(image, redis.uri(), options.rounds(), progress));
            try (Contender java = new SluicePairs(redis.uri());
                    ServerProcess server = ServerProcess.start(token.known(image.laidOut(redis.uri())));
                    Contender noOp = new HttpContender.NoOp(server.uri(), token.text());
                    Contender http = new HttpContender.Permits(server.uri(), token.text())) {
                java.prepare();
                reached.addAll(new ServerCalls(noOp, java, http, options, progress).measure());
            }
            reached.addAll(ServerWaits.measure(redis, image, token, options.waiters(), progress));
            BenchReport.Place place = new BenchReport.Place(
                    command,
                    began,
                    redis.version(),
                    System.getProperty("java.version"),
                    Runtime.getRuntime().availableProcessors(),
                    options.rounds(),
                    (System.currentTimeMillis() - began.toEpochMilli()) / 1000.0);
            return new ServerReport(place, reached);
        }
    }
}
