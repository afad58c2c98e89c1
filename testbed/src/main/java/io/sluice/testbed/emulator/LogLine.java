package io.sluice.testbed.emulator;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.io.ByteArrayOutputStream;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.ObjectWriter;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.SequenceWriter;
import tools.jackson.databind.json.JsonMapper;

/** One line of {@code GET /_log}, field by field; {@link Emulator} says what they mean. */
record LogLine(
        long seq,
        long tMs,
        Instant at,
        String event,
        String agent,
        String model,
        String pool,
        @Nullable String kind,
        long input,
        long cacheRead,
        long cacheWrite,
        long charged,
        long output,
        int inFlight,
        int status,
        String id) {

    private static final ObjectWriter WRITER = JsonMapper.builder()
            .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
            .changeDefaultPropertyInclusion(all -> all.withValueInclusion(JsonInclude.Include.NON_NULL))
            .disable(MapperFeature.SORT_PROPERTIES_ALPHABETICALLY)
            .build()
            .writerFor(LogLine.class)
            .withRootValueSeparator("\n");

    static byte[] render(List<DecisionLog.Entry> entries) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(entries.size() * 256);
        try (SequenceWriter lines = WRITER.writeValues(bytes)) {
            for (DecisionLog.Entry entry : entries) {
                lines.write(of(entry));
            }
        }
        bytes.write('\n');
        return bytes.toByteArray();
    }

    private static LogLine of(DecisionLog.Entry entry) {
        Call call = entry.call();
        return new LogLine(
                entry.seq(),
                entry.sinceStartUs() / 1_000,
                Enforcer.instant(entry.atUs()),
                entry.event().word,
                call.agent(),
                call.model(),
                entry.pool(),
                entry.kind() == null ? null : entry.kind().word(),
                call.input(),
                call.cacheRead(),
                call.cacheWrite(),
                call.charged(),
                entry.output(),
                entry.inFlight(),
                entry.status(),
                Dialect.requestId(entry.id()));
    }
}
