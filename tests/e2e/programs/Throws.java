package e2e;

import java.io.IOException;
import java.util.concurrent.CountDownLatch;

/**
 * Throws exceptions of three classes at four sites, from several threads, a known number of times each: of every ten
 * throws 1 IllegalState, 3 IOException, 5 Custom by `often`, 1 Custom by `seldom`. Prints how many were thrown and
 * caught.
 *
 * <p>Arguments: threads, throws per thread, throws per second and thread (0: as fast as possible). With `forever` in
 * place of the throws it says "running" and does not end.
 */
public final class Throws {
    static final class Custom extends RuntimeException {
        static final Custom READY = new Custom();

        Custom() {
            super("custom", null, false, false);
        }
    }

    static final class Worker extends Thread {
        final long times;
        final long gapNs;
        long caught;

        Worker(int i, long times, long perSecond) {
            super("throws-" + i);
            this.times = times;
            this.gapNs = perSecond == 0 ? 0 : 1_000_000_000L / perSecond;
        }

        static void illegal() {
            throw new IllegalStateException("illegal");
        }

        static void io() throws IOException {
            throw new IOException("io");
        }

        static void often() {
            throw Custom.READY;
        }

        static void seldom() {
            throw Custom.READY;
        }

        void one(long i) {
            try {
                switch ((int) (i % 10)) {
                    case 0: illegal(); break;
                    case 1: case 2: case 3: io(); break;
                    case 4: seldom(); break;
                    default: often();
                }
            } catch (IllegalStateException | IOException | Custom e) {
                ++caught;
            }
        }

        @Override
        public void run() {
            long next = System.nanoTime();
            for (long i = 0; i < times; ++i) {
                one(i);
                next += gapNs;
                while (gapNs > 0 && System.nanoTime() < next) Thread.onSpinWait();
            }
        }
    }

    static int depth(int n) {
        return depth(n + 1) + 1;
    }

    /** Stacks that overflow: what is done at a throw must do with the little that is left. */
    static int overflows(int times) {
        int caught = 0;
        for (int i = 0; i < times; ++i) {
            try {
                depth(0);
            } catch (StackOverflowError e) {
                ++caught;
            }
        }
        return caught;
    }

    /** Throws two exceptions, the first or the same ones again; both are thrown on by handlers, or past native code. */
    static int again(int i) {
        int caught = 0;
        try {
            try {
                try {
                    synchronized (Throws.class) {
                        if (i % 2 == 0) throw Custom.READY;
                        throw new IllegalStateException();
                    }
                } finally {
                    ++caught;
                }
            } catch (RuntimeException e) {
                throw e;
            }
        } catch (RuntimeException e) {
            ++caught;
        }
        try {
            Class.forName("None", false, new ClassLoader(null) {
                @Override
                protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
                    throw new ClassNotFoundException(name);
                }
            });
        } catch (ClassNotFoundException e) {
            ++caught;
        }
        return caught;
    }

    public static void main(String[] args) throws Exception {
        if (args[0].equals("again")) {
            int caught = 0;
            for (int i = 0; i < Integer.parseInt(args[1]); ++i) caught += again(i);
            System.out.println("caught " + caught);
            return;
        }
        if (args[0].equals("overflow")) {
            System.out.println("caught " + overflows(Integer.parseInt(args[1])));
            return;
        }
        boolean forever = args[1].equals("forever");
        Worker[] workers = new Worker[Integer.parseInt(args[0])];
        for (int i = 0; i < workers.length; ++i) {
            long times = forever ? Long.MAX_VALUE : Long.parseLong(args[1]);
            workers[i] = new Worker(i, times, Long.parseLong(args[2]));
            workers[i].setDaemon(forever);
            workers[i].start();
        }
        if (forever) {
            System.out.println("running");
            new CountDownLatch(1).await();
        }
        long caught = 0;
        for (Worker worker : workers) {
            worker.join();
            caught += worker.caught;
        }
        System.out.println("caught " + caught);
    }
}
