import java.lang.management.ManagementFactory;
import java.util.Arrays;

/**
 * Allocates byte arrays of one length, in batches of equal number, and prints the CPU time per array of each batch, in ns:
 * Candidates LENGTH ARRAYS BATCHES. The JVM's options decide how: each array a refill, or each outside of a TLAB.
 */
public final class Candidates {
    static volatile Object sink;

    static void allocate(int length, int arrays) {
        for (int i = 0; i < arrays; ++i) sink = new byte[length];
    }

    public static void main(String[] args) {
        int length = Integer.parseInt(args[0]), arrays = Integer.parseInt(args[1]);
        double[] costs = new double[Integer.parseInt(args[2])];
        var threads = ManagementFactory.getThreadMXBean();
        for (int i = 0; i < 20; ++i) allocate(length, arrays);
        for (int i = 0; i < costs.length; ++i) {
            long before = threads.getCurrentThreadCpuTime();
            allocate(length, arrays);
            costs[i] = (double) (threads.getCurrentThreadCpuTime() - before) / arrays;
        }
        System.out.println(Arrays.toString(costs));
    }
}
