package e2e;

import heaprec.Heaprec;
import heaprec.Trace;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;

/**
 * Samples itself, and asks for what lives and what died: keeps KEPT arrays of bytes and drops DROPPED arrays of ints,
 * all of SIZE bytes, from two threads in turn.
 *
 * <p>Arguments: the library, if it has to be loaded, or "-"; bytes between samples; maximum objects tracked. Or "again"
 * or "codes" and the library.
 */
public final class Traces {
    static final int KEPT = 400, DROPPED = 2000, SIZE = 100_000;
    static final List<byte[]> kept = new ArrayList<>();
    static volatile Object sink;

    static void keep() {
        synchronized (kept) {
            kept.add(new byte[SIZE - 16]);
        }
    }

    static void drop() {
        sink = new int[SIZE / 4 - 4];
    }

    static void half() {
        for (int i = 0; i < DROPPED / 2; ++i) {
            drop();
            if (i % (DROPPED / KEPT) == 0) keep();
        }
    }

    static boolean isOf(Trace trace, String className, String method) {
        if (!trace.className.equals(className) || trace.bytes != SIZE) return false;
        StackTraceElement[] stack = trace.stack();
        return stack[0].getClassName().equals("e2e.Traces") && stack[0].getMethodName().equals(method)
                && stack[0].getFileName().equals("Traces.java") && stack[0].getLineNumber() > 20
                && stack[1].getMethodName().equals("half");
    }

    static void tell(String name, List<Trace> traces, long otherThread) {
        int keeping = 0, dropping = 0, others = 0, wrong = 0;
        double weight = 0;
        for (Trace trace : traces) {
            boolean keeps = isOf(trace, "byte[]", "keep"), drops = isOf(trace, "int[]", "drop");
            if (keeps) ++keeping;
            if (drops) ++dropping;
            if (keeps) weight += trace.weight;
            if ((keeps || drops) && trace.threadId == otherThread) ++others;
            if (trace.uid <= 0 || trace.ageNanos < 0 || trace.weight < trace.bytes) ++wrong;
        }
        System.out.println(name + " " + traces.size() + " kept " + keeping + " dropped " + dropping + " other " + others
                + " wrong " + wrong + " weight " + (long) weight);
    }

    static String residentKilobytes() throws Exception {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("VmRSS:")) return line.replaceAll("[^0-9]", "");
        }
        return "?";
    }

    static void refused(String name, Runnable call) {
        try {
            call.run();
            System.out.println(name + " done");
        } catch (IllegalStateException | IllegalArgumentException e) {
            System.out.println(name + " refused: " + e.getMessage());
        }
    }

    /**
     * Each of 200 threads allocates, waits until the mean distance of sample points is 1,024 times larger, and keeps
     * a MiB more. Prints what the weights of that say.
     */
    static void again(String library) throws Exception {
        int count = 200, pieces = 64;
        Itself.load(library);
        Heaprec.startSampling(1 << 14, 65_536);
        CyclicBarrier barrier = new CyclicBarrier(count + 1);
        Thread[] threads = new Thread[count];
        for (int i = 0; i < count; ++i) {
            threads[i] = new Thread(() -> {
                try {
                    for (int k = 0; k < 100; ++k) sink = new byte[1000];
                    barrier.await();
                    barrier.await();
                    byte[][] own = new byte[pieces][];
                    for (int k = 0; k < pieces; ++k) own[k] = new byte[(1 << 14) - 16];
                    synchronized (kept) {
                        kept.addAll(Arrays.asList(own));
                    }
                } catch (InterruptedException | BrokenBarrierException e) {
                    throw new AssertionError(e);
                }
            });
            threads[i].start();
        }
        barrier.await();
        Heaprec.startSampling(1 << 24, 65_536);
        barrier.await();
        for (Thread thread : threads) thread.join();
        double weight = 0;
        for (Trace trace : Heaprec.liveTraces()) {
            if (trace.bytes == 1 << 14) weight += trace.weight;
        }
        System.out.println("kept " + kept.size() + " weight " + (long) weight);
    }

    static void ints(int length) {
        sink = new int[length];
    }

    /** Prints what ran the code that allocated large arrays: in Java, and copies by a native method. */
    static void codes(String library) {
        Itself.load(library);
        for (int i = 0; i < 50_000; ++i) ints(1);
        Heaprec.startSampling(1, 65_536);
        long[] longs = new long[SIZE];
        Set<String> codes = new TreeSet<>(Comparator.reverseOrder());
        for (int i = 0; i < 100; ++i) {
            ints(SIZE);
            sink = longs.clone();
        }
        for (Trace trace : Heaprec.liveTraces()) add(trace, codes);
        for (Trace trace : Heaprec.garbageTraces()) add(trace, codes);
        codes.forEach(System.out::println);
    }

    static void add(Trace trace, Set<String> codes) {
        boolean isOfJava = trace.stack()[0].getMethodName().equals("ints"), isCopy = trace.stack()[0].getMethodName().equals("clone");
        if (trace.bytes > SIZE && (isOfJava || isCopy)) codes.add(trace.className + " by " + trace.code);
    }

    public static void main(String[] args) throws Exception {
        if (args[0].equals("codes")) {
            codes(args[1]);
            return;
        }
        if (args[0].equals("again")) {
            again(args[1]);
            return;
        }
        refused("before", () -> Heaprec.startSampling(1000));
        if (!args[0].equals("-")) Itself.load(args[0]);
        refused("invalid", () -> Heaprec.startSampling(0));
        refused("start", () -> Heaprec.startSampling(Long.parseLong(args[1]), Integer.parseInt(args[2])));
        half();
        Thread other = new Thread(Traces::half, "other");
        long otherThread = other.getId();
        other.start();
        other.join();
        sink = null;
        System.gc();
        System.gc();
        refused("recording", () -> Heaprec.start(""));
        tell("live", Heaprec.liveTraces(), otherThread);
        tell("recent", Heaprec.garbageTraces(), otherThread);
        tell("sampled", Heaprec.sampledGarbageTraces(), otherThread);
        Trace first = Heaprec.garbageTraces().get(0);
        System.out.println("first " + first);
        Heaprec.stopSampling();
        tell("stopped", Heaprec.liveTraces(), otherThread);
        for (int i = 0; i < 20; ++i) {
            Heaprec.startSampling(1 << 20, 65_536);
            sink = new byte[1 << 20];
            Heaprec.stopSampling();
        }
        System.out.println("resident " + residentKilobytes());
        System.out.println("still " + kept.size());
    }
}
