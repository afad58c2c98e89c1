package io.sluice;

import java.util.ArrayList;
import java.util.List;

/**
 * What the grammar has and this version does not enforce. A policy that asks for it is refused rather than half obeyed.
 * A line here goes when its feature comes.
 */
final class NotYet {
    /** Pointers into the document; {@code *} is every entry of a list. */
    private static final List<String> KEYS = List.of("/each/*/limits/agents");

    private NotYet() {}

    static void report(Node.Members document, Problems problems) {
        for (String pointer : KEYS) {
            for (Node node : find(document, pointer)) {
                problems.add(node, message(pointer.substring(pointer.lastIndexOf('/') + 1)));
            }
        }
    }

    private static String message(String what) {
        return what + " is not enforced by this version yet";
    }

    private static List<Node> find(Node root, String pointer) {
        List<Node> found = List.of(root);
        for (String part : pointer.substring(1).split("/", -1)) {
            List<Node> next = new ArrayList<>();
            for (Node node : found) {
                if (node instanceof Node.Items items && part.equals("*")) {
                    next.addAll(items.values());
                } else if (node instanceof Node.Members members) {
                    Node value = members.values().get(part);
                    if (value != null && !(value instanceof Node.Nothing)) {
                        next.add(value);
                    }
                }
            }
            found = next;
        }
        return found;
    }
}
