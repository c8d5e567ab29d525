/**
 * Sites with known shares, in a program whose work varies by itself: `grown` has 5 % of the bytes, times FACTOR.
 * Usage: Injected SECONDS FACTOR
 *
 * Each step does the same for all sites in an order that a random generator chooses, and sorts a little in between, so
 * that collections, compilation and the machine's other work fall differently in each run.
 */
public class Injected {
    static final int[] SIZES = {4000, 3000, 2400, 2000, 1600, 1400, 1200, 1000, 800, 600, 400, 300, 200, 150};
    static final int GROWN = 1000;  // of 20,050 bytes with the others' sum of 19,050: 5 %
    static volatile Object sink;
    static long checksum;

    static void step(java.util.Random random, double factor) {
        int first = random.nextInt(SIZES.length);
        for (int i = 0; i < SIZES.length; i++) {
            allocate((first + i) % SIZES.length);
        }
        grown((int) (GROWN * factor));
        int[] sorted = random.ints(64).sorted().toArray();
        checksum += sorted[random.nextInt(sorted.length)];
    }

    static void allocate(int site) {
        switch (site) {
            case 0 -> a0(); case 1 -> a1(); case 2 -> a2(); case 3 -> a3(); case 4 -> a4(); case 5 -> a5();
            case 6 -> a6(); case 7 -> a7(); case 8 -> a8(); case 9 -> a9(); case 10 -> a10(); case 11 -> a11();
            case 12 -> a12();
            default -> a13();
        }
    }

    static void a0() { sink = new byte[SIZES[0]]; }
    static void a1() { sink = new byte[SIZES[1]]; }
    static void a2() { sink = new byte[SIZES[2]]; }
    static void a3() { sink = new byte[SIZES[3]]; }
    static void a4() { sink = new byte[SIZES[4]]; }
    static void a5() { sink = new byte[SIZES[5]]; }
    static void a6() { sink = new byte[SIZES[6]]; }
    static void a7() { sink = new byte[SIZES[7]]; }
    static void a8() { sink = new byte[SIZES[8]]; }
    static void a9() { sink = new byte[SIZES[9]]; }
    static void a10() { sink = new byte[SIZES[10]]; }
    static void a11() { sink = new byte[SIZES[11]]; }
    static void a12() { sink = new byte[SIZES[12]]; }
    static void a13() { sink = new byte[SIZES[13]]; }
    static void grown(int bytes) { sink = new byte[bytes]; }

    public static void main(String[] args) {
        long end = System.nanoTime() + (long) (Double.parseDouble(args[0]) * 1e9);
        double factor = Double.parseDouble(args[1]);
        java.util.Random random = new java.util.Random();
        while (System.nanoTime() < end) {
            for (int i = 0; i < 100; i++) step(random, factor);
        }
        System.out.println(checksum);
    }
}
