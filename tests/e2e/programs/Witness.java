package e2e;

import java.io.RandomAccessFile;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.util.concurrent.locks.LockSupport;

/**
 * Allocates arrays of 1 to 2 MB, each of a size that occurs once, and witnesses each size in a shared mapping after the
 * allocation has returned: whatever kills this process, the kernel keeps what was witnessed.
 *
 * <p>Arguments: witness file, threads, arrays per second and thread.
 */
public final class Witness {
    static final int SLOTS = 4096; // per thread

    static final class Worker extends Thread {
        final MappedByteBuffer witness;
        final int index;
        final int threads;
        final long gapNs;
        byte[] sink;

        Worker(MappedByteBuffer witness, int index, int threads, int perSecond) {
            super("witness-" + index);
            this.witness = witness;
            this.index = index;
            this.threads = threads;
            this.gapNs = 1_000_000_000L / perSecond;
        }

        byte[] allocate(int size) {
            return new byte[size - 16];
        }

        @Override
        public void run() {
            long next = System.nanoTime();
            for (int i = 0; i < SLOTS; ++i) {
                int size = (1 << 20) + 8 * (i * threads + index);
                sink = allocate(size);
                witness.putInt(4 * (index * SLOTS + i), size);
                next += gapNs;
                while (System.nanoTime() < next) LockSupport.parkNanos(100_000);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[1]);
        try (RandomAccessFile file = new RandomAccessFile(args[0], "rw")) {
            MappedByteBuffer witness = file.getChannel().map(FileChannel.MapMode.READ_WRITE, 0, 4L * threads * SLOTS);
            for (int i = 0; i < threads; ++i) new Worker(witness, i, threads, Integer.parseInt(args[2])).start();
            System.out.println("running");
        }
    }
}
