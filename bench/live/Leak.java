import java.util.ArrayList;
import java.util.List;

/**
 * Keeps LEAK MB, in pieces of all sizes, evenly among GARBAGE MB that die; then collects, waits, and says how many bytes
 * of arrays it keeps.
 *
 * <p>Some of the garbage lives for a while: as much as 32 MB of it at a time.
 */
public final class Leak {
    static final List<byte[]> kept = new ArrayList<>();
    static final byte[][] cache = new byte[4096][];
    static volatile Object sink;

    static void leak(int size) {
        kept.add(new byte[size]);
    }

    static void garbage(int size) {
        sink = new byte[size];
    }

    static void cached(int place, int size) {
        cache[place] = new byte[size];
    }

    static long footprint(int size) {
        return (size + 16 + 7) & ~7L;
    }

    public static void main(String[] args) throws Exception {
        long leak = Long.parseLong(args[0]) << 20;
        long garbage = Long.parseLong(args[1]) << 20;
        long kept = 0;
        long died = 0;
        for (long i = 0; kept < leak || died < garbage; ++i) {
            int size = 64 << (i * 0x9E3779B97F4A7C15L >>> 61); // 64 bytes to 8 KB
            if ((double) kept / leak <= (double) died / garbage) {
                leak(size);
                kept += footprint(size);
            } else if (i % 4 == 0) {
                cached((int) (i / 4 % cache.length), size);
                died += footprint(size);
            } else {
                garbage(size);
                died += footprint(size);
            }
        }
        sink = null;
        for (int i = 0; i < 2; ++i) {
            System.gc();
            Thread.sleep(700);
        }
        System.out.println(kept);
    }
}
