package e2e;

import java.util.concurrent.locks.LockSupport;

/**
 * Allocates for a given time, at a given speed.
 *
 * <p>Arguments: threads, then pairs of milliseconds and MB/s of each (0: as fast as possible; -1: nothing). Threads may be
 * "1+499": the others are born when the first pair is over.
 */
public final class Load {
    static final class Worker extends Thread {
        Object sink;
        final String[] phases;
        final int first;

        Worker(int i, String[] phases, int first) {
            super("load-" + i);
            this.phases = phases;
            this.first = first;
        }

        @Override
        public void run() {
            for (int i = first; i + 1 < phases.length; i += 2) {
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
        String[] threads = args[0].split("\\+");
        int early = Integer.parseInt(threads[0]);
        Worker[] workers = new Worker[early + (threads.length > 1 ? Integer.parseInt(threads[1]) : 0)];
        for (int i = 0; i < early; ++i) (workers[i] = new Worker(i, args, 1)).start();
        System.out.println("running");
        if (early < workers.length) Thread.sleep(Long.parseLong(args[1]));
        for (int i = early; i < workers.length; ++i) (workers[i] = new Worker(i, args, 3)).start();
        for (Worker worker : workers) worker.join();
        System.out.println("done");
    }
}
