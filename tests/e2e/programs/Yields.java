package e2e;

import java.util.concurrent.Semaphore;

/**
 * Virtual threads (JDK 21 and later) that yield from stacks of all depths, so that the JVM copies each stack into a new object: Yields THREADS.
 * Prints "Small N", the objects it made, or "none" where there are no such threads.
 */
public final class Yields {
    private static final int AT_ONCE = 200, BESIDE = 60;

    static volatile Object sink;

    static void deep(int depth) {
        if (depth == 0) {
            Thread.yield();
            return;
        }
        sink = new Counted.Small();
        deep(depth - 1);
    }

    static void twice(int depth) {
        for (int round = 0; round < 2; ++round) {
            deep(depth);
            for (int i = 0; i < BESIDE; ++i) sink = new Counted.Small();
        }
    }

    public static void main(String[] args) throws Exception {
        java.lang.reflect.Method start;
        try {
            start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        } catch (NoSuchMethodException e) {
            System.out.println("none");
            return;
        }
        Semaphore room = new Semaphore(AT_ONCE);
        long made = 0;
        for (int i = 0; i < Integer.parseInt(args[0]); ++i) {
            int depth = i % 30;
            made += 2 * (depth + BESIDE);
            room.acquire();
            start.invoke(null, (Runnable) () -> {
                twice(depth);
                room.release();
            });
        }
        room.acquire(AT_ONCE);
        System.out.println("Small " + made);
    }
}
