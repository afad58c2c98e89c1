package io.sluice.testbed.bench;

import java.time.Instant;
import java.util.List;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.ObjectMapper;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.json.JsonMapper;

/** How a run went, where, and which numbers were reached. */
public final class BenchReport implements Report {
    static final ObjectMapper JSON = JsonMapper.builder()
            .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
            .disable(MapperFeature.SORT_PROPERTIES_ALPHABETICALLY)
            .build();

    final Place place;
    final List<Series> measured;
    final List<Verdict> verdicts;

    BenchReport(Place place, List<Series> measured, List<Verdict> verdicts) {
        this.place = place;
        this.measured = List.copyOf(measured);
        this.verdicts = List.copyOf(verdicts);
    }

    @Override
    public boolean met() {
        return verdicts.stream().allMatch(Verdict::met);
    }

    @Override
    public String toTable() {
        return BenchTable.of(this);
    }

    @Override
    public String toJson() {
        return JSON.writeValueAsString(
                new Document(place, measured, verdicts.stream().map(Row::of).toList(), met()));
    }

    /** @param command as it was typed */
    record Place(String command, Instant date, String redis, String jdk, int cores, int rounds, double seconds) {}

    private record Document(Place run, List<Series> measured, List<Row> verdicts, boolean met) {}

    private record Row(String what, String over, int threads, String reach, Spread ratio, boolean met, String verdict) {
        static Row of(Verdict verdict) {
            Rule rule = verdict.rule();
            return new Row(
                    rule.what(),
                    rule.reference(),
                    rule.threads(),
                    rule.bound().toString(),
                    verdict.ratio(),
                    verdict.met(),
                    verdict.words());
        }
    }
}
