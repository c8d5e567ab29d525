package heaprec.junit;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Records a JUnit 5 test, or each test of a class. If the test fails, its recording is kept, and a report page is
 * written beside it; a report entry of the test ("heaprec") names both. A JVM has one recording at a time: of tests that
 * run in parallel one is recorded.
 */
@Target({ElementType.METHOD, ElementType.TYPE})
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(TestRecorder.class)
public @interface Recorded {
    /** The folder for recordings and pages; it is created. */
    String folder() default "heaprec";

    /** Agent options, such as "rate=500". */
    String options() default "points=max";

    /** Whether recordings of tests that pass are kept, too. */
    boolean keep() default false;
}
