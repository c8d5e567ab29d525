package e2e;

import java.util.concurrent.CountDownLatch;

/** Starts threads at two sites, and one that cannot be. Argument: how many at the first. */
public final class Starts {
    static final CountDownLatch done = new CountDownLatch(1);

    static void await() {
        try {
            done.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    static void spawn(int i) {
        Thread thread = new Thread(Starts::await, "leak-" + i);
        thread.setDaemon(true);
        thread.start();
    }

    static void spawnOne() {
        Thread thread = new Thread(Starts::await, "single");
        thread.setDaemon(true);
        thread.start();
    }

    static void spawnTooLarge() {
        try {
            new Thread(null, Starts::await, "too-large", 1L << 46).start();
            System.out.println("started");
        } catch (OutOfMemoryError e) {
            System.out.println("refused: " + e.getMessage());
        }
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < Integer.parseInt(args[0]); ++i) spawn(i);
        spawnOne();
        spawnTooLarge();
        System.out.println("running");
        Thread.sleep(Long.parseLong(args[1]));
    }
}
