package io.sluice;

import io.sluice.Counters.Labels;
import io.sluice.Counters.Waits;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The fields of a project's counters as {@link Counters}. A field that is none of ours is passed over: a newer client may know more. */
final class CountersReader {
    private final Map<Labels, Long> permits = new HashMap<>();
    private final Map<Labels, long[]> waits = new HashMap<>();
    private final Map<Labels, Long> sums = new HashMap<>();
    private final Map<Labels, Long> rejections = new HashMap<>();
    private final Map<Labels, Long> tokens = new HashMap<>();

    private CountersReader() {}

    /** @param classes in the order of {@link Records.Totals#expired} */
    static Counters read(Records.Totals totals, List<String> classes) {
        CountersReader reader = new CountersReader();
        totals.counters().forEach(reader::add);
        // Of a lease that ran out Redis alone knows for sure: its holder may be dead.
        for (int i = 0; i < classes.size(); i++) {
            long expired = totals.expired().get(i);
            if (expired > 0) {
                reader.permits.put(new Labels(classes.get(i), "expired"), expired);
            }
        }
        Map<Labels, Waits> histograms = new HashMap<>();
        reader.waits.forEach((labels, counts) -> {
            List<Long> parts = new ArrayList<>();
            Arrays.stream(counts).forEach(parts::add);
            histograms.put(labels, new Waits(List.copyOf(parts), reader.sums.getOrDefault(labels, 0L)));
        });
        return new Counters(
                Map.copyOf(reader.permits),
                Map.copyOf(histograms),
                Map.copyOf(reader.rejections),
                Map.copyOf(reader.tokens),
                totals.counters().getOrDefault(CountingNames.USAGE_MISSING, 0L),
                totals.counters().getOrDefault(CountingNames.LEASE_LOST, 0L),
                Map.copyOf(totals.rare()));
    }

    private void add(String field, long count) {
        String[] parts = field.split("\\|", -1);
        if (parts.length == 4 && parts[0].equals(CountingNames.WAITS)) {
            addWait(new Labels(parts[1], parts[2]), parts[3], count);
        } else if (parts.length == 3) {
            Labels labels = new Labels(parts[1], parts[2]);
            switch (parts[0]) {
                case CountingNames.PERMITS -> permits.put(labels, count);
                case CountingNames.REJECTIONS -> rejections.put(labels, count);
                case CountingNames.TOKENS -> tokens.put(labels, count);
                default -> {}
            }
        }
    }

    private void addWait(Labels labels, String part, long count) {
        if (part.equals(CountingNames.SUM)) {
            sums.put(labels, count);
        } else if (part.matches("\\d{1,2}") && Integer.parseInt(part) <= Counters.WAIT_BOUNDS_MS.size()) {
            waits.computeIfAbsent(labels, any -> new long[Counters.WAIT_BOUNDS_MS.size() + 1])[Integer.parseInt(part)] =
                    count;
        }
    }
}
