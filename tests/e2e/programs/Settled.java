package e2e;

/**
 * Keeps COUNT objects of 64 bytes, lets the JVM collect, then makes garbage alone, MEGABYTES of it in SECONDS: Settled COUNT MEGABYTES SECONDS.
 * Prints what it keeps, and ends without another collection of its own.
 */
public final class Settled {
    /** 64 bytes. */
    private static final class Kept {
        long a, b, c, d, e, f;
    }

    static volatile Object sink;

    private static Kept[] keep(int count) {
        Kept[] kept = new Kept[count];
        for (int i = 0; i < count; ++i) kept[i] = new Kept();
        return kept;
    }

    private static void discard() {
        sink = new byte[1000];
    }

    public static void main(String[] args) throws Exception {
        Kept[] kept = keep(Integer.parseInt(args[0]));
        long bytes = Long.parseLong(args[1]) << 20, done = 0, begin = System.nanoTime();
        double pace = Double.parseDouble(args[2]);
        System.gc();
        for (int i = 0; done < bytes; ++i, done += 1016) {
            discard();
            while (i % 256 == 0 && (System.nanoTime() - begin) * 1e-9 * bytes < pace * done) Thread.sleep(1);
        }
        System.out.println("kept " + kept.length);
    }
}
