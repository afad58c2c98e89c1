package io.sluice.testbed.redis;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Gives a test class or method {@link Namespaces} of its own, as a parameter. Where there can be none, the tests are
 * skipped and standard error says why.
 */
@Documented
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.TYPE, ElementType.METHOD})
@ExtendWith(TopologyExtension.OfNamespaces.class)
public @interface WithNamespaces {

    /** How many hosts. */
    int hosts() default 2;
}
