package e2e;

import java.util.ArrayList;
import java.util.List;

/**
 * Keeps KEPT arrays of bytes and drops DROPPED arrays of ints, all of 100,000 bytes, from two threads in turn; then
 * allocates some more, and collects.
 */
public final class Followed {
    static final int KEPT = 200, DROPPED = 2000, SIZE = 100_000;
    static final List<byte[]> kept = new ArrayList<>();
    static volatile Object sink;

    static void keep() {
        kept.add(new byte[SIZE - 16]);
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

    public static void main(String[] args) throws Exception {
        half();
        Thread other = new Thread(Followed::half, "other");
        other.start();
        other.join();
        for (int i = 0; i < 100; ++i) sink = new long[100_000];
        sink = null;
        System.gc();
        System.gc();
        System.out.println("kept " + kept.size());
    }
}
