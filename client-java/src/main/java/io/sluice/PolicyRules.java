package io.sluice;

import io.sluice.LimitSpec.ModelWeights;
import io.sluice.Policy.Outage;
import java.math.BigDecimal;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads a whole policy: what each key may be, what it is where the document does not say, and what goes together. */
final class PolicyRules {
    private static final int MAX_CLASSES = 200;
    private static final int MAX_MODELS = 64;
    private static final int MAX_WAITERS = 100_000;
    private static final int MAX_WEIGHT = 1_000;
    private static final BigDecimal HEADROOM = new BigDecimal("0.9");
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final Duration HOUR = Duration.ofHours(1);

    private final Problems problems = new Problems();
    private final Problems warnings = new Problems();
    private List<ModelWeights> prices = List.of();

    private PolicyRules() {}

    static Policy policy(String text) {
        return new PolicyRules().read(text);
    }

    private Policy read(String text) {
        Node.Members written = PolicyReader.read(text, problems);
        if (written == null) {
            throw new InvalidPolicyException(problems.list());
        }
        Node.Members document = Presets.under(written, problems, warnings);
        Section root = new Section(document, problems);
        Policy.Spec spec = spec(root);
        LimitChecks.check(spec, document, problems, warnings);
        PriceRules.check(spec, prices, problems, warnings);
        warnOfUnreached(spec.classes(), document);
        if (problems.size() > 0) {
            throw new InvalidPolicyException(problems.list(), warnings.list());
        }
        return new Policy(spec, CanonicalJson.write(root.content()), warnings.list());
    }

    private Policy.Spec spec(Section root) {
        root.missing("project", "must be there");
        String project = root.text("project", Names::isProject, "must be a project id: [a-z0-9][a-z0-9._-]{0,62}");
        Provider provider = or(root.choice("provider", Provider.values(), Provider::label), Provider.GENERIC);
        String account = root.choice("account", new String[] {"api", "subscription"}, word -> word);
        String upstream = root.text("upstream", PolicyRules::isUpstream, "must be an http or https address");
        root.text("preset", preset -> true, "must be the name of a preset");
        BigDecimal headroom = or(root.decimal("headroom", LimitRules.HEADROOM), HEADROOM);
        Duration burst = or(root.duration("burst", Duration.ofMillis(1), HOUR), Duration.ofSeconds(5));
        Duration quantum = or(root.duration("quantum", Duration.ofMillis(1), HOUR), Duration.ofMinutes(1));
        Duration lease = or(root.duration("lease", SECOND, Duration.ofMinutes(15)), Duration.ofSeconds(30));
        int maxWaiters = 10_000;
        Duration maxWait = Duration.ofMinutes(10);
        Section queue = root.section("queue");
        if (queue != null) {
            maxWaiters = or(queue.whole("max_waiters", 0, MAX_WAITERS), maxWaiters);
            maxWait = or(queue.duration("max_wait", Duration.ZERO, Duration.ofDays(7)), maxWait);
            queue.done();
        }
        Outage outage = or(root.choice("outage", Outage.values(), Outage::label), Outage.LOCAL_SHARE);
        String mode = root.choice("mode", new String[] {"enforce", "shadow"}, word -> word);

        ScopeRules rules = new ScopeRules(new LimitRules(provider, problems), problems);
        List<ModelClass> classes = classes(root, provider, rules);
        rules.project(root);
        Set<String> workspaces = rules.workspaces(root);
        Map<String, Integer> teams = rules.teams(root);
        rules.each(root);
        List<ScopeSpec> scopes = rules.scopes(root.node());
        Map<Priority, Integer> priorities = priorities(root);
        Ramp ramp = ramp(root);
        prices = PriceRules.read(root, problems);
        root.done();
        return new Policy.Spec(
                or(project, ""),
                provider,
                "subscription".equals(account),
                upstream == null ? provider.upstream() : upstream,
                headroom,
                burst,
                quantum,
                lease,
                maxWaiters,
                maxWait,
                outage,
                "shadow".equals(mode),
                classes,
                scopes.stream().map(scope -> scope.priced(prices)).toList(),
                workspaces,
                teams,
                priorities,
                ramp,
                prices);
    }

    private List<ModelClass> classes(Section root, Provider provider, ScopeRules rules) {
        List<ModelClass> classes = new ArrayList<>();
        for (Section section : root.sections("classes", MAX_CLASSES)) {
            String name = section.name();
            List<Glob> models = section.globs("models", MAX_MODELS);
            section.missing("models", "must be there: the models of the class");
            if (section.get("models") instanceof Node.Items items
                    && items.values().isEmpty()) {
                problems.add(items, "must name at least one model");
            }
            When when = when(section);
            rules.modelClass(section, name);
            OutputReserve reserve = or(
                    section.choice("output_reserve", OutputReserve.values(), OutputReserve::label),
                    provider.outputReserve());
            int maxOutput =
                    or(section.whole("max_output", 1, (int) Call.MAX_TOKENS), (int) ModelClass.DEFAULT_MAX_OUTPUT);
            section.done();
            classes.add(new ModelClass(or(name, ""), models, when, reserve, maxOutput));
        }
        return classes;
    }

    private When when(Section modelClass) {
        Section when = modelClass.section("when");
        if (when == null) {
            return When.ALWAYS;
        }
        String shape = "must be a word of the provider's, such as standard";
        When conditions = new When(
                when.text("service_tier", Names::isName, shape),
                when.text("speed", Names::isName, shape),
                when.text("endpoint", Names::isName, shape),
                when.whole("context_over", 0, (int) Call.MAX_TOKENS));
        when.done();
        return conditions;
    }

    private Map<Priority, Integer> priorities(Section root) {
        Map<Priority, Integer> weights =
                new EnumMap<>(Map.of(Priority.INTERACTIVE, 16, Priority.NORMAL, 4, Priority.BATCH, 1));
        Section section = root.section("priorities");
        if (section != null) {
            for (Priority priority : Priority.values()) {
                Integer weight = section.whole(priority.label(), 1, MAX_WEIGHT);
                if (weight != null) {
                    weights.put(priority, weight);
                }
            }
            section.done();
        }
        return weights;
    }

    private @Nullable Ramp ramp(Section root) {
        Section section = root.section("ramp");
        if (section == null) {
            return null;
        }
        BigDecimal from = or(section.decimal("from", LimitRules.HEADROOM), Ramp.USUAL_FROM);
        // Content without members would be left out; this is no policy without a ramp.
        section.put("from", from);
        Ramp ramp = new Ramp(
                from,
                or(section.duration("double_every", SECOND, HOUR), Ramp.USUAL_DOUBLING),
                section.whole("agents_per_minute", 1, 1_000_000));
        section.done();
        return ramp;
    }

    /** A class none of whose models can reach it, because earlier ones match first, is hardly meant. */
    private void warnOfUnreached(List<ModelClass> classes, Node.Members document) {
        if (classes.isEmpty()) {
            Node at = document.values().getOrDefault("classes", document);
            warnings.add(at.path(), at.line(), "no class: every call will be refused as unknown_model", "");
        }
        if (!(document.values().get("classes") instanceof Node.Items items)) {
            return;
        }
        for (int i = 0; i < classes.size() && classes.size() == items.values().size(); i++) {
            ModelClass later = classes.get(i);
            List<ModelClass> earlier = classes.subList(0, i);
            boolean covered = !later.models().isEmpty()
                    && later.models().stream()
                            .allMatch(glob -> earlier.stream().anyMatch(first -> first.covers(glob, later.when())));
            if (covered) {
                warnings.add(items.values().get(i), "is never used: earlier classes match all its models");
            }
        }
    }

    private static boolean isUpstream(String text) {
        try {
            URI uri = new URI(text);
            return ("https".equals(uri.getScheme()) || "http".equals(uri.getScheme()))
                    && uri.getHost() != null
                    && uri.getUserInfo() == null
                    && uri.getQuery() == null
                    && uri.getFragment() == null;
        } catch (URISyntaxException e) {
            return false;
        }
    }

    private static <T> T or(@Nullable T value, T otherwise) {
        return value == null ? otherwise : value;
    }
}
