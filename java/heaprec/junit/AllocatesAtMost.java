package heaprec.junit;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A JUnit 5 test that fails if one call of it allocates more, once the code is compiled.
 *
 * <pre>{@code
 * @Test
 * @AllocatesAtMost(bytes = 0)
 * void nextAllocatesNothing() {
 *     parser.next();
 * }
 * }</pre>
 *
 * <p>The method runs once as a test, then {@link #warmup} times (at most 10 s), then 20 times with a probe. If most of
 * these allocate too much, it continues for 2 s of processor time, because the compiler may be late. What most of the
 * last 20 calls allocated is compared. All calls are on one instance, without {@code @BeforeEach} between them. Only the
 * thread of the test is measured. Where heaprec does not run ({@link heaprec.Heaprec#isSupported}) the method runs once
 * and nothing is measured.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(AllocationLimit.class)
public @interface AllocatesAtMost {
    /** Maximum bytes; by default any number. */
    long bytes() default Long.MAX_VALUE;

    /** Maximum number of objects; by default any number. */
    long objects() default Long.MAX_VALUE;

    /** Calls before the first that is measured. */
    int warmup() default 20_000;
}
