package e2e;

import java.lang.reflect.Array;
import java.util.Arrays;
import java.util.BitSet;
import java.util.function.Supplier;

/**
 * Sites that allocate through methods which compilers expand or inline, each with a known number of objects per step.
 *
 * <p>Arguments: steps.
 */
public final class Tiers {
    static final class Point implements Cloneable {
        long x, y, z;

        Point copy() {
            try {
                return (Point) clone();
            } catch (CloneNotSupportedException never) {
                throw new AssertionError(never);
            }
        }
    }

    private static final int[] NUMBERS = new int[50];
    private static final byte[] BYTES = new byte[150];
    private static final BitSet BITS = new BitSet(1000);
    private static final Class<?>[] TYPES = {long.class, String.class};
    private static volatile Object sink;

    static void clonesObject(Point point) { sink = point.copy(); }
    static void clonesArray() { sink = NUMBERS.clone(); }
    static void clonesBits() { sink = BITS.clone(); }
    static void copies() { sink = Arrays.copyOf(BYTES, 200); }
    static void copiesRange() { sink = Arrays.copyOfRange(NUMBERS, 5, 45); }
    static void reflects(int step) { sink = Array.newInstance(TYPES[step & 1], 20); }
    static void concatenates(int step) { sink = "step " + step + " of the program that allocates in tiers"; }
    static void captures(int step) {
        long twice = 2L * step, triple = 3L * step;
        Supplier<Object> supplier = () -> step + twice + triple;
        sink = supplier;
    }
    static void calls(Supplier<Object> supplier) { sink = supplier.get(); }
    static void constructs(int step) { sink = new int[30 + (step & 1)]; }

    public static void main(String[] args) {
        Point point = new Point();
        Supplier<Object> supplier = () -> new byte[100];
        for (int step = Integer.parseInt(args[0]); step > 0; step--) {
            clonesObject(point);
            clonesArray();
            clonesBits();
            copies();
            copiesRange();
            reflects(step);
            concatenates(step);
            captures(step);
            calls(supplier);
            constructs(step);
        }
        System.out.println(sink != null);
    }
}
