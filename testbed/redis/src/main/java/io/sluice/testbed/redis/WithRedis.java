package io.sluice.testbed.redis;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Gives a test class or method a real Redis: constructors, life cycle methods and tests may take a {@link RedisServer}.
 *
 * <pre>{@code
 * @WithRedis
 * class LeaseIT {
 *     private final RedisServer redis;
 *
 *     LeaseIT(RedisServer redis) {
 *         this.redis = redis;
 *     }
 * }
 * }</pre>
 *
 * <p>By default it is the {@linkplain RedisServers#shared() server that the whole JVM shares}: tests keep apart by
 * project ids of their own.
 */
@Documented
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.TYPE, ElementType.METHOD})
@ExtendWith(RedisExtension.class)
public @interface WithRedis {

    /**
     * For tests that kill, pause, flush or reconfigure the server: one of their own, for this class or method, ended
     * after it. Before each test it is let go on, and started again if the test before killed it.
     * Where only an {@linkplain Backend#EXISTING existing} server is allowed, the tests are skipped and standard error
     * says so.
     */
    boolean own() default false;

    /** Whether an own server {@linkplain RedisOptions#persistent keeps its data} when killed. */
    boolean persistent() default false;

    /** Further arguments of an own server, such as {@code {"--maxmemory", "10mb"}}. */
    String[] arguments() default {};
}
