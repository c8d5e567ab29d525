package e2e;

/** Keeps the youngest 16 MB of what it allocates, at a few hundred MB/s, so that every collector has work; then asks for a collection. */
public final class Collects {
    private static final int KEPT = 2000;

    public static void main(String[] args) throws Exception {
        byte[][] kept = new byte[KEPT][];
        long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000;
        for (int i = 0; System.nanoTime() - end < 0; ++i) {
            kept[i % KEPT] = new byte[8000 + i % 100];
            if (i % 400 == 0) Thread.sleep(5);
        }
        System.gc();
        Thread.sleep(1100);
        System.out.println(kept[KEPT - 1] == null);
    }
}
