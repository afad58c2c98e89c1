package io.sluice.testbed.redis;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Gives a test class or method a {@link RedisCluster} of its own, as a parameter. Where no {@code redis-server} can be
 * run, the tests are skipped and standard error says why.
 */
@Documented
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.TYPE, ElementType.METHOD})
@ExtendWith(TopologyExtension.OfCluster.class)
public @interface WithCluster {

    /** Whether each primary has a replica, which takes over when it is gone. */
    boolean replicas() default false;
}
