package io.sluice;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.core.StreamWriteFeature;
import tools.jackson.databind.json.JsonMapper;

/** Writes content that is in order already as one line of JSON, without what says nothing: empty lists and mappings. */
final class CanonicalJson {
    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(StreamWriteFeature.WRITE_BIGDECIMAL_AS_PLAIN)
            .build();

    private CanonicalJson() {}

    static String write(Map<String, Object> content) {
        return JSON.writeValueAsString(said(content));
    }

    private static Object said(Object value) {
        if (value instanceof List<?> list) {
            return list.stream().map(CanonicalJson::said).toList();
        }
        if (!(value instanceof Map<?, ?> map)) {
            return value;
        }
        Map<Object, Object> said = new LinkedHashMap<>();
        map.forEach((key, member) -> {
            Object inner = said(member);
            if (!inner.equals(List.of()) && !inner.equals(Map.of())) {
                said.put(key, inner);
            }
        });
        return said;
    }
}
