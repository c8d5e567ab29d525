package e2e;

import java.io.File;
import java.lang.management.ManagementFactory;

/**
 * Allocates objects of its own classes, and says how many of each, and how many bytes each thread has allocated.
 *
 * <p>Arguments: steps of each thread; threads; how long they last at least, in ms; and a folder, if the program has to
 * wait at "ready" until there is a file `go` in it, and at "done" for a file `end`.
 */
public final class Counted {
    static class Small {
        int a, b, c;
    }

    static class Pair {
        Object one, other;
        long value;
    }

    /** Before "ready" and after "done": a census in between has none of them. */
    static class Early {
        long value;
    }

    static class Late {
        long value;
    }

    static volatile Object sink;
    static final int KINDS = 4;

    /** How many of Small, Pair, Small[], Small[] outside of TLABs. */
    static void step(int i, long[] made) {
        sink = new Small();
        ++made[0];
        if (i % 2 == 0) {
            sink = new Pair();
            ++made[1];
        }
        if (i % 5 == 0) {
            sink = new Small[i % 37];
            ++made[2];
        }
        if (i % 20_000 == 0) {
            sink = new Pair[500_000];
            ++made[3];
        }
    }

    static void early(int count) {
        for (int i = 0; i < count; ++i) sink = new Early();
    }

    static void await(String file) throws Exception {
        while (!new File(file).exists()) Thread.sleep(10);
    }

    public static void main(String[] args) throws Exception {
        int steps = Integer.parseInt(args[0]);
        int count = Integer.parseInt(args[1]);
        long ms = Long.parseLong(args[2]);
        boolean waits = args.length > 3;
        com.sun.management.ThreadMXBean beans =
                (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        long[][] made = new long[count][KINDS];
        long[] bytes = new long[count], before = new long[count];
        Object gate = new Object();
        boolean[] open = new boolean[1];
        Thread[] threads = new Thread[count];
        for (int t = 0; t < count; ++t) {
            int mine = t;
            threads[t] = new Thread(() -> {
                early(1000 + mine * 37);
                synchronized (gate) {
                    while (!open[0]) {
                        try {
                            gate.wait();
                        } catch (InterruptedException e) {
                            return;
                        }
                    }
                }
                before[mine] = beans.getThreadAllocatedBytes(Thread.currentThread().getId());
                long end = System.nanoTime() + ms * 1_000_000;
                int slice = steps / 100;
                for (int i = 0; i < 100; ++i) {
                    for (int j = 0; j < slice; ++j) step(i * slice + j, made[mine]);
                    while (System.nanoTime() < end - ms * 10_000 * (99 - i)) Thread.yield();
                }
                bytes[mine] = beans.getThreadAllocatedBytes(Thread.currentThread().getId());
            }, "counted-" + t);
            threads[t].start();
        }
        early(500);
        if (waits) {
            Thread.sleep(300); // the threads are at the gate
            System.out.println("ready");
            await(args[3] + "/go");
        }
        synchronized (gate) {
            open[0] = true;
            gate.notifyAll();
        }
        for (Thread thread : threads) thread.join();
        long[] all = new long[KINDS];
        for (long[] one : made) {
            for (int kind = 0; kind < KINDS; ++kind) all[kind] += one[kind];
        }
        StringBuilder text = new StringBuilder();
        text.append("Small ").append(all[0]).append("\nPair ").append(all[1]).append("\nSmall[] ").append(all[2]);
        text.append("\nPair[] ").append(all[3]).append('\n');
        for (int t = 0; t < count; ++t) {
            text.append("counted-").append(t).append(' ').append(bytes[t] - (waits ? before[t] : 0)).append('\n');
        }
        System.out.println(text + "done");
        if (!waits) return;
        await(args[3] + "/end");
        for (int i = 0; i < 1000; ++i) sink = new Late();
        System.out.println("ended");
    }
}
