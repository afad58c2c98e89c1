package io.sluice.testbed.bench;

import java.util.List;
import java.util.Locale;

/** How a run of {@code bench server} went, where, and which numbers were reached. */
public final class ServerReport implements Report {
    private final BenchReport.Place place;
    private final List<Reached> reached;

    ServerReport(BenchReport.Place place, List<Reached> reached) {
        this.place = place;
        this.reached = List.copyOf(reached);
    }

    @Override
    public boolean met() {
        return reached.stream().allMatch(Reached::met);
    }

    @Override
    public String toTable() {
        String where = String.format(
                Locale.ROOT,
                "`%s`, %s, Redis %s, JDK %s, %d cores shared by client, server and Redis; %d rounds, median (min..max)",
                place.command(),
                place.date(),
                place.redis(),
                place.jdk(),
                place.cores(),
                place.rounds());
        return where + "\n\n" + BenchTable.of(reached);
    }

    @Override
    public String toJson() {
        return BenchReport.JSON.writeValueAsString(
                new Document(place, reached.stream().map(Reached::row).toList(), met()));
    }

    private record Document(BenchReport.Place run, List<Reached.Row> reached, boolean met) {}
}
