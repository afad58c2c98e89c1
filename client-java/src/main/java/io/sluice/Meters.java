package io.sluice;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Every meter of the client, by its name. What this process did; the server's meters of the same names cover the fleet. */
final class Meters {
    /** A registry keeps the first gauge of a name, so this one has to go. */
    private static final Map<MeterRegistry, Gauge> NEVER_UP = Collections.synchronizedMap(new WeakHashMap<>());

    private final MeterRegistry registry;
    private final boolean heard;

    /** By project, class and limit. */
    private final Map<List<String>, AtomicLong> remaining = new ConcurrentHashMap<>();

    /** By project and scope, the end of its hold in ms since 1970. */
    private final Map<String, AtomicLong> holds = new ConcurrentHashMap<>();

    /** Gauges that were registered here. */
    private final List<Own> own = new ArrayList<>();

    private boolean closed;

    /** @param value whether a gauge reads it is found out by reading the gauge */
    private record Own(Gauge gauge, Value value) {}

    private static final class Value implements Supplier<Number> {
        private final Supplier<Number> value;
        private volatile boolean read;

        Value(Supplier<Number> value) {
            this.value = value;
        }

        @Override
        public Number get() {
            read = true;
            return value.get();
        }
    }

    Meters(@Nullable MeterRegistry registry) {
        // An empty composite drops what it is told; not telling it is cheaper still.
        this.heard = registry != null;
        this.registry = registry == null ? new CompositeMeterRegistry() : registry;
    }

    /** {@code sluice_store_up} of a process that no store has answered yet: what alarms go by is there before Redis ever was. */
    static void storeNeverUp(@Nullable MeterRegistry registry) {
        if (registry != null && registry.find("sluice.store.up").gauge() == null) {
            NEVER_UP.put(registry, Gauge.builder("sluice.store.up", () -> 0).register(registry));
        }
    }

    /** One has answered: {@link #storeUp} says how it goes from now on. */
    static void storeWasUp(@Nullable MeterRegistry registry) {
        Gauge never = registry == null ? null : NEVER_UP.remove(registry);
        if (registry != null && never != null) {
            registry.remove(never);
        }
    }

    /** {@code sluice_permits_total}: granted, settled, cancelled, throttled, expired or refused. */
    void permit(String project, String modelClass, String outcome) {
        if (!heard) {
            return;
        }
        Counter.builder("sluice.permits")
                .tags("project", project, "class", modelClass, "outcome", outcome)
                .register(registry)
                .increment();
    }

    /** {@code sluice_wait_seconds}: from asking to the permit. {@code team} is one of the policy's, or {@code other}. */
    void waited(String project, String modelClass, String team, Duration waited) {
        if (!heard) {
            return;
        }
        Timer.builder("sluice.wait")
                .tags("project", project, "class", modelClass, "team", team)
                .register(registry)
                .record(waited);
    }

    /** {@code sluice_shadow_total}: granted at once because the policy only watches, and the limit that was short. */
    void shadow(String project, String modelClass, String limit) {
        if (!heard) {
            return;
        }
        Counter.builder("sluice.shadow")
                .tags("project", project, "class", modelClass, "limit", limit)
                .register(registry)
                .increment();
    }

    /** {@code sluice_tokens_total}: what settled permits used, by type. */
    void tokens(String project, String modelClass, Permit.Reserved used) {
        if (!heard) {
            return;
        }
        token(project, modelClass, "input", used.input());
        token(project, modelClass, "cache_read", used.cacheRead());
        token(project, modelClass, "cache_write", used.cacheWrite());
        token(project, modelClass, "output", used.output());
    }

    private void token(String project, String modelClass, String type, long count) {
        Counter.builder("sluice.tokens")
                .tags("project", project, "class", modelClass, "type", type)
                .register(registry)
                .increment((double) count);
    }

    /** {@code sluice_rejections_total}: the provider's "no"s. */
    void rejection(String project, String modelClass, Rejection.Kind kind) {
        if (!heard) {
            return;
        }
        Counter.builder("sluice.rejections")
                .tags("project", project, "class", modelClass, "kind", kind.label())
                .register(registry)
                .increment();
    }

    /** {@code sluice_resends_total}: requests beyond the first of a permit, as an SDK that retries by itself sends them. */
    void resends(String project, int requests) {
        if (!heard) {
            return;
        }
        Counter.builder("sluice.resends")
                .tags("project", project)
                .register(registry)
                .increment(requests);
    }

    /** {@code sluice_observations_dropped_total}: what the provider's answers taught and Redis could not hear. */
    void unobserved(String project, int observations) {
        if (!heard) {
            return;
        }
        Counter.builder("sluice.observations.dropped")
                .tags("project", project)
                .register(registry)
                .increment(observations);
    }

    /** {@code sluice_provider_remaining}: what the last answer to this process said is left, in the limit's units. */
    void remaining(String project, String modelClass, Store.Observation.Left left) {
        if (heard && left.left() != Store.Observation.NOT_SAID) {
            remaining
                    .computeIfAbsent(List.of(project, modelClass, left.limit()), names -> {
                        AtomicLong value = new AtomicLong();
                        gauge(
                                "sluice.provider.remaining",
                                value::get,
                                "project",
                                project,
                                "class",
                                modelClass,
                                "limit",
                                left.limit());
                        return value;
                    })
                    .set(left.left());
        }
    }

    /** {@code sluice_hold}: 1 while a scope lets nobody in, as this process heard last. */
    void hold(String project, String scope, long leftUs) {
        if (heard) {
            long until = leftUs == Store.UNTIL_RELEASED
                    ? Long.MAX_VALUE
                    : System.currentTimeMillis() + TimeUnit.MICROSECONDS.toMillis(leftUs);
            holds.computeIfAbsent(project + " " + scope, any -> {
                        AtomicLong end = new AtomicLong();
                        gauge(
                                "sluice.hold",
                                () -> end.get() > System.currentTimeMillis() ? 1 : 0,
                                "project",
                                project,
                                "scope",
                                scope);
                        return end;
                    })
                    .set(until);
        }
    }

    /** All holds of a project: what is not among them is over, also if it had no end. */
    void holds(String project, List<Store.OnHold> all) {
        for (Store.OnHold one : all) {
            hold(project, one.scope(), one.leftUs());
        }
        holds.forEach((name, end) -> {
            if (name.startsWith(project + " ")
                    && all.stream().noneMatch(one -> name.equals(project + " " + one.scope()))) {
                end.set(0);
            }
        });
    }

    /** {@code sluice_usage_missing_total}: settled with a part unknown, so that the estimate stood. */
    void usageMissing() {
        if (!heard) {
            return;
        }
        Counter.builder("sluice.usage.missing").register(registry).increment();
    }

    /** {@code sluice_lease_lost_total}. */
    void leaseLost() {
        if (!heard) {
            return;
        }
        Counter.builder("sluice.lease.lost").register(registry).increment();
    }

    /** {@code sluice_script_seconds}: one script, as this client saw it. */
    void script(String script, Duration took) {
        if (!heard) {
            return;
        }
        Timer.builder("sluice.script").tags("script", script).register(registry).record(took);
    }

    /** {@code sluice_in_flight} and {@code sluice_waiters} of this process. */
    void gauges(String project, Supplier<Number> inFlight, Supplier<Number> waiters) {
        gauge("sluice.in.flight", inFlight, "project", project, "scope", "p");
        gauge("sluice.waiters", waiters, "project", project, "class", "all");
    }

    /** {@code sluice_degraded}: 1 while calls of the project meet the policy's outage rule. */
    void degraded(String project, Supplier<Number> degraded) {
        gauge("sluice.degraded", degraded, "project", project);
    }

    /** {@code sluice_outages_total}: calls that Redis could not answer. */
    void outage(String reason) {
        if (!heard) {
            return;
        }
        Counter.builder("sluice.outages")
                .tags("reason", reason)
                .register(registry)
                .increment();
    }

    /** {@code sluice_store_up}: 1 while Redis answers. */
    void storeUp(Supplier<Number> up) {
        gauge("sluice.store.up", up);
    }

    private synchronized void gauge(String name, Supplier<Number> supplier, String... tags) {
        if (!closed) {
            Value value = new Value(supplier);
            own.add(new Own(Gauge.builder(name, value).tags(tags).register(registry), value));
        }
    }

    /**
     * A registry outlives its clients, and keeps the first gauge of a name: a closed one would be told of for ever, in place of the next.
     * What is another client's stays, and so does what only grows.
     */
    synchronized void close() {
        closed = true;
        for (Own one : own) {
            one.gauge.value();
            if (one.value.read) {
                registry.remove(one.gauge);
            }
        }
        own.clear();
    }
}
