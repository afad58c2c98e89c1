package io.sluice;

import io.sluice.LimitSpec.Adaptive;
import io.sluice.LimitSpec.ModelWeights;
import io.sluice.LimitSpec.Window;
import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads the limits of one scope: a number each, or a mapping that says more. */
final class LimitRules {
    static final Section.Range HEADROOM = Section.Range.of("0.01", "1", 4);

    static final String AGENTS = "agents";

    private static final int MAX_LIMITS = 32;
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9_.-]{0,63}");
    private static final Map<String, Period> KNOWN_PERIODS = Map.of(
            "rpm", Period.MINUTE,
            "itpm", Period.MINUTE,
            "otpm", Period.MINUTE,
            "tpm", Period.MINUTE,
            "rpd", Period.DAY,
            "tpd", Period.DAY);
    private static final Set<String> DAYS = Set.of("rpd", "tpd");

    /** What limits of these names are, the provider's answers tell. */
    private static final List<String> FOUND = List.of("rpm", "itpm", "otpm", "tpm");

    private static final Set<String> IN_FLIGHT = Set.of("concurrency", AGENTS);
    private static final List<String> KNOWN =
            List.of("rpm", "itpm", "otpm", "tpm", "rpd", "tpd", "usd", "concurrency", AGENTS);
    private static final Section.Range AMOUNT = Section.Range.of("0", "1000000000000000", 6);
    private static final Section.Range START = Section.Range.of("0.000001", "1000000000000000", 6);
    private static final Section.Range COUNT = Section.Range.of("0", "1000000", 0);
    private static final Duration SHORTEST = Duration.ofMillis(1);
    private static final Duration DAY = Duration.ofDays(1);

    private final Provider provider;
    private final Problems problems;
    private final WeightRules weightRules;

    LimitRules(Provider provider, Problems problems) {
        this.provider = provider;
        this.problems = problems;
        this.weightRules = new WeightRules(problems);
    }

    /** The limits under {@code limits}, by name. One with a problem may be left out or incomplete. */
    List<LimitSpec> read(Section scope) {
        List<LimitSpec> limits = new ArrayList<>();
        Section section = scope.section("limits");
        if (section == null) {
            return limits;
        }
        if (section.keys().size() > MAX_LIMITS) {
            problems.add(section.node(), "must have at most " + MAX_LIMITS + " limits");
            return limits;
        }
        for (String name : section.keys()) {
            Node at = section.get(name);
            if (at == null) {
                continue;
            }
            if (!NAME.matcher(name).matches()) {
                problems.add(at, "a limit's name must be 1 to 64 letters, digits, '_', '.' or '-'");
            } else if (at instanceof Node.Members || at instanceof Node.Decimal) {
                read(name, at, section, limits);
            } else {
                String quoted = at instanceof Node.Text ? " without quotes" : "";
                problems.add(at, "must be a number" + quoted + ", or a mapping with an amount");
            }
        }
        return limits;
    }

    private void read(String name, Node at, Section scope, List<LimitSpec> limits) {
        // A number is short for {amount: number}, and is what {amount: number} is written back as.
        Node.Members members = at instanceof Node.Members mapping
                ? mapping
                : new Node.Members(at.path(), at.line(), Map.of("amount", at));
        Section section = new Section(members, problems);
        LimitSpec limit = IN_FLIGHT.contains(name) ? inFlight(name, at, section) : rate(name, at, section);
        if (limit != null) {
            limits.add(limit);
        }
        Object amount = section.content().get("amount");
        scope.put(name, section.content().size() == 1 && amount != null ? amount : section.content());
    }

    private LimitSpec inFlight(String name, Node at, Section section) {
        BigDecimal amount = section.decimal("amount", COUNT);
        String why = "does not go with " + name + ", which counts what is there now";
        refuse(
                section,
                why,
                "per",
                "window",
                "zone",
                "of",
                "weights",
                "weights_for",
                "burst",
                "headroom",
                "quantum",
                "adopt",
                "adaptive");
        requireAmount(section, section.get("adopt") != null || section.get("adaptive") != null);
        section.done();
        return new LimitSpec(
                name,
                amount,
                Window.IN_FLIGHT,
                null,
                null,
                false,
                WeightSpec.NONE,
                List.of(),
                null,
                null,
                null,
                false,
                null,
                at);
    }

    private @Nullable LimitSpec rate(String name, Node at, Section section) {
        BigDecimal amount = section.decimal("amount", AMOUNT);
        Period period = period(name, section);
        Window stated =
                section.choice("window", new Window[] {Window.REFILL, Window.CALENDAR, Window.ROLLING}, Window::label);
        ZoneId zone = zone(section);
        WeightSpec weights = weights(name, section);
        List<ModelWeights> weightsFor = weightRules.byModel(weights == null ? WeightSpec.NONE : weights, section);
        Duration burst = section.duration("burst", SHORTEST, DAY);
        BigDecimal headroom = section.decimal("headroom", HEADROOM);
        Duration quantum = section.duration("quantum", SHORTEST, DAY);
        boolean adopt = section.flag("adopt");
        Adaptive adaptive = adaptive(section);
        boolean isFound = adopt || section.get("adaptive") != null;
        requireAmount(section, isFound);
        section.done();
        if (period == null || weights == null) {
            return null;
        }
        boolean dayRefills = stated == null && provider.dayRefills() && DAYS.contains(name);
        Window window = dayRefills ? Window.REFILL : stated == null ? period.window() : stated;
        checkWindow(window, period, section);
        if (isFound) {
            checkFound(name, window, section);
        }
        boolean usd = name.equals("usd") || "usd".equals(section.content().get("of"));
        if (usd) {
            refuse(section, "does not go with of: usd, which counts by prices", "weights_for");
        }
        return new LimitSpec(
                name,
                adaptive != null ? adaptive.max() : amount == null && adopt ? LimitSpec.MOST_ADOPTED : amount,
                window,
                period.duration(),
                window != Window.CALENDAR ? null : zone == null ? provider.dayZone() : zone,
                usd,
                weights,
                weightsFor,
                burst == null && dayRefills ? DAY : burst,
                headroom == null && usd ? BigDecimal.ONE : headroom,
                quantum,
                adopt,
                adaptive,
                at);
    }

    private @Nullable Period period(String name, Section section) {
        Period known = KNOWN_PERIODS.get(name);
        Node node = section.get("per");
        if (node == null) {
            if (known == null
                    && (KNOWN.contains(name) || section.get("of") != null || section.get("weights") != null)) {
                section.missing("per", "must be there: " + Period.SHAPE);
            }
            return known;
        }
        Period period = node instanceof Node.Text text ? Period.of(text.value()) : null;
        if (period == null) {
            problems.add(node, "must be " + Period.SHAPE);
            return null;
        }
        section.put("per", period.text());
        if (known != null && !period.equals(known)) {
            problems.add(node, name + " is per " + known.text() + "; over another time it needs a name of its own");
        }
        return period;
    }

    private @Nullable ZoneId zone(Section section) {
        String id = section.text("zone", LimitRules::isZone, "must be a time zone such as UTC or America/Los_Angeles");
        return id == null ? null : ZoneId.of(id);
    }

    private @Nullable WeightSpec weights(String name, Section section) {
        WeightSpec known = provider.weights(name);
        if (known != null) {
            refuse(section, "is for limits of your own; what " + name + " counts is known", "of");
            return weightRules.changed(known, section);
        }
        if (name.equals("usd")) {
            refuse(section, "does not go with usd, which counts by prices", "of", "weights", "weights_for");
            return WeightSpec.NONE;
        }
        WeightSpec own = weightRules.own(section);
        if (own == null) {
            problems.add(
                    section.node().path(),
                    section.node().line(),
                    "is not a known limit" + Suggest.near(name, KNOWN)
                            + "; one of your own needs per, and weights or of: requests, tokens or usd",
                    name);
        }
        return own;
    }

    private @Nullable Adaptive adaptive(Section section) {
        Section adaptive = section.section("adaptive");
        if (adaptive == null) {
            return null;
        }
        BigDecimal start = adaptive.decimal("start", START);
        BigDecimal max = adaptive.decimal("max", START);
        adaptive.missing("start", "must be there: the amount to begin with");
        adaptive.done();
        if (start == null) {
            return null;
        }
        Adaptive found = new Adaptive(start, max == null ? start.multiply(Adaptive.USUAL_GROWTH) : max);
        if (start.compareTo(found.max()) > 0) {
            problems.add(adaptive.at("start"), "must be at most max");
        } else if (found.startPpm() < 10) {
            problems.add(adaptive.at("start"), "must be at least 1/100000 of max");
        }
        return found;
    }

    /** Amounts come from the provider's headers and rejections, which speak of these limits and of no others. */
    private void checkFound(String name, Window window, Section section) {
        if (!FOUND.contains(name)) {
            refuse(section, "goes with " + String.join(", ", FOUND) + " only", "adopt", "adaptive");
        } else if (window != Window.REFILL) {
            refuse(section, "goes with window: refill only", "adopt", "adaptive");
        }
        if (section.get("adaptive") != null) {
            refuse(section, "says the same as adaptive: give one of them", "adopt");
            refuse(section, "does not go with adaptive, which begins with start", "amount");
        }
    }

    private void requireAmount(Section section, boolean isFound) {
        if (!isFound) {
            section.missing("amount", "must be there: how much the limit allows");
        }
    }

    private void checkWindow(Window window, Period period, Section section) {
        if (window != Window.CALENDAR) {
            refuse(section, "goes with window: calendar only", "zone");
            if (period.duration() == null) {
                problems.add(section.at("window"), "a month has no fixed length: it goes with window: calendar only");
            }
        } else if (!period.isCalendar()) {
            problems.add(section.at("window"), "a calendar window needs per: minute, hour, day or month");
        }
        if (window != Window.REFILL) {
            refuse(section, "goes with window: refill only", "burst", "headroom", "quantum");
        } else if (period.duration() != null) {
            checkRefill(period.duration(), section);
        }
    }

    private void checkRefill(Duration period, Section section) {
        if (period.compareTo(Duration.ofHours(1)) > 0) {
            refuse(section, "goes with periods up to 1h only: longer ones are used in full", "headroom");
        }
        if (period.compareTo(DAY) > 0 && period.toMillis() % 1_000 != 0) {
            problems.add(section.at("per"), "must be in whole seconds above a day");
        }
        for (String key : List.of("burst", "quantum")) {
            Duration duration =
                    section.get(key) instanceof Node.Text text ? Durations.parse(text.value()) : Duration.ZERO;
            if (duration != null && duration.compareTo(period) > 0) {
                problems.add(section.at(key), "must be at most the limit's period");
            }
        }
    }

    private void refuse(Section section, String why, String... keys) {
        for (String key : keys) {
            Node node = section.get(key);
            if (node != null) {
                problems.add(node, key + " " + why);
            }
        }
    }

    private static boolean isZone(String id) {
        try {
            return Objects.requireNonNull(ZoneId.of(id)).getId().equals(id);
        } catch (DateTimeException e) {
            return false;
        }
    }
}
