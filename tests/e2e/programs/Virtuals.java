package e2e;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Virtual threads (JDK 21 and later) that leave their stacks on the heap again and again, among objects that are counted.
 *
 * <p>Argument: threads. Prints "Small N", or "none" where there are no such threads.
 */
public final class Virtuals {
    static volatile Object sink;

    static int deep(int depth) throws InterruptedException {
        if (depth == 0) {
            Thread.sleep(1);
            return 0;
        }
        sink = new Counted.Small();
        return 1 + deep(depth - 1);
    }

    public static void main(String[] args) throws Exception {
        int count = Integer.parseInt(args[0]);
        AtomicLong made = new AtomicLong();
        CountDownLatch left = new CountDownLatch(count);
        java.lang.reflect.Method start;
        try {
            start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        } catch (NoSuchMethodException e) {
            System.out.println("none");
            return;
        }
        for (int i = 0; i < count; ++i) {
            int depth = i % 50;
            start.invoke(null, (Runnable) () -> {
                try {
                    for (int k = 0; k < 10; ++k) made.addAndGet(deep(depth));
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
                left.countDown();
            });
        }
        left.await();
        System.out.println("Small " + made);
    }
}
