package io.sluice;

/** What a permit took, as the few bytes that its record in Redis keeps for us: five numbers with commas. */
final class Memo {
    private Memo() {}

    static String of(Permit.Reserved r) {
        return r.requests() + "," + r.input() + "," + r.cacheRead() + "," + r.cacheWrite() + "," + r.output();
    }

    /** @throws OutageException if it is not what {@link #of} writes */
    static Permit.Reserved read(String memo) {
        String[] parts = memo.split(",", -1);
        try {
            if (parts.length == 5) {
                return new Permit.Reserved(
                        Long.parseLong(parts[0]),
                        Long.parseLong(parts[1]),
                        Long.parseLong(parts[2]),
                        Long.parseLong(parts[3]),
                        Long.parseLong(parts[4]));
            }
        } catch (NumberFormatException e) {
            throw new OutageException("bad_reply", "a permit's memo makes no sense: " + memo, e);
        }
        throw new OutageException("bad_reply", "a permit's memo makes no sense: " + memo, null);
    }
}
