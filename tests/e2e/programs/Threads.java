package e2e;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CyclicBarrier;

/**
 * Threads that allocate arrays of sizes of their own, before and after they are renamed by another thread, and say
 * "size java-tid os-tid name".
 */
public final class Threads {
    static final int THREADS = 6;

    static final class Worker extends Thread {
        final int index;
        final long ns;
        final CyclicBarrier renamed;
        Object sink;

        Worker(int index, long ns, CyclicBarrier renamed) {
            super("vorher ü " + index);
            this.index = index;
            this.ns = ns;
            this.renamed = renamed;
            setDaemon(index % 2 == 0);
        }

        void allocate(int size) throws Exception {
            String osTid = Files.readSymbolicLink(Path.of("/proc/thread-self")).getFileName().toString();
            synchronized (System.out) {
                System.out.println(size + " " + getId() + " " + osTid + " " + getName());
            }
            long end = System.nanoTime() + ns;
            while (System.nanoTime() < end) sink = new byte[size - 16];
        }

        @Override
        public void run() {
            try {
                allocate(3000 + 16 * index);
                renamed.await(); // all are done
                renamed.await(); // all have their new names
                allocate(4000 + 16 * index);
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        CyclicBarrier renamed = new CyclicBarrier(THREADS + 1);
        Worker[] workers = new Worker[THREADS];
        long ns = Long.parseLong(args[0]) * 1_000_000;
        for (int i = 0; i < THREADS; ++i) (workers[i] = new Worker(i, ns, renamed)).start();
        renamed.await();
        for (Worker worker : workers) worker.setName("danach \uD83D\uDE80 \"" + worker.index + "\"");
        renamed.await();
        for (Worker worker : workers) worker.join();
    }
}
