package io.sluice.testbed.redis;

import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.platform.commons.support.AnnotationSupport;

/** Serves {@link WithRedis}. A server lives in the store of the context that asked for it, which closes it. */
final class RedisExtension implements ExecutionCondition, ParameterResolver, BeforeEachCallback {
    private static final Namespace NAMESPACE = Namespace.create(RedisExtension.class);

    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
        if (find(context).annotation().own() && !RedisSource.fromEnvironment().startsItsOwn()) {
            String reason = "it kills its Redis, and only the existing one is allowed";
            System.err.println("skipped: " + context.getDisplayName() + ", " + reason);
            return ConditionEvaluationResult.disabled(reason);
        }
        return ConditionEvaluationResult.enabled("there is a Redis");
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == RedisServer.class;
    }

    @Override
    public @Nullable Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        return server(context);
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        Annotated annotated = find(context);
        if (annotated.annotation().own()) {
            RedisServer server = server(context);
            server.resume();
            if (!server.running()) {
                server.restart();
            }
        }
    }

    private static RedisServer server(ExtensionContext context) {
        Annotated annotated = find(context);
        WithRedis with = annotated.annotation();
        if (!with.own()) {
            Closing closing = RedisServers::closeShared;
            context.getRoot().getStore(NAMESPACE).computeIfAbsent("shared", key -> closing);
            return RedisServers.shared();
        }
        RedisOptions options = new RedisOptions(with.persistent(), List.of(with.arguments()), null);
        return annotated
                .context()
                .getStore(NAMESPACE)
                .computeIfAbsent(annotated.where(), key -> RedisServers.start(options), RedisServer.class);
    }

    /** The nearest annotation: of the method, its class, or a class around that. */
    private static Annotated find(ExtensionContext from) {
        Optional<ExtensionContext> context = Optional.of(from);
        while (context.isPresent()) {
            Optional<WithRedis> found = context.get()
                    .getElement()
                    .flatMap(element -> AnnotationSupport.findAnnotation(element, WithRedis.class));
            if (found.isPresent()) {
                return new Annotated(found.get(), context.get());
            }
            context = context.get().getParent();
        }
        throw new IllegalStateException("no @WithRedis around " + from.getDisplayName());
    }

    /** Runs after the last test of the JVM. */
    private interface Closing extends AutoCloseable {
        @Override
        void close();
    }

    private record Annotated(WithRedis annotation, ExtensionContext context) {
        /** A nested class finds what its outer one stored, unless it has an annotation of its own. */
        String where() {
            return context.getUniqueId();
        }
    }
}
