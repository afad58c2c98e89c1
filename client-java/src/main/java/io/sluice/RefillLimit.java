package io.sluice;

/**
 * One limit on what calls cost, in the whole numbers the scripts count with; all below 2^53.
 *
 * <p>Costs are in 1/{@link Weights#unit()} of the limit's amount. A level is finer still, so that one tick's refill is
 * a whole number: level {@code L} means {@code L / factor} of cost.
 *
 * <p>Example: 60 requests a minute at headroom 0.9 and a burst of 5 s is rate 54, factor 60,000,000, tick 1 µs: each
 * µs adds 54, each request takes 60,000,000, the bucket holds 270,000,000 (4.5 requests).
 *
 * <p>A limit by windows does not refill: its rate is 0, its factor and tick 1, and it holds a whole window's amount. Rate and
 * capacity 0 is closed.
 *
 * @param name the limit's name in the policy, unique in its scope
 * @param rate level units refilled each tick; 0 does not refill
 * @param factor level units one unit of cost takes
 * @param tickUs the length of a tick in µs: 1 up to a period of 1 h, 1,000 up to a day, else 1,000,000
 * @param capacity the fullest level, in level units: the refill of one burst, or a whole window
 * @param ceiling the largest cost that can ever be admitted
 * @param spanUs the time over which the provider counts, in µs; 0 for windows of the calendar
 * @param spanAmount the cost the provider admits over that time, without headroom: the gate for calls above the burst
 * @param minute the cost of one minute of the limit, at least 1: usage is booked up to this or 4 × the estimate
 * @param weights what a call costs
 * @param widthUs how finely what was admitted over the span is remembered, in µs; 0: it is not
 * @param calendar the place of its windows' calendar among the policy's, from 1; 0: it has none
 * @param startPpm the part of the numbers above that is in force at first, in millionths
 * @param finds whether that part changes, and by what
 */
public record RefillLimit(
        String name,
        long rate,
        long factor,
        long tickUs,
        long capacity,
        long ceiling,
        long spanUs,
        long spanAmount,
        long minute,
        Weights weights,
        long widthUs,
        int calendar,
        long startPpm,
        Finds finds) {
    /** {@link #startPpm} of a limit all of which is in force. */
    static final long WHOLE = 1_000_000;

    private static final int GATE_SLOTS = 12;

    /** How the amount in force is found. */
    public enum Finds {
        /** It is known. */
        NONE(0),
        /** From what the provider's limit header says. */
        ADOPT(1),
        /** By trying: more little by little, less when the provider rejects a call. */
        ADAPTIVE(2);

        private final int number;

        Finds(int number) {
            this.number = number;
        }

        /** What the scripts call it. */
        public int number() {
            return number;
        }
    }

    /**
     * One that refills and is in force in full. What was admitted is remembered only where a call can be larger than the
     * burst and still be admitted.
     */
    public RefillLimit(
            String name,
            long rate,
            long factor,
            long tickUs,
            long capacity,
            long ceiling,
            long spanUs,
            long spanAmount,
            long minute,
            Weights weights) {
        this(
                name,
                rate,
                factor,
                tickUs,
                capacity,
                ceiling,
                spanUs,
                spanAmount,
                minute,
                weights,
                capacity < ceiling * (double) factor ? gateWidth(spanUs) : 0,
                0,
                WHOLE,
                Finds.NONE);
    }

    /** Whether nothing ever passes. */
    boolean isClosed() {
        return rate == 0 && capacity == 0;
    }

    /** The length of one of the gate's slots: the span is at most twelve of them. */
    static long gateWidth(long spanUs) {
        return (spanUs + GATE_SLOTS - 1) / GATE_SLOTS;
    }

    /** The same of which only a part may be in force: what was admitted is remembered, or nobody could tell how much is used. */
    RefillLimit inForce(long ppm, Finds found) {
        long width = rate == 0 ? 0 : gateWidth(spanUs);
        return new RefillLimit(
                name,
                rate,
                factor,
                tickUs,
                capacity,
                ceiling,
                spanUs,
                spanAmount,
                minute,
                weights,
                width,
                calendar,
                ppm,
                found);
    }

    RefillLimit withWeights(Weights other) {
        return new RefillLimit(
                name,
                rate,
                factor,
                tickUs,
                capacity,
                ceiling,
                spanUs,
                spanAmount,
                minute,
                other,
                widthUs,
                calendar,
                startPpm,
                finds);
    }
}
