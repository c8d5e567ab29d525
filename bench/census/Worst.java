import java.lang.management.ManagementFactory;

/** Allocates objects of 16 bytes in a loop, and prints ns of its thread's CPU for each, round by round. Arguments: rounds, millions in each. */
public final class Worst {
    static final Object[] kept = new Object[16];

    static void round(int count) {
        for (int i = 0; i < count; ++i) kept[i & 15] = new Object();
    }

    static long cpu() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    public static void main(String[] args) {
        int rounds = Integer.parseInt(args[0]);
        int count = Integer.parseInt(args[1]) * 1_000_000;
        round(count);
        for (int i = 0; i < rounds; ++i) {
            long begin = cpu();
            round(count);
            System.out.println((cpu() - begin) / (double) count);
        }
    }
}
