package io.sluice.redis;

import static io.sluice.redis.Scripted.MIN;
import static io.sluice.redis.Scripted.modelClass;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lettuce.core.ScriptOutputType;
import io.sluice.Records.Amounts;
import io.sluice.Records.Happened;
import io.sluice.Records.Row;
import io.sluice.Records.Tally;
import io.sluice.Records.UsedRow;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What hosts tell is added up once, in bounds. */
@WithRedis
class TallyIT {
    private static final long HOUR = 60 * MIN;
    private static final long DAY = 24 * HOUR;
    private static final long NOON = 20_000 * DAY + 12 * HOUR;
    private static final Amounts ONE = new Amounts(1, 2, 3, 4, 5, 6, 7, 8);

    private final RedisServer server;
    private Scripted scripts;

    TallyIT(RedisServer server) {
        this.server = server;
    }

    @BeforeEach
    void project() {
        scripts = new Scripted(server);
        scripts.install(NOON, modelClass(1));
    }

    @AfterEach
    void close() {
        scripts.redis.keys("{" + scripts.project + "}*").forEach(scripts.redis::del);
        scripts.close();
    }

    private List<Object> tally(long now, List<String> arguments, Keys keys) {
        List<String> at = new ArrayList<>(arguments);
        at.set(0, Long.toString(now));
        return scripts.redis.eval(Script.TALLY.text(), ScriptOutputType.MULTI, keys.all(), at.toArray(String[]::new));
    }

    private String tell(long now, String teller, long seq, Map<String, Long> counters, List<Row> rows) {
        Tally tally = new Tally(scripts.project, teller, seq, counters, rows, List.of());
        return (String)
                tally(now, TallyArguments.of(tally, now / HOUR, now / DAY), scripts.keys.tally(now / HOUR, now / DAY))
                        .get(0);
    }

    private Map<String, Long> counters() {
        return RecordsReply.totals(told(scripts.keys.told(), "counters")).counters();
    }

    private List<UsedRow> rows(String step, long number, String kind) {
        return RecordsReply.usage(told(scripts.keys.ofUsage(step, number), "usage", kind));
    }

    private List<Object> told(Keys keys, String... arguments) {
        return scripts.redis.eval(Script.TOLD.text(), ScriptOutputType.MULTI, keys.all(), arguments);
    }

    @Test
    void whatIsToldTwiceCountsOnce() {
        List<Row> row = List.of(new Row("a", "ann", "red", ONE));
        assertThat(tell(NOON, "h", 1, Map.of("p|m|granted", 2L), row)).isEqualTo("told");
        assertThat(tell(NOON, "h", 1, Map.of("p|m|granted", 2L), row)).isEqualTo("known");
        assertThat(tell(NOON + MIN, "h", 2, Map.of("p|m|granted", 3L), row)).isEqualTo("told");
        assertThat(tell(NOON + MIN, "h", 1, Map.of("p|m|granted", 2L), row))
                .as("a late copy")
                .isEqualTo("known");
        assertThat(tell(NOON, "another-life", 1, Map.of("p|m|granted", 4L), List.of()))
                .isEqualTo("told");
        assertThat(counters()).containsExactly(Map.entry("p|m|granted", 9L));
        assertThat(rows("h", NOON / HOUR, "a"))
                .containsExactly(new UsedRow("ann", NOON + MIN, "red", new Amounts(2, 4, 6, 8, 10, 12, 14, 16), MIN));
        assertThat(rows("d", NOON / DAY, "a")).isEqualTo(rows("h", NOON / HOUR, "a"));
        assertThat(rows("h", NOON / HOUR, "t")).isEmpty();
    }

    /** First told, again 10 s, 4 min and 5 min later each, then after 20 min, of which one counts. */
    @Test
    void aNameIsActiveWhileItIsHeardOf() {
        long at = NOON;
        long seq = 0;
        for (long pause : List.of(0L, MIN / 6, 4 * MIN, 5 * MIN, 20 * MIN)) {
            at += pause;
            assertThat(tell(at, "h", ++seq, Map.of(), List.of(new Row("a", "ann", "red", ONE))))
                    .isEqualTo("told");
        }
        assertThat(rows("h", NOON / HOUR, "a"))
                .extracting(UsedRow::activeUs)
                .containsExactly(MIN / 6 + 4 * MIN + 5 * MIN + MIN);
    }

    @Test
    void anHourThatIsOverIsNotAddedTo() {
        Tally tally = new Tally(scripts.project, "h", 1, Map.of("p|m|granted", 1L), List.of(), List.of());
        List<String> arguments = TallyArguments.of(tally, NOON / HOUR - 1, NOON / DAY);
        assertThat(tally(NOON, arguments, scripts.keys.tally(NOON / HOUR - 1, NOON / DAY)))
                .containsExactly("hour", NOON);
        assertThat(counters()).isEmpty();
        assertThat(tell(NOON, "h", 1, Map.of("p|m|granted", 1L), List.of())).isEqualTo("told");
    }

    @Test
    void hoursAndDaysHaveAnEnd() {
        tell(NOON, "h", 1, Map.of(), List.of(new Row("t", "red", "", ONE)));
        String[] keys = scripts.keys.tally(NOON / HOUR, NOON / DAY).all();
        assertThat(scripts.redis.ttl(keys[2])).isBetween(35 * 86_400L - 60, 35 * 86_400L);
        assertThat(scripts.redis.ttl(keys[3])).isBetween(400 * 86_400L - 60, 400 * 86_400L);
    }

    @ParameterizedTest
    @CsvSource({"t, 1000", "a, 1000", "r, 1000", "m, 256", "k, 32"})
    void namesBeyondTheBoundAreTogether(String kind, int bound) {
        int names = bound + 50;
        for (int from = 0; from < names; from += Tally.MOST_ROWS) {
            List<Row> rows = IntStream.range(from, Math.min(names, from + Tally.MOST_ROWS))
                    .mapToObj(i -> new Row(kind, "name-" + i, "", ONE))
                    .toList();
            assertThat(tell(NOON, "h", 1 + from, Map.of(), rows)).isEqualTo("told");
        }
        List<UsedRow> kept = rows("h", NOON / HOUR, kind);
        assertThat(kept).hasSize(bound + 1);
        assertThat(kept.stream().mapToLong(row -> row.amounts().requests()).sum())
                .as("no call is lost")
                .isEqualTo(names);
        assertThat(kept)
                .filteredOn(row -> row.name().equals("other"))
                .singleElement()
                .satisfies(other -> assertThat(other.amounts().requests()).isEqualTo(50));
    }

    @Test
    void thereIsABoundOnCounters() {
        int fields = 20_500;
        for (int from = 0; from < fields; from += 1_000) {
            Map<String, Long> some = new HashMap<>();
            IntStream.range(from, Math.min(fields, from + 1_000)).forEach(i -> some.put("p|class-" + i + "|x", 1L));
            tell(NOON, "h", 1 + from, some, List.of());
        }
        assertThat(counters().size()).isBetween(18_000, 20_000);
        assertThat(tell(NOON, "h", 30_000, Map.of("p|class-1|x", 1L), List.of()))
                .isEqualTo("told");
        assertThat(counters()).containsEntry("p|class-1|x", 2L);
    }

    /** A thousand short-lived processes an hour leave no more than their hour. */
    @Test
    void tellersAreForgottenAnHourAfterTheirLastWord() {
        IntStream.range(0, 300).forEach(i -> tell(NOON, "old-" + i, 1, Map.of("p|m|granted", 1L), List.of()));
        long later = NOON + HOUR + MIN;
        IntStream.range(0, 40).forEach(i -> tell(later, "new-" + i, 1, Map.of("p|m|granted", 1L), List.of()));
        assertThat(scripts.redis.hkeys(scripts.keys.told().all()[1]))
                .filteredOn(field -> field.startsWith(">old"))
                .isEmpty();
        assertThat(counters()).containsEntry("p|m|granted", 340L);
    }

    @Test
    void eventsAreAboutTheLastThousand() {
        for (int k = 1; k <= 12; k++) {
            List<Happened> events = IntStream.range(0, Tally.MOST_EVENTS)
                    .mapToObj(i -> new Happened("permit", "{\"i\":" + i + "}"))
                    .toList();
            Tally tally = new Tally(scripts.project, "h", k, Map.of(), List.of(), events);
            tally(NOON, TallyArguments.of(tally, NOON / HOUR, NOON / DAY), scripts.keys.tally(NOON / HOUR, NOON / DAY));
        }
        assertThat(scripts.redis.xlen(scripts.keys.told().all()[2])).isBetween(1_000L, 1_200L);
        var first = RecordsReply.events(told(scripts.keys.told(), "events", "", "1000"));
        assertThat(first).hasSize(1_000);
        assertThat(RecordsReply.events(told(scripts.keys.told(), "events", "0-1", "1000")))
                .as("an id that is gone resumes at the oldest")
                .isEqualTo(first);
        assertThat(RecordsReply.events(told(scripts.keys.told(), "events", "$", "1")))
                .hasSize(1);
    }

    /** Nobody else sees them: the host is dead. */
    @Test
    void leasesThatRanOutAreCountedByRedis() {
        scripts.acquire(NOON, "gone", Scripted.costs(Map.of()));
        scripts.beat(NOON + 16 * MIN, "another");
        tell(NOON + 16 * MIN, "h", 1, Map.of("p|m|granted", 1L), List.of());
        assertThat(RecordsReply.totals(told(scripts.keys.told(), "counters", "m", "other")))
                .satisfies(totals -> assertThat(totals.expired()).containsExactly(1L, 0L));
        assertThat(RecordsReply.events(told(scripts.keys.told(), "events", "", "10")))
                .singleElement()
                .satisfies(event -> {
                    assertThat(event.type()).isEqualTo("lost");
                    assertThat(event.data()).isEqualTo("{\"leases_ran_out\":1}");
                });
        tell(NOON + 17 * MIN, "h", 2, Map.of("p|m|granted", 1L), List.of());
        assertThat(scripts.redis.xlen(scripts.keys.told().all()[2]))
                .as("told once")
                .isEqualTo(1);
    }

    @Test
    void aProjectThatIsNotThereGetsNoKeys() {
        scripts.redis.del(scripts.keys.all());
        assertThat(tell(NOON, "h", 1, Map.of("p|m|granted", 1L), List.of(new Row("t", "x", "", ONE))))
                .isEqualTo("lost");
        assertThat(scripts.redis.keys("{" + scripts.project + "}*")).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "teller, 1, ''", "seq, 2, 0", "seq, 2, 1.5", "seq, 2, nan", "hour, 3, x", "day, 4, -1", "counters, 5, 1001",
        "rows, 6, 401", "events, 7, 201", "count, 7, 2", "counter, 8, x", "add, 9, -1", "add, 9, nan", "kind, 10, x",
        "name, 11, ''", "number, 13, -1", "number, 20, 1e16", "type, 21, BAD", "type, 21, ''",
    })
    void anArgumentOutOfItsRangeIsNamedAndNothingIsWritten(String named, int at, String value) {
        Tally tally = new Tally(
                scripts.project,
                "h",
                1,
                Map.of("p|m|granted", 1L),
                List.of(new Row("a", "ann", "red", ONE)),
                List.of(new Happened("permit", "{}")));
        List<String> arguments = new ArrayList<>(TallyArguments.of(tally, NOON / HOUR, NOON / DAY));
        arguments.set(at, value);
        assertThatThrownBy(() -> tally(NOON, arguments, scripts.keys.tally(NOON / HOUR, NOON / DAY)))
                .hasMessageContaining("BADARG " + named);
        assertThat(scripts.redis.exists(
                        scripts.keys.tally(NOON / HOUR, NOON / DAY).all()))
                .as("levels alone")
                .isEqualTo(1);
    }

    /** Tellers that repeat, reorder and restart: whatever they meant is what there is. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void theSumIsWhatWasMeant(long seed) {
        Random random = new Random(seed);
        Map<String, Long> meant = new HashMap<>();
        Map<Integer, Long> seqs = new HashMap<>();
        Map<Integer, Integer> lives = new HashMap<>();
        long requests = 0;
        long now = NOON;
        for (int step = 0; step < 400; step++) {
            int host = random.nextInt(4);
            now += random.nextLong(20 * Scripted.S);
            if (random.nextInt(40) == 0) {
                lives.merge(host, 1, Integer::sum);
                seqs.remove(host);
            }
            String teller = "h" + host + "-" + lives.getOrDefault(host, 0);
            long seq = seqs.merge(host, 1L, Long::sum);
            String field = "p|m|" + (char) ('a' + random.nextInt(3));
            long add = random.nextLong(1L << 40);
            meant.merge(field, add, Long::sum);
            requests++;
            List<Row> row = List.of(new Row("m", "model-" + random.nextInt(5), "", ONE));
            for (int times = 1 + random.nextInt(3); times > 0; times--) {
                tell(now, teller, seq, Map.of(field, add), row);
            }
        }
        assertThat(counters()).as("seed " + seed).isEqualTo(meant);
        long kept = 0;
        for (long hour = NOON / HOUR; hour <= now / HOUR; hour++) {
            kept += rows("h", hour, "m").stream()
                    .mapToLong(r -> r.amounts().requests())
                    .sum();
        }
        assertThat(kept).as("seed " + seed).isEqualTo(requests);
    }
}
