package e2e;

import java.io.InputStream;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Allocates, starts threads, loads classes and forgets them, and collects, all at once, and counts what it makes.
 *
 * <p>Arguments: threads; seconds. Prints how many there were of each of Counted's classes.
 */
public final class Busy {
    /** Of Counted$Early, each time another class of that name. */
    static final class Loader extends ClassLoader {
        static final byte[] BYTES = bytes();

        static byte[] bytes() {
            try (InputStream in = Busy.class.getResourceAsStream("Counted$Early.class")) {
                return in.readAllBytes();
            } catch (java.io.IOException e) {
                throw new java.io.UncheckedIOException(e);
            }
        }

        Class<?> define() {
            return defineClass("e2e.Counted$Early", BYTES, 0, BYTES.length);
        }
    }

    /** So often until each of the classes has been made, on a starved machine, too. */
    static final int AT_LEAST = 1000;

    static volatile Object sink;

    static void load(AtomicLong made) {
        try {
            java.lang.reflect.Constructor<?> make = new Loader().define().getDeclaredConstructor();
            make.setAccessible(true);
            for (int i = 0; i < 100; ++i) sink = make.newInstance();
            made.addAndGet(100);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    public static void main(String[] args) throws Exception {
        int count = Integer.parseInt(args[0]);
        long end = System.nanoTime() + Long.parseLong(args[1]) * 1_000_000_000L;
        AtomicLong early = new AtomicLong(), late = new AtomicLong();
        long[][] made = new long[count][Counted.KINDS];
        Thread[] threads = new Thread[count];
        for (int t = 0; t < count; ++t) {
            int mine = t;
            threads[t] = new Thread(() -> {
                for (int i = 1; i <= AT_LEAST || System.nanoTime() < end; ++i) {
                    for (int j = 0; j < 1000; ++j) Counted.step(1 + i % 100_000 * 20 + j, made[mine]);
                    if (i % 1000 == mine * 7) {
                        Thread brief = new Thread(() -> {
                            for (int k = 0; k < 100; ++k) sink = new Counted.Late();
                            late.addAndGet(100);
                        });
                        brief.start();
                    }
                    if (i % 500 == mine * 3) load(early);
                    if (mine == 0 && i % 50_000 == 0) System.gc();
                }
            }, "busy-" + t);
            threads[t].start();
        }
        for (Thread thread : threads) thread.join();
        Thread.sleep(500); // those that were started last
        long[] all = new long[Counted.KINDS];
        for (long[] one : made) {
            for (int kind = 0; kind < Counted.KINDS; ++kind) all[kind] += one[kind];
        }
        System.out.println("Small " + all[0] + "\nPair " + all[1] + "\nSmall[] " + all[2] + "\nPair[] " + all[3] + "\nEarly "
                + early + "\nLate " + late);
    }
}
