import java.util.concurrent.locks.LockSupport;

/** Allocates 50 kB every millisecond, or at the pause given in ms, for the given number of milliseconds; then prints "done". */
public final class Steady {
    static byte[] sink;

    public static void main(String[] args) {
        long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000;
        long pause = args.length > 1 ? Long.parseLong(args[1]) * 1_000_000 : 1_000_000;
        System.out.println("running");
        while (System.nanoTime() < end) {
            for (int i = 0; i < 50; ++i) sink = new byte[1000];
            LockSupport.parkNanos(pause);
        }
        System.out.println("done");
    }
}
