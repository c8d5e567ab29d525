/** Allocates objects of 16 bytes in a loop, and prints ns for each of them, round by round. Arguments: rounds, millions in each. */
public final class Worst {
    static final Object[] kept = new Object[16];

    static void round(int count) {
        for (int i = 0; i < count; ++i) kept[i & 15] = new Object();
    }

    public static void main(String[] args) {
        int rounds = Integer.parseInt(args[0]);
        int count = Integer.parseInt(args[1]) * 1_000_000;
        round(count);
        for (int i = 0; i < rounds; ++i) {
            long begin = System.nanoTime();
            round(count);
            System.out.println((System.nanoTime() - begin) / (double) count);
        }
    }
}
