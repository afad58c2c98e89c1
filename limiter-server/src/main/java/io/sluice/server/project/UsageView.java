package io.sluice.server.project;

import io.sluice.Admin.Used;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * Who used what.
 *
 * @param rows in the order of time, then of names
 * @param forecast of each limit in money
 */
record UsageView(Instant from, Instant to, String step, String by, List<Row> rows, List<Forecast.Outlook> forecast) {

    static UsageView of(Span span, List<Used> rows, List<Forecast.Outlook> forecast) {
        return new UsageView(
                span.from(),
                span.to(),
                span.step().name().toLowerCase(Locale.ROOT),
                span.by().name().toLowerCase(Locale.ROOT),
                rows.stream().map(Row::of).toList(),
                forecast);
    }

    /** {@code input_tokens} is fresh input; cache reads and writes come on top. */
    record Row(
            Instant at,
            String name,
            long requests,
            long inputTokens,
            long cacheReadTokens,
            long cacheWriteTokens,
            long outputTokens,
            BigDecimal usd,
            long waitMs,
            long rejections) {
        static final String TITLES =
                "at,name,requests,input_tokens,cache_read_tokens,cache_write_tokens,output_tokens,usd,"
                        + "wait_ms,rejections\r\n";

        static Row of(Used used) {
            return new Row(
                    used.at(),
                    used.name(),
                    used.requests(),
                    used.input(),
                    used.cacheRead(),
                    used.cacheWrite(),
                    used.output(),
                    BigDecimal.valueOf(used.microUsd(), 6),
                    used.waitMs(),
                    used.rejections());
        }

        String csv() {
            return List.of(
                            at,
                            cell(name),
                            requests,
                            inputTokens,
                            cacheReadTokens,
                            cacheWriteTokens,
                            outputTokens,
                            usd.toPlainString(),
                            waitMs,
                            rejections)
                    .stream()
                    .map(Object::toString)
                    .collect(Collectors.joining(",", "", "\r\n"));
        }

        /** Quoted, and no formula: spreadsheets run what begins like one. */
        private static String cell(String name) {
            boolean formula = name.length() > 1 && "=+-@\t\r".indexOf(name.charAt(0)) >= 0;
            return '"' + (formula ? "'" : "") + name.replace("\"", "\"\"") + '"';
        }
    }

    String csv() {
        return rows.stream().map(Row::csv).collect(Collectors.joining("", Row.TITLES, ""));
    }
}
