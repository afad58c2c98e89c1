package io.sluice.server.problem;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.webflux.autoconfigure.WebFluxRegistrations;
import org.springframework.core.MethodParameter;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.InvalidMediaTypeException;
import org.springframework.http.MediaType;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.stereotype.Component;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.reactive.result.method.RequestMappingInfo;
import org.springframework.web.reactive.result.method.annotation.RequestMappingHandlerMapping;
import org.springframework.web.server.ServerWebExchange;

/**
 * Addresses are taken as strictly as bodies are ({@link Bodies}): a {@code ?dryrun=true} that nobody knows would set a policy, a
 * {@code ?clas=sonnet} release everything. And of what a body is said to be, only what our own clients say: nothing that a form of
 * somebody's page can send ({@link Programs} tells those apart).
 */
@Component
final class StrictRequests implements WebFluxRegistrations {
    private static final String OURS = "io.sluice.";
    private static final Set<String> YAML = Set.of("yaml", "x-yaml");

    @Override
    public RequestMappingHandlerMapping getRequestMappingHandlerMapping() {
        return new Mapping();
    }

    private static final class Mapping extends RequestMappingHandlerMapping {
        private final Map<HandlerMethod, Set<String>> parameters = new ConcurrentHashMap<>();

        @Override
        protected void handleMatch(RequestMappingInfo info, HandlerMethod method, ServerWebExchange exchange) {
            super.handleMatch(info, method, exchange);
            if (method.getBeanType().getPackageName().startsWith(OURS)) {
                ServerHttpRequest request = exchange.getRequest();
                if (!request.getQueryParams().isEmpty()) {
                    query(request, parameters.computeIfAbsent(method, Mapping::known));
                }
                if (takes(method)) {
                    content(request.getHeaders());
                }
            }
        }

        private static Set<String> known(HandlerMethod method) {
            return Arrays.stream(method.getMethodParameters())
                    .map(Mapping::name)
                    .filter(Objects::nonNull)
                    .collect(Collectors.toUnmodifiableSet());
        }

        private static @Nullable String name(MethodParameter parameter) {
            RequestParam asked = parameter.getParameterAnnotation(RequestParam.class);
            if (asked == null) {
                return null;
            }
            return asked.name().isEmpty() ? parameter.getParameter().getName() : asked.name();
        }

        private static boolean takes(HandlerMethod method) {
            return Arrays.stream(method.getMethodParameters())
                    .anyMatch(parameter -> parameter.hasParameterAnnotation(RequestBody.class));
        }
    }

    /** @throws Problem 400 if a parameter is not known, is told twice, or says nothing to a call that changes something */
    private static void query(ServerHttpRequest request, Set<String> known) {
        request.getQueryParams().forEach((name, values) -> {
            if (!known.contains(name)) {
                throw Problem.invalid(
                        "/" + name,
                        "unknown; known are "
                                + (known.isEmpty()
                                        ? "none"
                                        : known.stream().sorted().collect(Collectors.joining(", "))));
            }
            if (values.size() > 1) {
                throw Problem.invalid("/" + name, "is told " + values.size() + " times");
            }
            String value = values.get(0);
            boolean reads = request.getMethod().equals(HttpMethod.GET);
            if (!reads && (value == null || value.isEmpty())) {
                throw Problem.invalid("/" + name, "has no value");
            }
        });
    }

    /** @throws Problem 415 if the body is said to be neither JSON nor YAML, or to be packed */
    private static void content(HttpHeaders headers) {
        List<String> packed = headers.getOrEmpty(HttpHeaders.CONTENT_ENCODING);
        if (packed.stream().anyMatch(how -> !how.equalsIgnoreCase("identity"))) {
            throw new Problem(
                    415, "unsupported_media_type", "send it as it is, not Content-Encoding: " + packed.get(0));
        }
        try {
            MediaType type = headers.getContentType();
            if (type == null
                    || type.isCompatibleWith(MediaType.APPLICATION_JSON)
                    || "json".equals(type.getSubtypeSuffix())
                    || YAML.contains(type.getSubtype())) {
                return;
            }
        } catch (InvalidMediaTypeException e) {
            // As below.
        }
        throw Problem.unsupported();
    }
}
