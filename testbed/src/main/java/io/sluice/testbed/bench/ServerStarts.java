package io.sluice.testbed.bench;

import io.sluice.testbed.server.ServerOptions;
import io.sluice.testbed.server.ServerProcess;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;

/** How long a server takes until it is ready, by the clock: from the start of its process to readiness's first yes. */
final class ServerStarts {
    private static final double PLAIN_SECONDS = 10;
    private static final double LAID_OUT_SECONDS = 5;

    private ServerStarts() {}

    /** In turn, so that what slows the machine slows both. */
    static List<Reached> measure(ServerImage image, String redis, int times, Consumer<String> progress) {
        double[][] seconds = new double[2][times];
        double[][] cpu = new double[2][times];
        for (int i = 0; i < times; i++) {
            start(image.plain(redis), "plain jar", 0, i, seconds, cpu, progress);
            start(image.laidOut(redis), "as in the image", 1, i, seconds, cpu, progress);
        }
        return List.of(
                reached("plain jar", PLAIN_SECONDS, seconds[0], cpu[0]),
                reached("unpacked, with class-data archive, as in the image", LAID_OUT_SECONDS, seconds[1], cpu[1]));
    }

    private static void start(
            ServerOptions options,
            String what,
            int kind,
            int round,
            double[][] seconds,
            double[][] cpu,
            Consumer<String> progress) {
        long began = System.nanoTime();
        try (ServerProcess server = ServerProcess.start(options)) {
            seconds[kind][round] = (System.nanoTime() - began) / 1e9;
            cpu[kind][round] = server.cpu().toMillis() / 1e3;
        }
        progress.accept(String.format(Locale.ROOT, "start  %s: ready after %.1f s", what, seconds[kind][round]));
    }

    private static Reached reached(String what, double most, double[] seconds, double[] cpu) {
        return new Reached(
                "s until ready, " + what,
                Bound.atMost(most),
                Spread.of(seconds),
                1,
                "processor time " + BenchTable.value(Spread.of(cpu), 1) + " s");
    }
}
