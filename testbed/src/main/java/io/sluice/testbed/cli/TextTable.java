package io.sluice.testbed.cli;

import java.util.ArrayList;
import java.util.List;

/** Columns as wide as what stands in them. Pure. */
final class TextTable {
    private TextTable() {}

    /** A heading that begins with {@code >} is of a column that stands at the right. */
    static List<String> of(List<String> headings, List<List<String>> rows) {
        List<String> titles = headings.stream()
                .map(h -> h.startsWith(">") ? h.substring(1) : h)
                .toList();
        List<List<String>> all = new ArrayList<>(List.of(titles));
        all.addAll(rows);
        int[] widths = new int[headings.size()];
        for (List<String> row : all) {
            for (int c = 0; c < widths.length; c++) {
                widths[c] = Math.max(widths[c], row.get(c).length());
            }
        }
        return all.stream()
                .map(row -> {
                    StringBuilder line = new StringBuilder();
                    for (int c = 0; c < widths.length; c++) {
                        String pad = " ".repeat(widths[c] - row.get(c).length());
                        line.append(headings.get(c).startsWith(">") ? pad + row.get(c) : row.get(c) + pad)
                                .append(c < widths.length - 1 ? "  " : "");
                    }
                    return line.toString().stripTrailing();
                })
                .toList();
    }
}
