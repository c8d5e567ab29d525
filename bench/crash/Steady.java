import java.util.concurrent.locks.LockSupport;

/** Allocates about 50 MB/s for so many milliseconds, then says "done". */
public final class Steady {
    static byte[] sink;

    public static void main(String[] args) {
        long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000;
        System.out.println("running");
        while (System.nanoTime() < end) {
            for (int i = 0; i < 50; ++i) sink = new byte[1000];
            LockSupport.parkNanos(1_000_000);
        }
        System.out.println("done");
    }
}
