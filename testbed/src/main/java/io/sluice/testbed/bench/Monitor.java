package io.sluice.testbed.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** Redis's {@code MONITOR}: every command as it runs. */
final class Monitor {
    private static final int TICK_MS = 50;

    private Monitor() {}

    /**
     * @param sent commands that clients sent
     * @param inScripts commands that their scripts made
     */
    record Seen(long sent, long inScripts) {
        /** Lines like {@code 1339518083.107412 [0 127.0.0.1:60866] "keys" "*"}, a script's with {@code [0 lua]}. */
        Seen with(String line) {
            if (!line.contains("] \"")) {
                return this;
            }
            return line.contains(" lua] \"") ? new Seen(sent, inScripts + 1) : new Seen(sent + 1, inScripts);
        }
    }

    /** @throws IOException if it cannot be watched all that time */
    static Seen watch(int port, Duration length) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout(TICK_MS);
            OutputStream out = socket.getOutputStream();
            out.write("MONITOR\r\n".getBytes(StandardCharsets.US_ASCII));
            out.flush();
            BufferedReader in =
                    new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.ISO_8859_1));
            Seen seen = new Seen(0, 0);
            StringBuilder line = new StringBuilder();
            long end = System.nanoTime() + length.toNanos();
            while (System.nanoTime() < end) {
                try {
                    int read = in.read();
                    if (read < 0) {
                        throw new IOException("Redis hung up");
                    }
                    if (read == '\n') {
                        seen = seen.with(line.toString());
                        line.setLength(0);
                    } else {
                        line.append((char) read);
                    }
                } catch (SocketTimeoutException ignored) {
                    // Nobody sent anything for a while.
                }
            }
            return seen;
        }
    }
}
