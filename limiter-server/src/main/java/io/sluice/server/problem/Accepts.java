package io.sluice.server.problem;

import java.util.Arrays;
import java.util.List;
import org.springframework.http.InvalidMediaTypeException;
import org.springframework.http.MediaType;

/** What a caller would have instead of JSON. Pure. */
public final class Accepts {
    private Accepts() {}

    /** Whether one of these types is named, and preferred to JSON: {@code text/event-stream, application/json;q=0.5}. */
    public static boolean rather(String accept, MediaType... types) {
        try {
            List<MediaType> named = MediaType.parseMediaTypes(accept);
            double most = Arrays.stream(types)
                    .mapToDouble(type -> quality(named, type))
                    .max()
                    .orElse(0);
            return most > quality(named, MediaType.APPLICATION_JSON);
        } catch (InvalidMediaTypeException e) {
            return false;
        }
    }

    private static double quality(List<MediaType> named, MediaType type) {
        return named.stream()
                .filter(type::equalsTypeAndSubtype)
                .mapToDouble(MediaType::getQualityValue)
                .max()
                .orElse(0);
    }
}
