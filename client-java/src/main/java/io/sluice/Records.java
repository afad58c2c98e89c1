package io.sluice;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * What the store keeps besides what decides: what hosts told of what they did, versions, which projects there are. The other half of the
 * seam that {@link Store} is.
 *
 * <p>Not for users. Each answer is a record, and a reply that is none is an {@link OutageException}.
 */
public interface Records {

    // ---- how a project stands

    /** The scopes of these names, at most 1,000, as far as they are there. */
    CompletionStage<Standing> scopes(String project, List<String> names);

    /**
     * @param hosts that beat in the last minute
     * @param due instants that are over and that nobody has attended to, such as ends of leases: the rest is as it was before them
     */
    record Standing(String stamp, long nowUs, String mode, long waiting, long hosts, long due, List<Scope> scopes) {}

    /** @param slots {@link ScopeLimits#UNLIMITED} where there is no bound */
    record Scope(String name, long slots, long used, List<Level> limits) {}

    /**
     * @param level and {@code capacity} in 1/{@code unit} of the limit's amount
     * @param resetUs until it is full if nothing more is taken; -1: never
     */
    record Level(String limit, long level, long capacity, long unit, long resetUs) {}

    /** Some of those that wait. */
    CompletionStage<Page<Waits>> waiting(String project, String cursor);

    /**
     * @param sinceUs when it joined the line, by Redis's clock
     * @param arrival orders those of a flow
     */
    record Waits(
            String id,
            String host,
            String modelClass,
            String flow,
            String agent,
            long sinceUs,
            Store.Queued why,
            long arrival) {}

    /** Some of the permits that hold slots. */
    CompletionStage<Page<Runs>> running(String project, String cursor);

    record Runs(String agent, String flow, String modelClass, long grantedUs) {}

    /** @param next the cursor of the next one; {@link #START}: there is none */
    record Page<T>(String next, List<T> all) {
        public static final String START = "0";
    }

    CompletionStage<List<Held>> holds(String project);

    /**
     * @param endUs {@link Store#UNTIL_RELEASED} for until then
     * @param opened whether it lets calls in again
     */
    record Held(String scope, long endUs, boolean opened, String kind, boolean retryable, String note, long sinceUs) {}

    CompletionStage<List<Said>> provider(String project);

    /**
     * What the provider said of a limit last; -1 of what it did not.
     *
     * @param num its amount is {@code num / den} of the policy's; 0 and 0 if it did not say
     */
    record Said(String scope, String limit, long left, long num, long den, long resetAtUs, long seenUs) {}

    // ---- versions

    /** The newest first. */
    CompletionStage<List<Kept>> versions(String project);

    /** @param note who, as JSON */
    record Kept(long version, String note, long atUs, String digest) {}

    /** The policy as text; empty if that version is not kept. */
    CompletionStage<Optional<String>> version(String project, long version);

    // ---- which projects there are

    CompletionStage<Map<String, Long>> projects();

    /** Fails where the store answers and takes no writes. Nothing is written. */
    CompletionStage<Void> writable();

    /** A project is there, in that version. */
    CompletionStage<Void> present(String project, long version);

    /** Whether a project was removed, as far as the index says and this user may read it. */
    CompletionStage<Boolean> wasRemoved(String project);

    /**
     * Removes a project if nothing of it runs, and then from the index. Empty: it is gone; else how many permits hold slots.
     *
     * @param expected the version that must be in force; {@code null}: any
     * @param epoch of the stamp that is meant; {@code null}: whichever is there
     * @throws AdminException {@code VERSION_MISMATCH}
     * @throws OutageException {@code no_project} if there is another of that name by now
     */
    CompletionStage<OptionalLong> remove(String project, @Nullable Long expected, @Nullable String epoch);

    // ---- what was told

    /** Adds what this host did, once. */
    CompletionStage<Heard> tally(Tally tally);

    /** What a tally was answered with. */
    enum Heard {
        /** It counts, or did before. */
        YES,
        /** There is no such project, or it is damaged. */
        LOST
    }

    /**
     * What one host did since it told last.
     *
     * @param teller this life of the host
     * @param seq from 1, the same for as long as it is not answered
     * @param counters by field, as {@code lua/README.md} lists them; at most {@link #MOST_COUNTERS}
     * @param rows at most {@link #MOST_ROWS}
     * @param events at most {@link #MOST_EVENTS}
     */
    record Tally(
            String project,
            String teller,
            long seq,
            Map<String, Long> counters,
            List<Row> rows,
            List<Happened> events) {
        public static final int MOST_COUNTERS = 1_000;
        public static final int MOST_ROWS = 400;
        public static final int MOST_EVENTS = 200;
    }

    /**
     * Who used what.
     *
     * @param kind {@code t}, {@code a}, {@code m}, {@code r} or {@code k}: team, agent, model, run or kind of rejection
     * @param team of an agent; else empty
     */
    record Row(String kind, String name, String team, Amounts amounts) {}

    /** The numbers of {@link Admin.Used}. */
    record Amounts(
            long requests,
            long input,
            long cacheRead,
            long cacheWrite,
            long output,
            long microUsd,
            long waitMs,
            long rejections) {}

    /** @param data a JSON object of at most 1,024 bytes */
    record Happened(String type, String data) {}

    /** @param classes whose leases that ran out are asked for */
    CompletionStage<Totals> totals(String project, List<String> classes);

    /** @param expired by class, in the order asked for */
    record Totals(Map<String, Long> counters, Map<String, Long> rare, List<Long> expired) {}

    /**
     * The rows of one hour or day.
     *
     * @param step {@code h} or {@code d}
     * @param number whole hours or days since 1970
     */
    CompletionStage<List<UsedRow>> usage(String project, String step, long number, String kind);

    /** @param activeUs for how long something was told of it, in the sense of {@link Admin.Used#active} */
    record UsedRow(String name, long lastUs, String team, Amounts amounts, long activeUs) {}

    /** @param after an id, {@code $} for the newest alone, {@code null} from the oldest */
    CompletionStage<List<Event>> events(String project, @Nullable String after, int most);

    record Event(String id, String type, String data) {}
}
