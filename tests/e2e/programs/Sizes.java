package e2e;

/**
 * Allocates byte arrays of known sizes a known number of times, on known threads, and says how many bytes that was.
 *
 * <p>Arguments: header bytes of an array (0: as this JVM has it), threads at once (0: main), generations of threads, rounds per thread, object sizes.
 */
public final class Sizes {
    private static final class Worker extends Thread {
        private final int header;
        private final int rounds;
        private final int[] sizes;
        byte[] sink;
        long bytes;

        Worker(String name, int header, int rounds, int[] sizes) {
            super(name);
            this.header = header;
            this.rounds = rounds;
            this.sizes = sizes;
        }

        @Override
        public void run() {
            for (int round = 0; round < rounds; ++round) {
                for (int size : sizes) {
                    sink = new byte[size - header];
                    bytes += sink.length + header;
                }
            }
        }
    }

    public static void main(String[] args) throws Exception {
        int header = Integer.parseInt(args[0]);
        if (header == 0) header = Matrix.headerOfArray();
        int threads = Integer.parseInt(args[1]);
        int generations = Integer.parseInt(args[2]);
        int rounds = Integer.parseInt(args[3]);
        int[] sizes = new int[args.length - 4];
        for (int i = 0; i < sizes.length; ++i) sizes[i] = Integer.parseInt(args[4 + i]);
        long bytes = 0;
        for (int generation = 0; generation < generations; ++generation) {
            Worker[] workers = new Worker[Math.max(threads, 1)];
            for (int i = 0; i < workers.length; ++i) {
                workers[i] = new Worker("worker-" + generation + "-" + i, header, rounds, sizes);
                if (threads > 0) workers[i].start();
                else workers[i].run();
            }
            for (Worker worker : workers) {
                worker.join();
                bytes += worker.bytes;
            }
        }
        System.out.println("allocated " + bytes);
        System.err.println("done");
    }
}
