import java.lang.management.ManagementFactory;

/**
 * Allocates arrays of 48 bytes 50 frames deep, none of them inlined, and prints the CPU time that this took, in ns. Warms up
 * first and then waits until the recording has begun, so that nothing else is in it.
 */
public final class Kept {
    static final int DEPTH = 50;
    static volatile Object sink;

    // Frames from main to here: DEPTH.
    static void descend(int left, long arrays) {
        if (left > 0)
            descend(left - 1, arrays);
        else
            allocate(arrays);
    }

    static void allocate(long arrays) {
        for (long i = 0; i < arrays; ++i) sink = new int[8];
    }

    public static void main(String[] args) throws Exception {
        long arrays = Long.parseLong(args[0]), begins = Long.parseLong(args[1]);
        long start = System.nanoTime();
        var threads = ManagementFactory.getThreadMXBean();
        threads.getCurrentThreadCpuTime();
        for (int i = 0; i < 30_000; ++i) descend(DEPTH - 3, 20);
        Thread.sleep(Math.max(0, begins - (System.nanoTime() - start) / 1_000_000));
        long before = threads.getCurrentThreadCpuTime();
        descend(DEPTH - 3, arrays);
        System.out.println(threads.getCurrentThreadCpuTime() - before);
    }
}
