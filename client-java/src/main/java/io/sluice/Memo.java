package io.sluice;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a permit took, as the few bytes that its record in Redis keeps for us: five numbers with commas. Where another process may
 * have to end it, what its call was follows, so far as that matters then.
 */
final class Memo {
    private static final int NUMBERS = 5;
    private static final int PARTS = NUMBERS + 9;

    private Memo() {}

    static String of(Permit.Reserved r) {
        return r.requests() + "," + r.input() + "," + r.cacheRead() + "," + r.cacheWrite() + "," + r.output();
    }

    /** With the call. No name has a comma, and the model, which may, stands last. */
    static String of(Permit.Reserved r, Call call) {
        return String.join(
                ",",
                of(r),
                Objects.toString(call.maxOutputTokens, ""),
                Objects.toString(call.inputBytes, ""),
                Objects.toString(call.team, ""),
                Objects.toString(call.workspace, ""),
                Objects.toString(call.run, ""),
                Objects.toString(call.serviceTier, ""),
                Objects.toString(call.speed, ""),
                Objects.toString(call.endpoint, ""),
                call.model);
    }

    /** @throws OutageException if it is not what {@link #of} writes */
    static Permit.Reserved read(String memo) {
        String[] parts = memo.split(",", PARTS);
        try {
            if (parts.length == NUMBERS || parts.length == PARTS) {
                return new Permit.Reserved(
                        Long.parseLong(parts[0]),
                        Long.parseLong(parts[1]),
                        Long.parseLong(parts[2]),
                        Long.parseLong(parts[3]),
                        Long.parseLong(parts[4]));
            }
        } catch (NumberFormatException e) {
            throw nonsense(memo, e);
        }
        throw nonsense(memo, null);
    }

    /**
     * The call it was given for; {@code null} if it does not say.
     *
     * @param agent the worker, or {@code -}
     */
    static @Nullable Call call(String memo, String agent) {
        String[] parts = memo.split(",", PARTS);
        if (parts.length != PARTS) {
            return null;
        }
        Permit.Reserved took = read(memo);
        try {
            Call call = Call.of(parts[13])
                    .inputTokens(took.input())
                    .cacheReadTokens(took.cacheRead())
                    .cacheWriteTokens(took.cacheWrite());
            call = parts[5].isEmpty() ? call : call.maxOutputTokens(Long.parseLong(parts[5]));
            call = parts[6].isEmpty() ? call : call.inputBytes(Long.parseLong(parts[6]));
            call = parts[7].isEmpty() ? call : call.team(parts[7]);
            call = parts[8].isEmpty() ? call : call.workspace(parts[8]);
            call = parts[9].isEmpty() ? call : call.run(parts[9]);
            call = parts[10].isEmpty() ? call : call.serviceTier(parts[10]);
            call = parts[11].isEmpty() ? call : call.speed(parts[11]);
            call = parts[12].isEmpty() ? call : call.endpoint(parts[12]);
            return agent.equals(Policy.NO_NAME) ? call : call.agent(agent);
        } catch (IllegalArgumentException e) {
            throw nonsense(memo, e);
        }
    }

    private static OutageException nonsense(String memo, @Nullable Throwable cause) {
        return new OutageException("bad_reply", "a permit's memo makes no sense: " + memo, cause);
    }
}
