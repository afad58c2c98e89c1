package io.sluice.redis;

import io.sluice.Store.Found;
import io.sluice.Store.ScopeCost;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What {@code inspect} answers about one id, as a record. */
final class FoundReply {
    private static final Set<String> LIVE = Set.of("granted", "running", "expired");
    private static final int GONE = 6;
    private static final int COSTS_FROM = 11;

    private FoundReply() {}

    static Found read(@Nullable List<Object> reply) {
        Replies r = new Replies(Script.INSPECT, reply);
        if (r.code().equals("lost")) {
            return r.sized(2, new Found.Lost(r.text(1)));
        }
        if (!r.code().equals("call")) {
            throw r.bad();
        }
        return switch (r.text(1)) {
            case "none" -> r.sized(2, new Found.Nobody());
            case "waiter" -> r.sized(5, new Found.InLine(r.text(2), r.text(3)));
            case "permit" -> r.size() == GONE ? gone(r) : live(r);
            default -> throw r.bad();
        };
    }

    private static Found gone(Replies r) {
        return new Found.Gone(r.end(2), r.text(3), r.text(4), r.text(5));
    }

    private static Found live(Replies r) {
        if (!LIVE.contains(r.text(2)) || r.size() % 2 == 0) {
            throw r.bad();
        }
        List<ScopeCost> costs = new ArrayList<>();
        for (int i = COSTS_FROM; i < r.size(); i += 2) {
            Replies units = r.list(i + 1);
            List<Long> numbers = new ArrayList<>(units.size());
            for (int k = 0; k < units.size(); k++) {
                numbers.add(units.number(k));
            }
            costs.add(new ScopeCost(r.text(i), numbers));
        }
        return new Found.Live(
                r.text(2), r.text(3), r.text(4), r.text(5), r.text(7), r.number(8), r.number(9), r.text(10), costs);
    }
}
