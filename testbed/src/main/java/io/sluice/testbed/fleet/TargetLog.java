package io.sluice.testbed.fleet;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;

/** The provider's side of the story, read as it grows: {@code GET /_log} and {@code GET /_stats}. */
public final class TargetLog {
    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final String base;
    private final List<LogEntry> entries = new ArrayList<>();
    private long lastSeq;

    public TargetLog(URI target) {
        this.base = target.toString().replaceAll("/+$", "");
    }

    /** Skips what is there: the log of this run begins now. */
    void begin() throws IOException, InterruptedException {
        read();
        entries.clear();
    }

    /** Everything since {@link #begin}. */
    public List<LogEntry> read() throws IOException, InterruptedException {
        for (String line : get("/_log?since=" + lastSeq).lines().toList()) {
            if (!line.isBlank()) {
                LogEntry entry = Json.MAPPER.readValue(line, LogEntry.class);
                lastSeq = Math.max(lastSeq, entry.seq());
                entries.add(entry);
            }
        }
        return List.copyOf(entries);
    }

    public JsonNode stats() throws IOException, InterruptedException {
        return Json.MAPPER.readTree(get("/_stats"));
    }

    public long nowMs() throws IOException, InterruptedException {
        return stats().path("now_ms").asLong();
    }

    private String get(String path) throws IOException, InterruptedException {
        HttpRequest request =
                HttpRequest.newBuilder(URI.create(base + path)).timeout(TIMEOUT).build();
        HttpResponse<String> response;
        try {
            response = http.send(request, BodyHandlers.ofString());
        } catch (IOException e) {
            // The HTTP client's own often carry no message.
            throw new IOException(
                    "no answer from " + base + path + ": " + e.getClass().getSimpleName(), e);
        }
        if (response.statusCode() != 200) {
            throw new IOException("HTTP " + response.statusCode() + " from " + base + path
                    + ": a fleet is judged by its target's log, such as ./sluice emulator keeps");
        }
        return response.body();
    }
}
