package io.sluice.testbed.emulator;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * What a provider does beside keeping its limits. Set at the start by options, changed while it runs by
 * {@code POST /_behave}: an object with a member for each behaviour, which holds the same pairs, as the option's text or as
 * an object. {@code null} switches one off; what is not named stays as it is, with all it has counted.
 *
 * <pre>
 * {"overload": {"share": 0.2, "for": "5s"}, "stream-error": "after=3,kind=cut", "lies": "rounded,late", "plan": null}
 * </pre>
 */
public final class Behaviour {
    /** None of it. */
    public static final Behaviour NONE = new Behaviour(null, null, null, null, Spend.DEFAULT, Set.of(), null, Set.of());

    final @Nullable Overload overload;
    final @Nullable StreamError streamError;
    final @Nullable Acceleration acceleration;
    final @Nullable Plan plan;
    final Spend spend;
    final Set<Lie> lies;

    /**
     * The provider's next day begins so long after this was set, and one every 24 hours; {@code null}: at midnight.
     * Once set, only a reset goes back to midnight.
     */
    final @Nullable Duration newDayIn;

    /** What was set on the way here, even to what it was: it begins anew. */
    final Set<String> set;

    private Behaviour(
            @Nullable Overload overload,
            @Nullable StreamError streamError,
            @Nullable Acceleration acceleration,
            @Nullable Plan plan,
            Spend spend,
            Set<Lie> lies,
            @Nullable Duration newDayIn,
            Set<String> set) {
        this.overload = overload;
        this.streamError = streamError;
        this.acceleration = acceleration;
        this.plan = plan;
        this.spend = spend;
        this.lies = lies;
        this.newDayIn = newDayIn;
        this.set = set;
    }

    /**
     * The same, with one behaviour as the text says.
     *
     * @param name overload, stream-error, acceleration, plan, spend, lies or new-day-in
     * @param text {@code null}: off
     * @throws IllegalArgumentException if there is no such behaviour or the text cannot be read, in one line
     */
    public Behaviour with(String name, @Nullable String text) {
        return switch (name) {
            case "lies" ->
                new Behaviour(
                        overload,
                        streamError,
                        acceleration,
                        plan,
                        spend,
                        text == null ? Set.of() : Lie.parse(text),
                        newDayIn,
                        with(name));
            case "new-day-in" ->
                new Behaviour(
                        overload,
                        streamError,
                        acceleration,
                        plan,
                        spend,
                        lies,
                        text == null ? null : Settings.time(name, text),
                        with(name));
            default -> with(name, text == null ? null : Settings.parse(name, text));
        };
    }

    /** The same, with what a JSON object says. */
    Behaviour with(JsonNode json) {
        Behaviour changed = this;
        for (Map.Entry<String, JsonNode> member : json.properties()) {
            String name = member.getKey().replace('_', '-');
            JsonNode value = member.getValue();
            if (value.isObject()) {
                changed = changed.with(name, Settings.of(name, value));
            } else if (value.isNull() || value.isString()) {
                changed = changed.with(name, value.isNull() ? null : value.asString());
            } else {
                throw new IllegalArgumentException(name + " must be an object, a text or null");
            }
        }
        return changed;
    }

    private Behaviour with(String name, @Nullable Settings now) {
        return switch (name) {
            case "overload" ->
                new Behaviour(
                        read(now, Overload::of), streamError, acceleration, plan, spend, lies, newDayIn, with(name));
            case "stream-error" ->
                new Behaviour(
                        overload, read(now, StreamError::of), acceleration, plan, spend, lies, newDayIn, with(name));
            case "acceleration" ->
                new Behaviour(
                        overload, streamError, read(now, Acceleration::of), plan, spend, lies, newDayIn, with(name));
            case "plan" ->
                new Behaviour(
                        overload, streamError, acceleration, read(now, Plan::of), spend, lies, newDayIn, with(name));
            case "spend" -> {
                Spend read = read(now, Spend::of);
                yield new Behaviour(
                        overload,
                        streamError,
                        acceleration,
                        plan,
                        read == null ? Spend.DEFAULT : read,
                        lies,
                        newDayIn,
                        with(name));
            }
            default ->
                throw new IllegalArgumentException("unknown behaviour '" + name + "': known are overload, "
                        + "stream-error, acceleration, plan, spend, lies, new-day-in");
        };
    }

    private Set<String> with(String name) {
        Set<String> more = new HashSet<>(set);
        more.add(name);
        return more;
    }

    /** The same, as if it had always been so. */
    Behaviour settled() {
        return new Behaviour(overload, streamError, acceleration, plan, spend, lies, newDayIn, Set.of());
    }

    private static <T> @Nullable T read(@Nullable Settings settings, Function<Settings, T> how) {
        if (settings == null) {
            return null;
        }
        T part = how.apply(settings);
        settings.end();
        return part;
    }

    /** The names of those that are on. */
    List<String> on() {
        List<String> names = new ArrayList<>();
        add(names, "overload", overload != null);
        add(names, "stream-error", streamError != null);
        add(names, "acceleration", acceleration != null);
        add(names, "plan", plan != null);
        add(names, "spend", !spend.equals(Spend.DEFAULT));
        add(names, "lies", !lies.isEmpty());
        add(names, "new-day-in", newDayIn != null);
        return names;
    }

    private static void add(List<String> names, String name, boolean on) {
        if (on) {
            names.add(name);
        }
    }
}
