package ways;

import static org.junit.jupiter.api.Assertions.assertEquals;

import heaprec.Probe;
import heaprec.junit.AllocatesAtMost;
import heaprec.junit.Probes;
import heaprec.junit.Recorded;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Tests of which those fail whose names end in "Fails". */
class LimitedTest {
    private static Object kept;
    private int counter;

    private static long boxed(long value) {
        Long box = new Long(value); // escape analysis removes it
        return box;
    }

    private static Object pair() {
        return new Object[] {new int[4], new Object()};
    }

    @Test
    @AllocatesAtMost(bytes = 0)
    void compiledAway() {
        counter += boxed(counter);
    }

    @Test
    @AllocatesAtMost(objects = 3, warmup = 5000)
    void threeObjects() {
        kept = pair();
    }

    @Test
    @AllocatesAtMost(bytes = 40, objects = 2, warmup = 5000)
    void tooManyFails() {
        kept = pair();
    }

    @Test
    @AllocatesAtMost
    void withoutLimitFails() {}

    @Test
    @ExtendWith(Probes.class)
    void probed(Probe probe) {
        for (int i = 0; i < 2; ++i) {
            probe.start();
            kept = new int[4];
            probe.close();
        }
        assertEquals(1, probe.count());
        assertEquals("int[]", probe.allocations().get(0).className);
        probe.start(); // closed for the test
    }

    @Test
    @Recorded(folder = "recordings")
    void recordedPasses() {
        Work.run(1000);
    }

    @Test
    @Recorded(folder = "recordings", keep = true, options = "rate=500")
    void recordedIsKept() {
        Work.run(1000);
    }

    @Test
    @Recorded(folder = "recordings")
    void recordedFails() {
        Work.run(50_000);
        throw new AssertionError("on purpose");
    }

    @Test
    @Recorded(folder = "recordings", options = "no=option")
    void misspelled() {}
}
