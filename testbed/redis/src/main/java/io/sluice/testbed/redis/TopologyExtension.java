package io.sluice.testbed.redis;

import java.lang.annotation.Annotation;
import java.util.Optional;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.platform.commons.support.AnnotationSupport;

/**
 * Serves {@link WithCluster}, {@link WithSentinel} and {@link WithNamespaces}: a topology starts when it is first asked for
 * and lives in the store of the context that has the annotation, which closes it.
 */
abstract sealed class TopologyExtension<A extends Annotation, T extends AutoCloseable>
        implements ParameterResolver, ExecutionCondition {
    private static final Namespace NAMESPACE = Namespace.create(TopologyExtension.class);

    private final Class<A> annotation;
    private final Class<T> type;

    private TopologyExtension(Class<A> annotation, Class<T> type) {
        this.annotation = annotation;
        this.type = type;
    }

    /** Why there can be none here; empty where there can. */
    abstract Optional<String> missing();

    abstract T start(A annotation);

    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
        if (annotation(context).isEmpty()) {
            return ConditionEvaluationResult.enabled("asked at the annotation");
        }
        Optional<String> reason = missing();
        if (reason.isPresent()) {
            System.err.println("skipped: " + context.getDisplayName() + ", " + reason.get());
            return ConditionEvaluationResult.disabled(reason.get());
        }
        return ConditionEvaluationResult.enabled("it can be made here");
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == type;
    }

    @Override
    public T resolveParameter(ParameterContext parameter, ExtensionContext context) {
        ExtensionContext annotated = context;
        Optional<A> found = annotation(annotated);
        while (found.isEmpty()) {
            annotated = annotated
                    .getParent()
                    .orElseThrow(() -> new IllegalStateException("no @" + annotation.getSimpleName() + " here"));
            found = annotation(annotated);
        }
        A with = found.get();
        return annotated.getStore(NAMESPACE).computeIfAbsent(annotated.getUniqueId(), key -> start(with), type);
    }

    private Optional<A> annotation(ExtensionContext context) {
        return context.getElement().flatMap(element -> AnnotationSupport.findAnnotation(element, annotation));
    }

    private static Optional<String> missingBinary() {
        try {
            RedisSource.fromEnvironment().binary();
            return Optional.empty();
        } catch (NoRedisException e) {
            return Optional.ofNullable(e.getMessage());
        }
    }

    static final class OfCluster extends TopologyExtension<WithCluster, RedisCluster> {
        OfCluster() {
            super(WithCluster.class, RedisCluster.class);
        }

        @Override
        Optional<String> missing() {
            return missingBinary();
        }

        @Override
        RedisCluster start(WithCluster with) {
            return with.replicas() ? RedisCluster.startWithReplicas() : RedisCluster.start();
        }
    }

    static final class OfSentinel extends TopologyExtension<WithSentinel, RedisSentinel> {
        OfSentinel() {
            super(WithSentinel.class, RedisSentinel.class);
        }

        @Override
        Optional<String> missing() {
            return missingBinary();
        }

        @Override
        RedisSentinel start(WithSentinel with) {
            return RedisSentinel.start();
        }
    }

    static final class OfNamespaces extends TopologyExtension<WithNamespaces, Namespaces> {
        OfNamespaces() {
            super(WithNamespaces.class, Namespaces.class);
        }

        @Override
        Optional<String> missing() {
            return Namespaces.missing().or(TopologyExtension::missingBinary);
        }

        @Override
        Namespaces start(WithNamespaces with) {
            return Namespaces.start(with.hosts());
        }
    }
}
