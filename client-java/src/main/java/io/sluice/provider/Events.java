package io.sluice.provider;

import java.io.ByteArrayOutputStream;
import java.util.function.Consumer;

/**
 * Server-sent events out of bytes, wherever they were cut: lines end in LF, CR or CRLF, data may have several lines,
 * lines that start with a colon are comments, unknown fields are passed over. Bare JSON between events is one too
 * (Gemini sends errors, and without {@code alt=sse} everything, like that). Keeps one event; one longer than the bound
 * is passed over.
 */
final class Events {
    private static final byte[] DATA = {'d', 'a', 't', 'a'};

    private final int max;
    private final Consumer<byte[]> data;
    private final Pieces pieces;
    private final ByteArrayOutputStream line = new ByteArrayOutputStream();
    private final ByteArrayOutputStream event = new ByteArrayOutputStream();
    private int byteOrderMark;
    private boolean hasData;
    private boolean tooLong;
    private boolean lineTooLong;
    private boolean afterReturn;

    Events(int max, Consumer<byte[]> data) {
        this.max = max;
        this.data = data;
        this.pieces = new Pieces(max, data);
    }

    void feed(byte[] bytes, int offset, int length) {
        for (int i = offset; i < offset + length; i++) {
            feed(bytes[i]);
        }
    }

    /** The end of the stream: what came without its closing blank line is an event if its reader can read it. */
    void end() {
        if (line.size() > 0 || lineTooLong) {
            endLine();
        }
        endEvent();
    }

    private void feed(byte b) {
        if (isByteOrderMark(b)) {
            return;
        }
        if (pieces.isOpen()) {
            pieces.feed(b);
            return;
        }
        boolean secondOfTwo = afterReturn && b == '\n';
        afterReturn = b == '\r';
        if (secondOfTwo) {
            return;
        }
        if (b == '\n' || b == '\r') {
            endLine();
        } else if (line.size() == 0 && !lineTooLong && (b == '{' || b == '[')) {
            pieces.feed(b);
        } else if (line.size() == max) {
            lineTooLong = true;
            line.reset();
        } else if (!lineTooLong) {
            line.write(b);
        }
    }

    private void endLine() {
        if (lineTooLong) {
            // It was part of the event, and nobody knows which.
            tooLong = true;
            lineTooLong = false;
            return;
        }
        byte[] text = line.toByteArray();
        line.reset();
        if (text.length == 0) {
            endEvent();
        } else if (isData(text)) {
            addData(text);
        }
    }

    private void endEvent() {
        if (hasData && !tooLong) {
            data.accept(event.toByteArray());
        }
        event.reset();
        hasData = false;
        tooLong = false;
    }

    private void addData(byte[] text) {
        int start = text.length > DATA.length + 1 && text[DATA.length + 1] == ' ' ? DATA.length + 2 : DATA.length + 1;
        int length = Math.max(0, text.length - start);
        if (tooLong || event.size() + length + 1 > max) {
            tooLong = true;
            event.reset();
            return;
        }
        if (hasData) {
            event.write('\n');
        }
        event.write(text, Math.min(start, text.length), length);
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

    /** The three bytes that may stand before everything. */
    private boolean isByteOrderMark(byte b) {
        byte[] mark = {(byte) 0xEF, (byte) 0xBB, (byte) 0xBF};
        if (byteOrderMark < mark.length && b == mark[byteOrderMark]) {
            byteOrderMark++;
            return true;
        }
        byteOrderMark = mark.length;
        return false;
    }
}
