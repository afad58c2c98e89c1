package io.sluice.testbed.chaos;

import io.sluice.Call;
import io.sluice.Decision;
import io.sluice.OutageException;
import io.sluice.Sluice;
import io.sluice.testbed.emulator.Counting;
import io.sluice.testbed.emulator.Emulator;
import io.sluice.testbed.emulator.EmulatorOptions;
import io.sluice.testbed.fleet.Crew;
import io.sluice.testbed.fleet.FleetOptions;
import io.sluice.testbed.fleet.Profile;
import io.sluice.testbed.fleet.Strategy;
import io.sluice.testbed.fleet.TargetLog;
import java.io.IOException;
import java.time.Duration;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** One leg: a Redis, a provider and a fleet of its own, and what goes wrong with them. */
final class LegRun implements AutoCloseable {
    private static final Duration INSTALLS = Duration.ofSeconds(10);
    private static final long TICK_MS = 200;

    private final Schedule.Part part;
    private final ChaosOptions options;
    private final Consumer<String> progress;
    private final String zone = zone(LocalTime.now(ZoneOffset.UTC).getHour());
    private final Timeline terms = new Timeline(Terms.FULL);
    private final List<Happening> happenings = new ArrayList<>();

    private final Ground ground;
    private final Emulator provider;
    private final TargetLog log;
    private final Sluice admin;
    private final Watch watch;
    private final Crew crew;

    LegRun(Schedule.Part part, ChaosOptions options, Consumer<String> progress)
            throws IOException, InterruptedException {
        this.part = part;
        this.options = options;
        this.progress = progress;
        List<AutoCloseable> open = new ArrayList<>();
        try {
            this.ground = Ground.of(part.leg());
            open.add(ground);
            this.provider = Emulator.start(EmulatorOptions.of("anthropic", Terms.provider())
                    .counting(Counting.ROLLING, Duration.ofSeconds(60)));
            open.add(provider);
            this.log = new TargetLog(provider.uri());
            this.admin = Sluice.connect(ground.adminUri());
            open.add(admin);
            install(Terms.FULL);
            this.watch = new Watch(ground, ProviderClock.of(log), this::nudge);
            open.add(watch);
            this.crew = Crew.start(fleet());
        } catch (IOException | InterruptedException | RuntimeException e) {
            close(open);
            throw e;
        }
    }

    private FleetOptions fleet() {
        return new FleetOptions(
                ground.fleetUri(),
                Terms.FULL.policy(part.leg().keepsBooks(), zone),
                provider.uri(),
                options.processes(),
                options.agents(),
                part.length(),
                Strategy.SLUICE,
                Profile.DEFAULT,
                options.seed());
    }

    Evidence run() throws IOException, InterruptedException {
        long startMs = watch.nowMs();
        crew.go();
        watch.begin();
        for (Incident incident : part.incidents()) {
            workUntil(startMs + incident.atMs());
            happen(incident);
        }
        workUntil(startMs + part.length().toMillis());
        long stopMs = watch.nowMs();
        crew.stop();
        List<Evidence.Watched> watched = watch.end();
        Evidence.End end = watch.emptied(Terms.LEASE_MS + Judge.GRACE_MS);
        return new Evidence(
                part.leg(),
                options.processes(),
                options.agents(),
                startMs,
                stopMs,
                terms,
                log.read(),
                happenings.stream().map(watch::stillHeld).toList(),
                watched,
                crew.aloneNs().stream().map(watch::atMs).toList(),
                end,
                crew.troubles(),
                crew.outcomes(),
                crew.waitsMs());
    }

    private void workUntil(long atMs) throws IOException, InterruptedException {
        for (long leftMs = atMs - watch.nowMs(); leftMs > 0; leftMs = atMs - watch.nowMs()) {
            TimeUnit.MILLISECONDS.sleep(Math.min(leftMs, TICK_MS));
            crew.supervise();
        }
    }

    private void happen(Incident incident) throws IOException, InterruptedException {
        progress.accept(part.leg().word() + incident.line());
        long fromMs = watch.nowMs();
        String host = incident.kind().hitsOne() ? crew.host(incident.process()) : "";
        long outMs = -1;
        switch (incident.kind()) {
            case KILL -> {
                crew.kill(incident.process());
                watch.askLater(host, Terms.LEASE_MS + Judge.GRACE_MS);
            }
            case PAUSE -> {
                crew.pause(incident.process());
                workUntil(fromMs + incident.lastsMs());
                crew.resume(incident.process());
            }
            case SCRIPTS -> ground.redis().command("SCRIPT", "FLUSH", "SYNC");
            case LIMITS -> forAWhile(new Terms(incident.percent(), false), incident);
            case WEIGHTS -> forAWhile(new Terms(100, true), incident);
            default -> outMs = ground.cause(incident, watch::nowMs);
        }
        long toMs = watch.nowMs();
        happenings.add(new Happening(incident, fromMs, toMs, outMs, host, -1));
        ground.mend();
        progress.accept(String.format(
                Locale.ROOT, "%s over after %.1f s", incident.kind().word(), (toMs - fromMs) / 1_000.0));
    }

    private void forAWhile(Terms other, Incident incident) throws IOException, InterruptedException {
        long fromMs = watch.nowMs();
        change(other);
        workUntil(fromMs + incident.lastsMs());
        change(Terms.FULL);
    }

    /** What is allowed falls when the change begins to be made, and rises when it has been. */
    private void change(Terms next) throws InterruptedException {
        long beforeMs = watch.nowMs();
        boolean falls = next.percent() < terms.at(beforeMs).percent();
        install(next);
        terms.add(falls ? watch.nowMs() : beforeMs, next);
    }

    private void install(Terms next) throws InterruptedException {
        long deadlineNs = System.nanoTime() + INSTALLS.toNanos();
        while (true) {
            try {
                long unused = admin.install(next.policy(part.leg().keepsBooks(), zone));
                return;
            } catch (OutageException e) {
                if (System.nanoTime() > deadlineNs) {
                    throw e;
                }
                TimeUnit.MILLISECONDS.sleep(TICK_MS);
            }
        }
    }

    /** One call of no tokens, taken and given back, or refused. */
    private void nudge() {
        Decision decision = admin.project(Terms.PROJECT)
                .tryAcquire(Call.of(Profile.DEFAULT.model()).inputTokens(0).maxOutputTokens(1));
        if (decision instanceof Decision.Granted granted) {
            granted.permit().cancel();
        }
    }

    /** The books are a day's: a zone whose midnight is far. */
    static String zone(int hour) {
        return hour >= 2 && hour < 22 ? "UTC" : "Asia/Tokyo";
    }

    @Override
    public void close() {
        close(List.of(ground, provider, admin, watch, crew));
    }

    /** Last opened, first closed. */
    private static void close(List<AutoCloseable> open) {
        for (int i = open.size() - 1; i >= 0; i--) {
            try {
                open.get(i).close();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
