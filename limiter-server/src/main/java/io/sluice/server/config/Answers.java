package io.sluice.server.config;

import io.swagger.v3.oas.models.OpenAPI;
import io.swagger.v3.oas.models.Operation;
import io.swagger.v3.oas.models.media.Content;
import io.swagger.v3.oas.models.media.IntegerSchema;
import io.swagger.v3.oas.models.media.MediaType;
import io.swagger.v3.oas.models.media.ObjectSchema;
import io.swagger.v3.oas.models.media.Schema;
import io.swagger.v3.oas.models.media.StringSchema;
import io.swagger.v3.oas.models.responses.ApiResponse;
import io.swagger.v3.oas.models.responses.ApiResponses;
import java.util.List;
import java.util.Map;
import org.springdoc.core.customizers.OpenApiCustomizer;
import org.springframework.stereotype.Component;

/**
 * Which statuses each call is answered with, for the description of the API: what stands in the code of a handler is read from it,
 * its answers are not. A call that is not listed is a mistake, which stops the description.
 */
@Component
class Answers implements OpenApiCustomizer {
    private static final String PROJECT = "/v1/projects/{project}";

    /** The good ones first, then what else it may say; what every call may say is added. */
    private static final Map<String, List<Integer>> OF = Map.ofEntries(
            Map.entry("GET /v1/projects", List.of(200)),
            Map.entry("GET " + PROJECT, List.of(200)),
            Map.entry("PUT " + PROJECT, List.of(200, 409, 412, 413)),
            Map.entry("DELETE " + PROJECT, List.of(204, 409, 412)),
            Map.entry("GET " + PROJECT + "/versions", List.of(200)),
            Map.entry("GET " + PROJECT + "/versions/{version}", List.of(200)),
            Map.entry("POST " + PROJECT + "/rollback", List.of(200, 409, 412, 413)),
            Map.entry("POST " + PROJECT + "/permits", List.of(201, 200, 409, 413, 422, 429)),
            Map.entry("POST " + PROJECT + "/permits/{permit}/settle", List.of(200, 413)),
            Map.entry("POST " + PROJECT + "/permits/{permit}/renew", List.of(200, 410)),
            Map.entry("DELETE " + PROJECT + "/permits/{permit}", List.of(200)),
            Map.entry("DELETE " + PROJECT + "/waits/{id}", List.of(204)),
            Map.entry("POST " + PROJECT + "/hold", List.of(200, 413)),
            Map.entry("DELETE " + PROJECT + "/hold", List.of(200)),
            Map.entry("POST /v1/hold", List.of(200, 413)),
            Map.entry("DELETE /v1/hold", List.of(200)),
            Map.entry("POST " + PROJECT + "/levels", List.of(200, 413, 422)),
            Map.entry("GET " + PROJECT + "/status", List.of(200)),
            Map.entry("GET " + PROJECT + "/usage", List.of(200)),
            Map.entry("GET " + PROJECT + "/events", List.of(200)),
            Map.entry("GET " + PROJECT + "/plan", List.of(200, 422)),
            Map.entry("POST /v1/login", List.of(204, 400, 413, 429)),
            Map.entry("DELETE /v1/login", List.of(204)),
            Map.entry("GET /v1/me", List.of(200)));

    private static final Map<Integer, String> WORDS = Map.ofEntries(
            Map.entry(200, "done"),
            Map.entry(201, "granted"),
            Map.entry(204, "done"),
            Map.entry(400, "not as documented; problems names each fault with its path"),
            Map.entry(401, "no known token"),
            Map.entry(403, "this token may not do that"),
            Map.entry(404, "no such project, permit, wait or version"),
            Map.entry(409, "the id, the project's state or its owner is in the way; kind says which"),
            Map.entry(410, "it has ended, or its lease ran out"),
            Map.entry(412, "another version is in force than If-Match says"),
            Map.entry(413, "the body is too large"),
            Map.entry(422, "waiting does not help; kind says why"),
            Map.entry(429, "later: Retry-After says when"),
            Map.entry(
                    503,
                    "Redis cannot answer, and reason says why, or too much is asked of this server; Retry-After says when"));

    @Override
    public void customise(OpenAPI api) {
        api.getComponents().addSchemas("Problem", problem());
        api.getPaths()
                .forEach((path, item) -> item.readOperationsMap()
                        .forEach((method, operation) -> answers(method + " " + path, path, operation)));
    }

    private static void answers(String call, String path, Operation operation) {
        List<Integer> own = OF.get(call);
        if (own == null) {
            throw new IllegalStateException("nobody said how " + call + " is answered");
        }
        Content content = operation.getResponses().values().iterator().next().getContent();
        ApiResponses all = new ApiResponses();
        own.stream()
                .filter(status -> status < 300)
                .forEach(status -> all.addApiResponse(
                        status.toString(),
                        new ApiResponse().description(WORDS.get(status)).content(status == 204 ? null : content)));
        own.stream().filter(status -> status >= 300).forEach(status -> no(all, status));
        ofEvery(path).forEach(status -> no(all, status));
        operation.setResponses(all);
    }

    private static List<Integer> ofEvery(String path) {
        return switch (path) {
            case "/v1/login", "/v1/me" -> List.of(401, 503);
            default -> path.contains("{project}") ? List.of(400, 401, 403, 404, 503) : List.of(400, 401, 403, 503);
        };
    }

    private static void no(ApiResponses all, int status) {
        all.addApiResponse(
                String.valueOf(status),
                new ApiResponse()
                        .description(WORDS.get(status))
                        .content(new Content()
                                .addMediaType(
                                        "application/problem+json",
                                        new MediaType().schema(new Schema<>().$ref("#/components/schemas/Problem")))));
    }

    private static Schema<?> problem() {
        return new ObjectSchema()
                .description("RFC 9457; kinds add members of their own, such as limit and retry_after_ms")
                .addProperty("type", new StringSchema().description("ends in the kind"))
                .addProperty("title", new StringSchema())
                .addProperty("status", new IntegerSchema())
                .addProperty("detail", new StringSchema())
                .addProperty("kind", new StringSchema());
    }
}
