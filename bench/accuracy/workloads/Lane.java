package workloads;

import java.util.concurrent.locks.LockSupport;

/**
 * Allocates for one thread, or for threads that follow one another, and counts exactly. Only the thread whose turn it is touches it.
 *
 * <p>Units: bytes; bytes per second; nanoseconds of System.nanoTime().
 */
final class Lane {
    private static final long LOOK_BYTES = 1 << 14;
    private static final long LEAST_SLEEP = 200_000;
    /** Time that is not made up for: a thread that was held up must not burst. */
    private static final long FORGIVEN = 20_000_000;

    /** [bin of 100 ms][row] */
    final long[][] bytes;
    final long[][] objects;
    /** What the JVM says that the thread allocated meanwhile. */
    long jvmBytes;

    private final long origin;
    /** What is stored here has escaped: the compiler cannot remove the allocation. */
    private final Object[] ring = new Object[32];
    private int next;
    private int bin;
    private long total;
    private long lookAt;
    private double nanosPerByte;
    private long paceStart;
    private long paceTotal;

    Lane(long origin, int bins) {
        this.origin = origin;
        bytes = new long[bins][Sites.rows];
        objects = new long[bins][Sites.rows];
    }

    long total() {
        return total;
    }

    void allocate(int site, int size) {
        ring[next++ & ring.length - 1] = Sites.make(site, size);
        int row = Sites.row(site, size);
        bytes[bin][row] += size;
        objects[bin][row]++;
        total += size;
    }

    /** From now on at this speed; 0: as fast as possible. */
    void pace(double bytesPerSecond) {
        nanosPerByte = bytesPerSecond > 0 ? 1e9 / bytesPerSecond : 0;
        paceStart = System.nanoTime();
        paceTotal = total;
        look(paceStart);
    }

    /** Waits while ahead of the pace. False once `end` has passed; looks at the clock every LOOK_BYTES only. */
    boolean before(long end) {
        if (total < lookAt) return true;
        long now = System.nanoTime();
        if (nanosPerByte > 0) now = await(now, end);
        look(now);
        return now < end;
    }

    private long await(long now, long end) {
        long due = paceStart + (long) ((total - paceTotal) * nanosPerByte);
        if (due < now - FORGIVEN) paceStart += now - due;
        while (Math.min(due, end) - now > LEAST_SLEEP) {
            LockSupport.parkNanos(Math.min(due, end) - now);
            now = System.nanoTime();
        }
        return now;
    }

    /** Notes the time: what follows is counted in its bin. */
    void look(long now) {
        bin = (int) Math.max(0, Math.min(bytes.length - 1, (now - origin) / Run.BIN_NANOS));
        lookAt = total + LOOK_BYTES;
    }
}
