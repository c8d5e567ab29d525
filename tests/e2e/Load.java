package e2e;

import java.util.concurrent.locks.LockSupport;

/**
 * Allocates for a given time, at a given speed.
 *
 * <p>Arguments: threads, then pairs of milliseconds and MB/s (0: as fast as possible; -1: nothing).
 */
public final class Load {
    static final class Worker extends Thread {
        Object sink;
        final String[] phases;

        Worker(int i, String[] phases) {
            super("load-" + i);
            this.phases = phases;
        }

        @Override
        public void run() {
            for (int i = 1; i + 1 < phases.length; i += 2) {
                phase(Long.parseLong(phases[i]) * 1_000_000, Long.parseLong(phases[i + 1]));
            }
        }

        void phase(long ns, long mbPerSecond) {
            long start = System.nanoTime();
            long bytes = 0;
            for (long now = start; now < start + ns; now = System.nanoTime()) {
                // Bytes per microsecond are MB per second.
                if (mbPerSecond < 0 || (mbPerSecond > 0 && bytes > (now - start) / 1000 * mbPerSecond)) {
                    LockSupport.parkNanos(100_000);
                    continue;
                }
                for (int i = 0; i < 20; ++i) sink = new byte[i * 16];
                bytes += 20 * 168;
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Worker[] workers = new Worker[Integer.parseInt(args[0])];
        for (int i = 0; i < workers.length; ++i) (workers[i] = new Worker(i, args)).start();
        System.out.println("running");
        for (Worker worker : workers) worker.join();
        System.out.println("done");
    }
}
