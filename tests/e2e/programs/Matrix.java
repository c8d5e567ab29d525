package e2e;

import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * The ground truth of one cell of the matrix of JVMs: each site is a method of its own, makes arrays of one size, and is always
 * called by the same methods.
 *
 * <p>Arguments: threads, rounds per thread, "platform" or "virtual", file for the truth. The truth has a line for each site: its
 * method, size and count; and "threads", the bytes that ThreadMXBean counts for all threads.
 */
public final class Matrix {
    static final int SMALL = 48, MIDDLE = 1000, LARGE = 64_000, HUGE = 3_000_000;
    static final int SMALLS = 400, MIDDLES = 20, LARGES = 1, ROUNDS_PER_HUGE = 50;

    static final class Worker implements Runnable {
        private final int header, rounds;
        private final CountDownLatch done, counted;
        byte[] sink;

        Worker(int header, int rounds, CountDownLatch done, CountDownLatch counted) {
            this.header = header;
            this.rounds = rounds;
            this.done = done;
            this.counted = counted;
        }

        @Override
        public void run() {
            for (int i = 0; i < rounds; ++i) round(i);
            done.countDown();
            try {
                counted.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }

        void round(int number) {
            for (int i = 0; i < SMALLS; ++i) sink = small();
            for (int i = 0; i < MIDDLES; ++i) sink = middle();
            for (int i = 0; i < LARGES; ++i) sink = large();
            if (number % ROUNDS_PER_HUGE == 0) sink = huge();
        }

        byte[] small() {
            return new byte[SMALL - header];
        }

        byte[] middle() {
            return new byte[MIDDLE - header];
        }

        byte[] large() {
            return new byte[LARGE - header];
        }

        byte[] huge() {
            return new byte[HUGE - header];
        }
    }

    private static volatile byte[] seen;

    /** Size of a byte array of this length: what the JVM counts for many of them, over their number. */
    static long sizeOf(int length) {
        final int many = 4000;
        long before = bytesOfThread();
        for (int i = 0; i < many; ++i) seen = new byte[length];
        return (bytesOfThread() - before) / many / 8 * 8;
    }

    /** Where the elements begin: 12, 16, 20 or 24, as the JVM's flags have it. */
    static int headerOfArray() {
        long least = sizeOf(0);
        return (int) (sizeOf(4) == least ? least - 4 : least);
    }

    static com.sun.management.ThreadMXBean threads() {
        return (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
    }

    static long bytesOfThread() {
        return threads().getThreadAllocatedBytes(Thread.currentThread().getId());
    }

    static Thread start(String kind, Worker worker, int i) throws Exception {
        if (kind.equals("virtual")) return (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, worker);
        Thread thread = new Thread(worker, "worker-" + i);
        thread.start();
        return thread;
    }

    static long bytesOfThreads() {
        long sum = 0;
        for (long bytes : threads().getThreadAllocatedBytes(threads().getAllThreadIds())) sum += Math.max(bytes, 0);
        return sum;
    }

    public static void main(String[] args) throws Exception {
        int header = headerOfArray(), threads = Integer.parseInt(args[0]), rounds = Integer.parseInt(args[1]);
        CountDownLatch done = new CountDownLatch(threads), counted = new CountDownLatch(1);
        List<Thread> started = new ArrayList<>();
        for (int i = 0; i < threads; ++i) started.add(start(args[2], new Worker(header, rounds, done, counted), i));
        done.await();
        long all = (long) threads * rounds;
        List<String> truth = new ArrayList<>();
        truth.add("small " + SMALL + " " + all * SMALLS);
        truth.add("middle " + MIDDLE + " " + all * MIDDLES);
        truth.add("large " + LARGE + " " + all * LARGES);
        truth.add("huge " + HUGE + " " + (long) threads * ((rounds + ROUNDS_PER_HUGE - 1) / ROUNDS_PER_HUGE));
        truth.add("threads 1 " + bytesOfThreads());
        counted.countDown();
        for (Thread thread : started) thread.join();
        Files.write(Path.of(args[3]), truth);
        System.out.println("rounds " + all);
        System.err.println("done");
    }
}
