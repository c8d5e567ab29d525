package e2e;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** What escape analysis removes, and what it does not. */
public final class Demos {
    private static long a = 3, b = 4;
    private static int number = 1234, calls;
    private static final List<Integer> list = new ArrayList<>(Arrays.asList(1, 2, 3));

    @SuppressWarnings({"deprecation", "removal"})
    static long boxing() {
        return new Long(a + b).longValue();
    }

    static int iterator() {
        int sum = 0;
        for (int element : list) sum += element;
        return sum;
    }

    static int concatenation() {
        return ("id-" + number).length();
    }

    /** C2 compiles it a second time, some 30,000 calls later, if it is the first method of a JVM. */
    static void runsLambda() {
        int captured = number;
        Runnable lambda = () -> { calls += captured; };
        lambda.run();
    }

    static int[] escapes() {
        return new int[] {1, 2};
    }

    /** Of an instance, and not always the same. */
    Object everyThird() {
        return ++calls % 3 == 0 ? new long[10] : null;
    }

    static boolean prints() {
        System.out.print("");
        return true;
    }

    static int fails() {
        throw new IllegalStateException("as it should");
    }

    static int withParameters(int x) {
        return x;
    }

    /** Bytes of a million calls of {@link #boxing}, once it is compiled. */
    public static void main(String[] args) {
        com.sun.management.ThreadMXBean bean = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        long id = Thread.currentThread().getId(), bytes = 0;
        for (int round = 0; round < 50; ++round) {
            long before = bean.getThreadAllocatedBytes(id);
            for (int i = 0; i < 1_000_000; ++i) b += boxing();
            bytes = bean.getThreadAllocatedBytes(id) - before;
        }
        System.out.println("a million calls " + bytes + " bytes");
    }
}
