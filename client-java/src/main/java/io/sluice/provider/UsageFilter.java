package io.sluice.provider;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import tools.jackson.databind.JsonNode;

/**
 * Takes the chunk that only tells usage out of a chat stream, for a reader that did not ask for it; see {@link StreamUsage}. All other
 * bytes pass unchanged, wherever the network cut them, each event as soon as its blank line is there. The chunk is the one with an
 * empty {@code choices} and a {@code usage}; the {@code "usage":null} that others then have stays.
 *
 * <p>Keeps one event, and of that at most 64 KiB: a longer one is no usage and passes as it comes. Not thread-safe.
 */
public final class UsageFilter {
    private static final int MOST = 64 * 1024;
    private static final byte[] USAGE = {'"', 'u', 's', 'a', 'g', 'e', '"'};

    /** What came of an event and is not decided on yet. */
    private final ByteArrayOutputStream held = new ByteArrayOutputStream();

    /** The event is too long to be one: the rest of it passes. */
    private boolean passes;

    private boolean lineIsEmpty = true;
    private boolean afterReturn;

    /** The last event was dropped after a carriage return; a line feed after it is a part of it. */
    private boolean dropsLineFeed;

    /** The next bytes as they came; answers what of all of them passes, perhaps nothing yet. */
    public byte[] feed(byte[] bytes, int offset, int length) {
        ByteArrayOutputStream out = new ByteArrayOutputStream(held.size() + length);
        int start = offset;
        int end = offset + length;
        for (int at = offset; at < end; at++) {
            byte b = bytes[at];
            boolean secondOfTwo = afterReturn && b == '\n';
            afterReturn = b == '\r';
            if (secondOfTwo) {
                if (dropsLineFeed) {
                    start = at + 1;
                } else if (held.size() == 0 && start == at && !passes) {
                    // The event before has passed already; so does this.
                    out.write(b);
                    start = at + 1;
                }
                dropsLineFeed = false;
                continue;
            }
            dropsLineFeed = false;
            if (b != '\n' && b != '\r') {
                lineIsEmpty = false;
            } else if (lineIsEmpty) {
                hold(bytes, start, at + 1, out);
                start = at + 1;
                dropsLineFeed = !endEvent(out) && b == '\r';
            } else {
                lineIsEmpty = true;
            }
        }
        hold(bytes, start, end, out);
        return out.toByteArray();
    }

    /** All of a chunk. */
    public byte[] feed(byte[] bytes) {
        return feed(bytes, 0, bytes.length);
    }

    /** The end of the stream: what is left of it. An event without its blank line is decided on as it is. */
    public byte[] end() {
        ByteArrayOutputStream out = new ByteArrayOutputStream(held.size());
        endEvent(out);
        return out.toByteArray();
    }

    private void hold(byte[] bytes, int start, int end, ByteArrayOutputStream out) {
        if (!passes && held.size() + (end - start) > MOST) {
            passes = true;
            out.writeBytes(held.toByteArray());
            held.reset();
        }
        (passes ? out : held).write(bytes, start, end - start);
    }

    /** Whether it passes. */
    private boolean endEvent(ByteArrayOutputStream out) {
        boolean drops = !passes && isUsageOnly(held.toByteArray());
        if (!drops) {
            out.writeBytes(held.toByteArray());
        }
        held.reset();
        passes = false;
        return !drops;
    }

    private static boolean isUsageOnly(byte[] event) {
        if (!tellsUsage(event)) {
            return false;
        }
        boolean[] only = {false};
        Events events = new Events(MOST, data -> {
            JsonNode json = Json.parse(new String(data, StandardCharsets.UTF_8));
            only[0] = json.path("choices").isArray()
                    && json.path("choices").isEmpty()
                    && json.path("usage").isObject()
                    && !json.has("error");
        });
        events.feed(event, 0, event.length);
        events.end();
        return only[0];
    }

    /** Whether it may: spares the events of a long answer being read as JSON once more. */
    private static boolean tellsUsage(byte[] event) {
        for (int at = 0; at + USAGE.length < event.length; at++) {
            int next = at + USAGE.length;
            if (event[at] == '"' && Arrays.equals(event, at, next, USAGE, 0, USAGE.length)) {
                while (next < event.length && (event[next] <= ' ' || event[next] == ':')) {
                    next++;
                }
                if (next < event.length && event[next] != 'n') {
                    return true;
                }
            }
        }
        return false;
    }
}
