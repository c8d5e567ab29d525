import java.lang.management.ManagementFactory;

/**
 * Allocates arrays of 48 bytes 50 frames deep, none of them inlined, and prints the CPU time that this took, in ns:
 * Kept ARRAYS BEGINS [new]. Warms up first and then waits until BEGINS ms after its start, when the recording has begun, so
 * that nothing else is in it. All on one stack; with `new` each on another one.
 */
public final class Kept {
    static final int DEPTH = 50;
    static volatile Object sink;

    // Frames from main to here: DEPTH. The bits of `path` choose the way.
    static void one(int left, long path, long arrays) {
        if (left == 0)
            allocate(arrays);
        else if ((path & 1) == 0)
            one(left - 1, path >>> 1, arrays);
        else
            other(left - 1, path >>> 1, arrays);
    }

    static void other(int left, long path, long arrays) {
        if (left == 0)
            allocate(arrays);
        else if ((path & 1) == 0)
            one(left - 1, path >>> 1, arrays);
        else
            other(left - 1, path >>> 1, arrays);
    }

    static void allocate(long arrays) {
        for (long i = 0; i < arrays; ++i) sink = new int[8];
    }

    static long pathOf(long i) {
        return i * 0x9e3779b97f4a7c15L;
    }

    public static void main(String[] args) throws Exception {
        long arrays = Long.parseLong(args[0]), begins = Long.parseLong(args[1]);
        boolean fresh = args.length > 2;
        long start = System.nanoTime(), spent = 0;
        var threads = ManagementFactory.getThreadMXBean();
        threads.getCurrentThreadCpuTime();
        for (int i = 0; i < 30_000; ++i) one(DEPTH - 3, pathOf(-i), 20);
        Thread.sleep(Math.max(0, begins - (System.nanoTime() - start) / 1_000_000));
        long step = fresh ? 50 : arrays;  // new stacks fill the ring fast: its reader gets time to follow
        for (long done = 0; done < arrays; done += step) {
            long before = threads.getCurrentThreadCpuTime();
            if (fresh)
                for (long i = done; i < done + step; ++i) one(DEPTH - 3, pathOf(i + 1), 1);
            else
                one(DEPTH - 3, 0, arrays);
            spent += threads.getCurrentThreadCpuTime() - before;
            if (fresh) Thread.sleep(5);
        }
        System.out.println(spent);
    }
}
