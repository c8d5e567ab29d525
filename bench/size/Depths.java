import java.util.concurrent.locks.LockSupport;

/** Two threads allocate about 100 MB/s at 40 places, 10 frames deep, for so many milliseconds. */
public final class Depths {
    static final int FRAMES = 8; // below them: run and the place itself
    static final int PLACES = 40;
    static volatile Object sink;

    static void down(int left, int place) {
        if (left > 0) {
            // The path is the place's: each has its own lines.
            switch (place >> (left % 3) & 3) {
                case 0: down(left - 1, place); break;
                case 1: down(left - 1, place); break;
                case 2: down(left - 1, place); break;
                default: down(left - 1, place); break;
            }
        } else {
            allocate(place);
        }
    }

    static void allocate(int place) {
        switch (place & 3) {
            case 0: sink = new byte[200 + 8 * place]; break;
            case 1: sink = new long[100 + place]; break;
            case 2: sink = new Object[50 + place]; break;
            default: sink = new char[2000 + place]; break;
        }
    }

    static void run(long endNanos) {
        int next = 0;
        while (System.nanoTime() < endNanos) {
            for (int i = 0; i < 60; ++i) down(FRAMES, next = (next + 1) % PLACES);
            LockSupport.parkNanos(1_000_000);
        }
    }

    public static void main(String[] args) throws Exception {
        long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000;
        Thread other = new Thread(() -> run(end), "other");
        other.start();
        run(end);
        other.join();
    }
}
