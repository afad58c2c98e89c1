package io.sluice.provider;

import java.util.function.Consumer;

/**
 * Server-sent events out of bytes, wherever they were cut: lines end in LF, CR or CRLF, data may have several lines,
 * lines that start with a colon are comments, unknown fields are passed over. Bare JSON between events is one too
 * (Gemini sends errors, and without {@code alt=sse} everything, like that). Keeps one event; one longer than the bound
 * is passed over.
 */
final class Events {
    private static final byte[] DATA = {'d', 'a', 't', 'a'};
    private static final byte[] NEW_LINE = {'\n'};
    private static final byte[] BYTE_ORDER_MARK = {(byte) 0xEF, (byte) 0xBB, (byte) 0xBF};

    private final Consumer<byte[]> data;
    private final Pieces pieces;
    private final Bytes line;
    private final Bytes event;
    private boolean hasData;
    private boolean lineWasLost;
    private boolean afterReturn;
    private int mark;

    Events(int max, Consumer<byte[]> data) {
        this.data = data;
        this.pieces = new Pieces(max, data);
        this.line = new Bytes(max);
        this.event = new Bytes(max);
    }

    void feed(byte[] bytes, int offset, int length) {
        int end = offset + length;
        int at = afterMark(bytes, offset, end);
        while (at < end) {
            at = pieces.isOpen() ? pieces.feed(bytes, at, end) : next(bytes, at, end);
        }
    }

    /** The end of the stream: what came without its closing blank line is an event if its reader can read it. */
    void end() {
        if (!line.isEmpty()) {
            endLine();
        }
        endEvent();
    }

    /** Reads some of a line, its end, or the start of bare JSON; says how far. */
    private int next(byte[] bytes, int at, int end) {
        byte b = bytes[at];
        boolean secondOfTwo = afterReturn && b == '\n';
        afterReturn = b == '\r';
        if (secondOfTwo) {
            return at + 1;
        }
        if (b == '\n' || b == '\r') {
            endLine();
            return at + 1;
        }
        if (line.isEmpty() && (b == '{' || b == '[')) {
            return pieces.feed(bytes, at, end);
        }
        int stop = at;
        while (stop < end && bytes[stop] != '\n' && bytes[stop] != '\r') {
            stop++;
        }
        line.add(bytes, at, stop);
        return stop;
    }

    /** Past the three bytes that may stand before everything. */
    private int afterMark(byte[] bytes, int start, int end) {
        int at = start;
        while (at < end && mark < BYTE_ORDER_MARK.length) {
            if (bytes[at] == BYTE_ORDER_MARK[mark]) {
                mark++;
                at++;
            } else {
                mark = BYTE_ORDER_MARK.length;
            }
        }
        return at;
    }

    private void endLine() {
        byte[] text = line.toArray();
        boolean lost = line.isGivenUp();
        line.clear();
        if (lost) {
            // It was part of the event, and nobody knows which.
            lineWasLost = true;
        } else if (text.length == 0) {
            endEvent();
        } else if (isData(text)) {
            addData(text);
        }
    }

    private void endEvent() {
        if (hasData && !lineWasLost && !event.isGivenUp()) {
            data.accept(event.toArray());
        }
        event.clear();
        hasData = false;
        lineWasLost = false;
    }

    private void addData(byte[] text) {
        int start = Math.min(text.length, DATA.length + 1);
        if (start < text.length && text[start] == ' ') {
            start++;
        }
        if (hasData) {
            event.add(NEW_LINE, 0, 1);
        }
        event.add(text, start, text.length);
        hasData = true;
    }

    private static boolean isData(byte[] text) {
        for (int i = 0; i < DATA.length; i++) {
            if (text.length <= i || text[i] != DATA[i]) {
                return false;
            }
        }
        return text.length == DATA.length || text[DATA.length] == ':';
    }
}
