package io.sluice.server.problem;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.exc.InputCoercionException;
import tools.jackson.databind.DatabindException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.cfg.CoercionAction;
import tools.jackson.databind.cfg.CoercionInputShape;
import tools.jackson.databind.exc.MismatchedInputException;
import tools.jackson.databind.exc.UnrecognizedPropertyException;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.type.LogicalType;

/**
 * Reads the bodies of requests, strictly: a member that is not known, or told twice, or a number written as text is a fault
 * of the caller that would otherwise cost it its budget unseen.
 */
@Component
public final class Bodies {
    private final JsonMapper json = JsonMapper.builder()
            .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES, DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT)
            .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
            .withCoercionConfig(
                    LogicalType.Textual,
                    text -> Stream.of(CoercionInputShape.Integer, CoercionInputShape.Float, CoercionInputShape.Boolean)
                            .forEach(other -> text.setCoercion(other, CoercionAction.Fail)))
            .build();

    Bodies() {}

    /**
     * Reads a body.
     *
     * @throws Problem 400, naming the member, if it is none of these
     */
    public <T> T read(byte @Nullable [] body, Class<T> type) {
        if (body == null || body.length == 0) {
            throw Problem.invalid("", "a JSON object is needed");
        }
        try {
            T read = json.readValue(body, type);
            if (read == null) {
                throw Problem.invalid("", "a JSON object is needed");
            }
            return read;
        } catch (DatabindException e) {
            throw e.getCause() instanceof Problem problem ? problem : fault(e);
        } catch (InputCoercionException e) {
            // A number that is out of range.
            throw Problem.invalid(path(e), "must be a whole number of 64 bits");
        } catch (JacksonException e) {
            throw Problem.invalid("", "not JSON: " + e.getOriginalMessage().replaceFirst(" \\(start marker at .*", ""));
        }
    }

    /** As {@link #read}, of a body that may be left out. */
    public <T> T readOr(byte @Nullable [] body, Class<T> type, T otherwise) {
        return body == null || body.length == 0 ? otherwise : read(body, type);
    }

    private static Problem fault(DatabindException e) {
        String path = path(e);
        if (e instanceof UnrecognizedPropertyException unknown && unknown.getKnownPropertyIds() != null) {
            List<String> known = new ArrayList<>();
            unknown.getKnownPropertyIds().forEach(id -> known.add(id.toString()));
            return Problem.invalid(path, "unknown; known are " + String.join(", ", known));
        }
        return Problem.invalid(
                path, "must be " + (e instanceof MismatchedInputException wrong ? wanted(wrong) : "as documented"));
    }

    private static String path(JacksonException e) {
        return e.getPath().stream()
                .map(at -> at.getPropertyName() == null ? "/" + at.getIndex() : "/" + at.getPropertyName())
                .collect(Collectors.joining());
    }

    private static String wanted(MismatchedInputException wrong) {
        Class<?> type = wrong.getTargetType();
        if (type == null || type.isRecord()) {
            return "an object";
        }
        if (Number.class.isAssignableFrom(type) || (type.isPrimitive() && type != boolean.class)) {
            return "a whole number of 64 bits";
        }
        if (type == Boolean.class || type == boolean.class) {
            return "true or false";
        }
        return CharSequence.class.isAssignableFrom(type) ? "text" : "as documented";
    }
}
