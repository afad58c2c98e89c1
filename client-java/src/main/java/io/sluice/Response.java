package io.sluice;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What a provider answered to one attempt of a call, and what it means. Made by {@link Attempt#answered} or {@link
 * Attempt#stream}.
 *
 * @param status the HTTP status, such as 200
 * @param headers as they came
 * @param body the body as text; of a stream all its events as they came. Empty where they went to a consumer instead
 * @param reading what the answer means: what was used, what is left
 */
public record Response(int status, Map<String, List<String>> headers, String body, Reading reading) {

    /** Keeps a copy of the headers; an entry without a name, as a status line is told by some, is left out. */
    public Response {
        Map<String, List<String>> named = new HashMap<>(headers);
        named.remove(null);
        headers = Map.copyOf(named);
    }
}
