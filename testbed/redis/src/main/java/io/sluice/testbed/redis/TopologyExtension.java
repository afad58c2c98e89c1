package io.sluice.testbed.redis;

import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedElement;
import java.util.Optional;
import java.util.function.Supplier;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.platform.commons.support.AnnotationSupport;

/**
 * Serves {@link WithCluster} and {@link WithSentinel}: a topology starts when it is first asked for and lives in the
 * store of the context that has the annotation, which closes it.
 */
abstract sealed class TopologyExtension<T extends AutoCloseable> implements ParameterResolver, ExecutionCondition {
    private static final Namespace NAMESPACE = Namespace.create(TopologyExtension.class);

    private final Class<? extends Annotation> annotation;
    private final Class<T> type;
    private final Supplier<T> start;

    private TopologyExtension(Class<? extends Annotation> annotation, Class<T> type, Supplier<T> start) {
        this.annotation = annotation;
        this.type = type;
        this.start = start;
    }

    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
        if (!isAnnotated(context)) {
            return ConditionEvaluationResult.enabled("asked at the annotation");
        }
        try {
            return ConditionEvaluationResult.enabled(
                    RedisSource.fromEnvironment().binary().file().toString());
        } catch (NoRedisException e) {
            System.err.println("skipped: " + context.getDisplayName() + ", " + e.getMessage());
            return ConditionEvaluationResult.disabled(e.getMessage());
        }
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == type;
    }

    @Override
    public T resolveParameter(ParameterContext parameter, ExtensionContext context) {
        ExtensionContext annotated = context;
        while (!isAnnotated(annotated)) {
            annotated = annotated
                    .getParent()
                    .orElseThrow(() -> new IllegalStateException("no @" + annotation.getSimpleName() + " here"));
        }
        return annotated.getStore(NAMESPACE).computeIfAbsent(annotated.getUniqueId(), key -> start.get(), type);
    }

    private boolean isAnnotated(ExtensionContext context) {
        Optional<AnnotatedElement> element = context.getElement();
        return element.isPresent() && AnnotationSupport.isAnnotated(element.get(), annotation);
    }

    static final class OfCluster extends TopologyExtension<RedisCluster> {
        OfCluster() {
            super(WithCluster.class, RedisCluster.class, RedisCluster::start);
        }
    }

    static final class OfSentinel extends TopologyExtension<RedisSentinel> {
        OfSentinel() {
            super(WithSentinel.class, RedisSentinel.class, RedisSentinel::start);
        }
    }
}
