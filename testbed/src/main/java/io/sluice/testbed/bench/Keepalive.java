package io.sluice.testbed.bench;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/**
 * One connection to one server, one request at a time: as little client as there can be, so that what is measured is the server.
 * Answers must say how long they are.
 */
final class Keepalive implements AutoCloseable {
    private static final int TIMEOUT_MS = 30_000;
    private static final String LENGTH = "content-length:";

    private final Socket socket;
    private final InputStream in;
    private final String rest;

    /** @param token of a caller of the server */
    Keepalive(URI server, String token) {
        try {
            socket = new Socket(server.getHost(), server.getPort());
            socket.setTcpNoDelay(true);
            socket.setSoTimeout(TIMEOUT_MS);
            in = new BufferedInputStream(socket.getInputStream());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        rest = " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + token
                + "\r\nContent-Type: application/json\r\nContent-Length: ";
    }

    /** @param body as it came */
    record Reply(int status, String body) {}

    Reply send(String method, String path, String body) {
        try {
            write(method, path, body);
            return read();
        } catch (IOException e) {
            throw new UncheckedIOException(method + " " + path, e);
        }
    }

    /** A request whose answer nobody reads yet. */
    void write(String method, String path, String body) throws IOException {
        String request = method + " " + path + rest + body.length() + "\r\n\r\n" + body;
        socket.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
    }

    private Reply read() throws IOException {
        int status = Integer.parseInt(line().substring(9, 12));
        int length = -1;
        for (String header = line(); !header.isEmpty(); header = line()) {
            if (header.regionMatches(true, 0, LENGTH, 0, LENGTH.length())) {
                length = Integer.parseInt(header.substring(LENGTH.length()).strip());
            }
        }
        if (length < 0) {
            throw new IOException(String.format(Locale.ROOT, "an answer of %d without a length", status));
        }
        return new Reply(status, new String(in.readNBytes(length), StandardCharsets.UTF_8));
    }

    private String line() throws IOException {
        StringBuilder line = new StringBuilder(64);
        for (int c = in.read(); c != '\n'; c = in.read()) {
            if (c < 0) {
                throw new EOFException("the server hung up");
            }
            if (c != '\r') {
                line.append((char) c);
            }
        }
        return line.toString();
    }

    @Override
    public void close() {
        try {
            socket.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
