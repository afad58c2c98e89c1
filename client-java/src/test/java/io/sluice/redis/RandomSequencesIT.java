package io.sluice.redis;

import static io.sluice.redis.Scripted.MIN;
import static io.sluice.redis.Scripted.S;
import static io.sluice.redis.Scripted.calendar;
import static io.sluice.redis.Scripted.perMinute;
import static io.sluice.redis.Scripted.rolling;
import static io.sluice.redis.Scripted.whole;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.CalendarTexts;
import io.sluice.RefillLimit;
import io.sluice.ScopeLimits;
import io.sluice.Weights;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random sequences of every script against {@link ReferenceModel}: replies, levels, gates and slots are compared exactly
 * after each step, and the laws are checked on the way. A run is its seed; {@code -Dmodel.steps=N} makes runs longer.
 */
@WithRedis
class RandomSequencesIT {
    private static final int STEPS = Integer.getInteger("model.steps", 400);
    private static final List<String> CLASSES = List.of("c:a", "c:b");
    private static final List<String> CALENDARS = CalendarTexts.of(
            "day America/Los_Angeles", "minute UTC", "hour Australia/Lord_Howe", "month Europe/Berlin", "day UTC");

    /** An ordinary day; one of 25 hours and one of 23 in California; the end of February. */
    private static final List<Long> STARTS =
            List.of(1_796_000_000L * S, 1_793_511_000L * S, 1_805_011_000L * S, 1_803_840_000L * S);

    private final RedisServer server;

    RandomSequencesIT(RedisServer server) {
        this.server = server;
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
    void scriptsAndModelAgreeAfterEveryStep(long seed) {
        try (Scripted scripts = new Scripted(server)) {
            run(seed, scripts);
        }
    }

    static void run(long seed, Scripted scripts) {
        new Run(seed, scripts).go();
    }

    private static final class Run {
        private final long seed;
        private final Random random;
        private final Scripted scripts;
        private final ReferenceModel model = new ReferenceModel();
        private final List<String> ids = new ArrayList<>();
        private final Map<String, Deque<long[]>> admitted = new HashMap<>();
        private long now;
        private ScopeLimits[] policy;
        private List<String> calendars = CALENDARS;
        private String step = "";

        Run(long seed, Scripted scripts) {
            this.seed = seed;
            this.random = new Random(seed);
            this.scripts = scripts;
            this.now = STARTS.get((int) (seed % STARTS.size()));
        }

        void go() {
            install();
            for (int i = 0; i < STEPS; i++) {
                step = "seed " + seed + " step " + i + ": ";
                int kind = random.nextInt(100);
                if (kind < 50) {
                    acquire();
                } else if (kind < 80) {
                    settle();
                } else if (kind < 88) {
                    beat();
                } else if (kind < 91) {
                    install();
                } else {
                    pass();
                }
                compare();
            }
        }

        private void pass() {
            long[] spans = {1, 17, 1_000, 333_333, S, 5 * S, 29 * S, 61 * S, 20 * MIN, 2 * 3600 * S, 400L * 86_400 * S};
            long by = spans[random.nextInt(spans.length)];
            if (random.nextInt(10) == 0) {
                by = -Math.min(by, 900_000); // Redis's clock, a little back
            }
            if (random.nextInt(4) == 0) {
                by = toAnEnd(by);
            }
            // Never more than 1 s behind what was seen: larger steps have rows of their own.
            now = Math.max(now + by, model.scopes.get("p").last - 900_000);
            step += "time passes by " + by;
            // Lets everything that is due be done, however much it is.
            while (scripts.beat(now, "other").more()) {
                assertThat(now).as(step).isNotNegative();
            }
            model.expire(model.time(now));
            if (by > 0 && by < MIN) {
                return;
            }
            admitted.clear();
        }

        /** To where a window ends, a rolling one's slot too, or just before. */
        private long toAnEnd(long otherwise) {
            List<Long> ends = new ArrayList<>();
            model.scopes
                    .values()
                    .forEach(scope -> scope.limits.values().forEach(limit -> {
                        if (limit.isWindow()) {
                            ends.add(limit.isCalendar() ? limit.ends : (now / limit.width() + 1) * limit.width());
                        }
                    }));
            ends.removeIf(end -> end <= now);
            return ends.isEmpty() ? otherwise : ends.get(random.nextInt(ends.size())) - now - random.nextInt(2);
        }

        private void install() {
            // A removed limit goes on by a calendar that the policy has no more.
            calendars = random.nextInt(3) > 0 ? CALENDARS : CALENDARS.subList(0, 2);
            policy = new ScopeLimits[] {
                new ScopeLimits("p", random.nextInt(5) == 0 ? 0 : random.nextInt(3, 30), limits("p")),
                new ScopeLimits("c:a", random.nextInt(1, 6), limits("c:a")),
                new ScopeLimits("c:b", -1, limits("c:b")),
            };
            step += "install " + List.of(policy);
            long before = model.scopes.isEmpty() ? now : model.time(now);
            String stamp = scripts.stamp;
            Map<String, List<String>> places = Map.copyOf(scripts.names);
            Map<String, Boolean> forgettable = model.forgettable(before);
            scripts.install(now, Scripted.Rules.USUAL.calendars(calendars), policy);
            if (!scripts.stamp.equals(stamp)) {
                model.install(before, calendars, policy);
                model.startAnew(scripts.moved(places), forgettable, before, step);
                admitted.clear();
            }
        }

        private List<RefillLimit> limits(String scope) {
            List<RefillLimit> limits = new ArrayList<>();
            if (random.nextInt(4) > 0) {
                limits.add(perMinute("rpm", random.nextInt(5) == 0 ? 5 : random.nextInt(20, 200)));
            }
            if (scope.equals("c:a") || random.nextInt(3) == 0) {
                limits.add(
                        random.nextBoolean()
                                ? perMinute("itpm", 1 + random.nextInt(10_000_000))
                                : whole("itpm", 1000 + random.nextInt(1000)));
            }
            if (random.nextInt(3) == 0) {
                // A day, counted in ms: rate 7 units a ms of 86,400,000.
                limits.add(new RefillLimit(
                        "daily",
                        700,
                        86_400_000,
                        1_000,
                        700L * 3_600_000,
                        700,
                        86_400 * S,
                        700,
                        1,
                        new Weights(1, 1, 0, 0, 0, 0)));
            }
            if (random.nextInt(40) == 0) {
                limits.add(perMinute("shut", 0));
            }
            windows(limits);
            return limits;
        }

        /** One name is by a calendar, another rolls, and a third is now this and now that. */
        private void windows(List<RefillLimit> limits) {
            if (random.nextInt(2) == 0) {
                limits.add(calendar("rpd", random.nextInt(30) == 0 ? 0 : random.nextInt(10, 80), aCalendar()));
            }
            if (random.nextInt(2) == 0) {
                limits.add(rolling("spend", random.nextInt(10, 60), random.nextInt(3) == 0 ? MIN : 600 * S));
            }
            if (random.nextInt(3) == 0) {
                limits.add(
                        switch (random.nextInt(3)) {
                            case 0 -> calendar("turns", random.nextInt(20, 90), aCalendar());
                            case 1 -> rolling("turns", random.nextInt(20, 90), 100 * S);
                            default -> perMinute("turns", random.nextInt(20, 90));
                        });
            }
        }

        private int aCalendar() {
            return random.nextInt(calendars.size()) + 1;
        }

        private Map<String, Map<String, Long>> costs(String modelClass) {
            return Map.of("p", costs(), modelClass, costs());
        }

        private Map<String, Long> costs() {
            long input = switch (random.nextInt(6)) {
                case 0 -> 0;
                case 1 -> random.nextInt(3_000_000);
                default -> random.nextInt(1_000);
            };
            return Map.of(
                    "rpm",
                    1L,
                    "itpm",
                    input,
                    "daily",
                    (long) random.nextInt(5),
                    "shut",
                    0L,
                    "rpd",
                    (long) random.nextInt(4),
                    "spend",
                    (long) random.nextInt(6),
                    "turns",
                    (long) random.nextInt(4));
        }

        private void acquire() {
            boolean repeat = !ids.isEmpty() && random.nextInt(6) == 0;
            String id = repeat ? ids.get(random.nextInt(ids.size())) : "id" + ids.size();
            String digest = random.nextInt(20) == 0 ? "other" : "d";
            long lease = random.nextInt(1, 60) * S;
            String modelClass = CLASSES.get(random.nextInt(2));
            Map<String, Map<String, Long>> costs = costs(modelClass);
            step += "acquire " + id + " " + digest + " " + costs;
            Map<String, String> before = scripts.rawLevels();
            boolean due = model.permits.values().stream().anyMatch(permit -> permit.due <= model.time(now))
                    || model.scopes.values().stream().anyMatch(scope -> scope.windowEnds() <= model.time(now));
            List<Object> reply = scripts.acquire(now, id, digest, "h", lease, costs);
            ReferenceModel.Answer expected = model.acquire(now, id, digest, lease, costs);
            // Of several limits that make it impossible the first one found is named.
            List<Object> impossible = List.of("never", "closed");
            if (!impossible.contains(reply.get(0)) || !impossible.contains(expected.code())) {
                assertThat(reply.get(0)).as(step).isEqualTo(expected.code());
            }
            if (!reply.get(0).equals("granted") && !due) {
                assertThat(scripts.rawLevels())
                        .as(step + ": a refusal writes no level")
                        .isEqualTo(before);
            }
            if (reply.get(0).equals("wait")) {
                assertThat((Long) reply.get(2)).as(step + ": exact wait").isEqualTo(expected.exactUs());
                if (expected.exactUs() > 0 && reply.get(1).equals(reply.get(2)) && expected.exactUs() < 90 * S) {
                    sleepExactly(expected.exactUs(), costs);
                }
            }
            if (reply.get(0).equals("granted") && !repeat) {
                ids.add(id);
                neverAboveTheProvidersMinute(modelClass, costs);
            }
        }

        /** Whoever sleeps the exact wait and has no rival is admitted, and not a tick earlier. */
        private void sleepExactly(long waitUs, Map<String, Map<String, Long>> costs) {
            boolean coarse = costs.keySet().stream()
                    .anyMatch(name -> model.scopes.get(name).limits.containsKey("daily"));
            boolean leaseEnds = model.permits.values().stream().anyMatch(p -> p.due <= model.time(now) + waitUs);
            if (coarse || leaseEnds || now < model.scopes.get("p").last) {
                return;
            }
            String early = "early" + ids.size() + "-" + now;
            assertThat(scripts.acquire(now + waitUs - 1, early, costs).get(0))
                    .as(step + ": 1 us early")
                    .isEqualTo("wait");
            assertThat(model.acquire(now + waitUs - 1, early, "d", Scripted.LEASE, costs)
                            .code())
                    .isEqualTo("wait");
            now += waitUs;
            assertThat(scripts.acquire(now, early, costs).get(0))
                    .as(step + ": after its wait")
                    .isEqualTo("granted");
            assertThat(model.acquire(now, early, "d", Scripted.LEASE, costs).code())
                    .isEqualTo("granted");
            ids.add(early);
            admitted.clear();
        }

        private void neverAboveTheProvidersMinute(String modelClass, Map<String, Map<String, Long>> costs) {
            for (String name : List.of("p", modelClass)) {
                ReferenceModel.Limit limit = model.scopes.get(name).limits.get("rpm");
                if (limit == null || !limit.active) {
                    continue;
                }
                long at = model.time(now);
                Deque<long[]> grants = admitted.computeIfAbsent(name, n -> new ArrayDeque<>());
                grants.addLast(new long[] {at, costs.get(name).get("rpm")});
                while (grants.getFirst()[0] <= at - MIN) {
                    grants.removeFirst();
                }
                assertThat(grants.stream().mapToLong(g -> g[1]).sum())
                        .as(step + ": rpm of " + name + " in any rolling minute")
                        .isLessThanOrEqualTo(limit.is.spanAmount());
            }
        }

        private void settle() {
            if (ids.isEmpty()) {
                return;
            }
            String id = ids.get(random.nextInt(4) == 0 ? random.nextInt(ids.size()) : ids.size() - 1);
            String how = List.of("settled", "settled", "cancelled", "throttled").get(random.nextInt(4));
            ReferenceModel.Permit permit = model.permits.get(id);
            Map<String, Map<String, Long>> used = new HashMap<>();
            if (permit != null && random.nextInt(5) > 0) {
                permit.costs.forEach((scope, ignored) -> used.put(scope, costs()));
            }
            step += how + " " + id + " " + used;
            List<Object> reply = scripts.settle(now, id, how, how.equals("cancelled") ? Map.of() : used);
            ReferenceModel.Ending expected = model.settle(now, id, how, used);
            if (expected.state().equals("unknown")) {
                assertThat(reply).as(step).containsExactly("unknown");
            } else {
                assertThat(reply.subList(0, 3))
                        .as(step)
                        .containsExactly("ended", expected.state(), expected.already() ? 1L : 0L);
            }
        }

        private void beat() {
            List<String> renewed =
                    ids.stream().filter(id -> random.nextInt(ids.size()) < 5).toList();
            step += "beat " + renewed;
            List<Object> reply =
                    scripts.beat(now, "h", renewed.toArray(String[]::new)).renewed();
            long at = model.time(now);
            model.expire(at);
            for (int i = 0; i < renewed.size(); i++) {
                assertThat(reply.get(i)).as(step + ": " + renewed.get(i)).isEqualTo(model.renew(at, renewed.get(i)));
            }
        }

        private void compare() {
            Map<String, Scripted.Scope> held = scripts.inspect(now);
            Map<String, Long> running = scripts.recount();
            model.scopes.forEach((name, expected) -> {
                long at = model.time(now);
                Scripted.Scope is = held.get(name);
                assertThat(is.used()).as(step + ": used of " + name).isEqualTo(expected.used);
                assertThat(is.used()).as(step + ": recount of " + name).isEqualTo(running.getOrDefault(name, 0L));
                assertThat(is.used()).as(step).isNotNegative();
                // A removed limit that is full again may have given its place to another.
                expected.limits
                        .entrySet()
                        .removeIf(limit -> !is.limits().containsKey(limit.getKey())
                                && !limit.getValue().active
                                && model.forget(name, limit.getKey(), at));
                expected.limits.forEach((limit, level) -> {
                    Scripted.Level found = is.limits().get(limit);
                    String what = step + ": " + limit + " of " + name;
                    assertThat(found.level())
                            .as(what)
                            .isEqualTo(expected.levelAt(at, level).longValueExact());
                    assertThat(found.level()).as(what).isLessThanOrEqualTo(found.capacity());
                    assertThat(found.active()).as(what).isEqualTo(level.active);
                    if (level.isCalendar() && level.active) {
                        assertThat(found.ends())
                                .as(what + ", window ends")
                                .isEqualTo(level.ends > at ? level.ends : Boundaries.next(level.calendar, at));
                    }
                    assertThat(found.admitted())
                            .as(what + ", admitted")
                            .isEqualTo(level.admittedIn(at).longValueExact());
                });
            });
        }
    }
}
