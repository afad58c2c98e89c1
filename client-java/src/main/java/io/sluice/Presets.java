package io.sluice;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Policies to start from: the classes and limits of a provider's tiers, by name. Each is a file of its own beside this
 * class and says of when its figures are and whose. A document that names one is laid over it: {@link Overlay}.
 */
final class Presets {
    static final List<String> NAMES = List.of(
            "anthropic/start",
            "anthropic/build",
            "anthropic/scale",
            "anthropic/start-2026-08",
            "anthropic/build-2026-08",
            "anthropic/scale-2026-08",
            "openai/headers",
            "gemini/tier-1",
            "gemini/tier-2",
            "gemini/tier-3",
            "openrouter/free",
            "openrouter/free-credits",
            "spheron/starter",
            "spheron/growth");

    /** Keys of a preset that say what it is. */
    private static final Set<String> ABOUT = Set.of("date", "source");

    private static final String KEY = "preset";

    private Presets() {}

    /**
     * The document laid over the preset it names, or as it is if it names none. The result names no preset: what is
     * installed is the whole, so that it means the same to hosts whose presets are older or newer.
     */
    static Node.Members under(Node.Members document, Problems problems, Problems warnings) {
        if (!(document.values().get(KEY) instanceof Node.Text name)) {
            return document;
        }
        if (!NAMES.contains(name.value())) {
            problems.add(
                    name,
                    "is no preset" + Suggest.near(name.value(), NAMES) + "; there are " + String.join(", ", NAMES));
            return document;
        }
        Map<String, Node> preset = new LinkedHashMap<>(read(name).values());
        preset.keySet().removeAll(ABOUT);
        checkProvider(document, name, preset, problems);
        if (document.values().get("prices") instanceof Node.Members prices) {
            leaveOutUnpriced(name, document, prices, preset, warnings);
        } else {
            leaveOutMoney(name, preset, warnings);
        }
        Map<String, Node> own = new LinkedHashMap<>(document.values());
        own.remove(KEY);
        return Overlay.of(with(document, own), with(document, preset));
    }

    /** A preset as it is written, its paths below {@code /preset}. */
    static Node.Members read(Node.Text name) {
        Problems none = new Problems();
        Node.Members preset = PolicyReader.read(text(name.value()), none);
        none.refuseIfAny();
        return (Node.Members) moved(Objects.requireNonNull(preset), name);
    }

    private static String text(String name) {
        String file = "presets/" + name + ".yaml";
        try (InputStream in = Presets.class.getResourceAsStream(file)) {
            return new String(Objects.requireNonNull(in, file).readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What is wrong with a part of the preset is wrong where the document names it: there somebody can do something. */
    private static Node moved(Node node, Node.Text to) {
        String path = to.path() + node.path();
        if (node instanceof Node.Members members) {
            Map<String, Node> values = new LinkedHashMap<>();
            members.values().forEach((key, value) -> values.put(key, moved(value, to)));
            return new Node.Members(path, to.line(), values);
        }
        if (node instanceof Node.Items items) {
            return new Node.Items(
                    path,
                    to.line(),
                    items.values().stream().map(value -> moved(value, to)).toList());
        }
        if (node instanceof Node.Text text) {
            return new Node.Text(path, to.line(), text.value());
        }
        if (node instanceof Node.Decimal decimal) {
            return new Node.Decimal(path, to.line(), decimal.value(), decimal.shown());
        }
        return node instanceof Node.Flag flag ? new Node.Flag(path, to.line(), flag.value()) : node;
    }

    private static void checkProvider(
            Node.Members document, Node.Text name, Map<String, Node> preset, Problems problems) {
        String provider = text(preset.get("provider"));
        String stated = text(document.values().get("provider"));
        if (stated != null && !stated.equals(provider)) {
            problems.add(name, "is for provider " + provider + ", and the document says " + stated);
        }
    }

    private static @Nullable String text(@Nullable Node node) {
        return node instanceof Node.Text text ? text.value() : null;
    }

    /** A preset knows the money a tier may spend, and no prices: without the document's nobody could count it. */
    private static void leaveOutMoney(Node.Text name, Map<String, Node> preset, Problems warnings) {
        if (preset.get("limits") instanceof Node.Members limits) {
            Map<String, Node> counted = new LinkedHashMap<>(limits.values());
            counted.entrySet().removeIf(limit -> isMoney(limit.getKey(), limit.getValue()));
            if (counted.size() < limits.values().size()) {
                warnings.add(name, "its limits in money are left out, because the document states no prices");
                preset.put("limits", with(limits, counted));
            }
        }
    }

    /**
     * A limit in money needs a price for every class, and who prices the models in use means those: the preset's other classes would
     * make the document invalid for models that nobody calls.
     */
    private static void leaveOutUnpriced(
            Node.Text name, Node.Members document, Node.Members prices, Map<String, Node> preset, Problems warnings) {
        if (!hasMoney(document.values().get("limits")) && !hasMoney(preset.get("limits"))) {
            return;
        }
        List<Glob> priced = prices.values().keySet().stream()
                .filter(Glob::isValid)
                .map(Glob::new)
                .toList();
        Set<String> own =
                new HashSet<>(classes(document.values().get("classes")).keySet());
        Map<String, Node.Members> known = classes(preset.get("classes"));
        List<String> unpriced = known.entrySet().stream()
                .filter(one -> !own.contains(one.getKey()) && !arePriced(one.getValue(), priced))
                .map(Map.Entry::getKey)
                .toList();
        if (!unpriced.isEmpty() && preset.get("classes") instanceof Node.Items items) {
            known.keySet().removeAll(unpriced);
            preset.put("classes", new Node.Items(items.path(), items.line(), List.copyOf(known.values())));
            warnings.add(
                    name,
                    "its classes " + String.join(", ", unpriced)
                            + " are left out, because there is a limit in money and the document states no prices for their models");
        }
    }

    private static boolean hasMoney(@Nullable Node limits) {
        return limits instanceof Node.Members members
                && members.values().entrySet().stream().anyMatch(limit -> isMoney(limit.getKey(), limit.getValue()));
    }

    /** By name, in their order. */
    private static Map<String, Node.Members> classes(@Nullable Node classes) {
        Map<String, Node.Members> named = new LinkedHashMap<>();
        if (classes instanceof Node.Items items) {
            for (Node item : items.values()) {
                String name = item instanceof Node.Members members
                        ? text(members.values().get("name"))
                        : null;
                if (name != null) {
                    named.put(name, (Node.Members) item);
                }
            }
        }
        return named;
    }

    private static boolean arePriced(Node.Members modelClass, List<Glob> priced) {
        return modelClass.values().get("models") instanceof Node.Items models
                && models.values().stream()
                        .map(model -> new Glob(Objects.requireNonNull(text(model))))
                        .allMatch(model -> priced.stream().anyMatch(price -> price.overlaps(model)));
    }

    private static boolean isMoney(String limit, Node node) {
        return limit.equals("usd")
                || (node instanceof Node.Members members
                        && "usd".equals(text(members.values().get("of"))));
    }

    private static Node.Members with(Node.Members at, Map<String, Node> values) {
        return new Node.Members(at.path(), at.line(), values);
    }
}
