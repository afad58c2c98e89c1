package io.sluice;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One document laid over another: what it says counts, what it does not say is taken from below. {@code null} takes away.
 *
 * <p>Classes are the same if they have the same name. Example: {@code classes: [{name: sonnet, limits: {rpm: 10}}]} over
 * a tier's classes changes that one number and nothing else. A class of its own is tried before those below, unless it
 * would take all calls of one of them: a class for {@code "*"} comes last.
 */
final class Overlay {
    private static final String CLASSES = "classes";
    private static final String LIMITS = "limits";

    private Overlay() {}

    static Node.Members of(Node.Members over, Node.Members under) {
        Node.Members merged = merge(over, under);
        if (over.values().get(CLASSES) instanceof Node.Items own
                && under.values().get(CLASSES) instanceof Node.Items theirs) {
            merged.values().put(CLASSES, new Node.Items(own.path(), own.line(), classes(own, theirs)));
        }
        return merged;
    }

    private static Node.Members merge(Node.Members over, Node.Members under) {
        Map<String, Node> values = new LinkedHashMap<>(under.values());
        over.values().forEach((key, value) -> {
            Node below = under.values().get(key);
            if (value instanceof Node.Members members && below instanceof Node.Members belowMembers) {
                value = key.equals(LIMITS) ? limits(members, belowMembers) : merge(members, belowMembers);
            }
            values.put(key, value);
        });
        return new Node.Members(over.path(), over.line(), values);
    }

    /** Limits by name. A number is short for a limit's amount, above as below. */
    private static Node.Members limits(Node.Members over, Node.Members under) {
        Map<String, Node> values = new LinkedHashMap<>(under.values());
        over.values().forEach((name, limit) -> {
            Node.Members below = limit(under.values().get(name));
            Node.Members own = limit(limit);
            values.put(name, below == null || own == null ? limit : limit(own, below));
        });
        return new Node.Members(over.path(), over.line(), values);
    }

    private static Node.Members limit(Node.Members over, Node.Members under) {
        Node.Members merged = merge(over, under);
        // Two ways to say how much: the one above counts.
        if (over.values().containsKey("adaptive")) {
            merged.values().keySet().removeAll(List.of("amount", "adopt"));
            over.values().forEach(merged.values()::put);
        } else if (over.values().containsKey("amount")) {
            merged.values().remove("adaptive");
        }
        return merged;
    }

    private static Node.@Nullable Members limit(@Nullable Node node) {
        if (node instanceof Node.Decimal amount) {
            Map<String, Node> values = new LinkedHashMap<>();
            values.put("amount", amount);
            return new Node.Members(amount.path(), amount.line(), values);
        }
        return node instanceof Node.Members members ? members : null;
    }

    private static List<Node> classes(Node.Items own, Node.Items under) {
        List<Node> first = new ArrayList<>();
        List<Node> last = new ArrayList<>();
        List<Node> merged = new ArrayList<>(under.values());
        for (Node item : own.values()) {
            int at = indexOf(name(item), merged);
            if (at >= 0 && merged.get(at) == under.values().get(at) && item instanceof Node.Members members) {
                merged.set(at, merge(members, (Node.Members) merged.get(at)));
            } else {
                (takesAllOfOne(item, under) ? last : first).add(item);
            }
        }
        first.addAll(merged);
        first.addAll(last);
        return first;
    }

    private static int indexOf(@Nullable String name, List<Node> classes) {
        for (int i = 0; i < classes.size(); i++) {
            if (name != null && name.equals(name(classes.get(i)))) {
                return i;
            }
        }
        return -1;
    }

    private static @Nullable String name(Node item) {
        return item instanceof Node.Members members && members.values().get("name") instanceof Node.Text text
                ? text.value()
                : null;
    }

    /** Whether its models are all of some class's below and more. */
    private static boolean takesAllOfOne(Node item, Node.Items under) {
        if (item instanceof Node.Members members && members.values().get("when") instanceof Node.Members) {
            return false;
        }
        return under.values().stream()
                .anyMatch(below -> models(below).stream()
                        .allMatch(theirs ->
                                models(item).stream().anyMatch(mine -> mine.covers(theirs) && !theirs.covers(mine))));
    }

    private static List<Glob> models(Node item) {
        List<Glob> models = new ArrayList<>();
        if (item instanceof Node.Members members && members.values().get("models") instanceof Node.Items items) {
            for (Node model : items.values()) {
                if (model instanceof Node.Text text && Glob.isValid(text.value())) {
                    models.add(new Glob(text.value()));
                }
            }
        }
        return models;
    }
}
