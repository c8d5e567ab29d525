import java.nio.ByteBuffer;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.Deflater;

/** Threads that allocate native memory in every way that Java has, come and go, and start processes, for so many seconds. */
public final class NativeStress {
    static final AtomicLong CHURNED = new AtomicLong();
    static volatile Object sink;

    static void churn(long blocks, long size) {
        Native.churn(blocks * size, size);
        CHURNED.addAndGet(blocks * size);
    }

    static void compress(byte[] text) {
        Deflater deflater = new Deflater();
        deflater.setInput(text);
        deflater.finish();
        sink = deflater.deflate(new byte[text.length]);
        deflater.end();
    }

    static void work(long end) {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        byte[] text = new byte[10_000];
        while (System.nanoTime() < end) {
            churn(random.nextInt(1, 1000), random.nextInt(1, 10_000));
            sink = ByteBuffer.allocateDirect(random.nextInt(1, 100_000));
            compress(text);
        }
    }

    static void start(long end, int threads) throws Exception {
        Thread[] all = new Thread[threads];
        for (int i = 0; i < threads; ++i) {
            all[i] = new Thread(() -> work(end));
            all[i].start();
        }
        for (Thread thread : all) thread.join();
    }

    /** Threads of a moment, and a process each time. */
    static void comeAndGo(long end) throws Exception {
        while (System.nanoTime() < end) {
            start(System.nanoTime() + 10_000_000, 4);
            if (new ProcessBuilder("/bin/true").start().waitFor() != 0) throw new AssertionError("/bin/true");
        }
    }

    public static void main(String[] args) throws Exception {
        System.load(args[0]);
        long end = System.nanoTime() + Long.parseLong(args[1]) * 1_000_000_000L;
        System.out.println("running");
        Thread changing = new Thread(() -> {
            try {
                comeAndGo(end);
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        });
        changing.start();
        start(end, Integer.parseInt(args[2]));
        changing.join();
        System.out.println("churned " + CHURNED);
    }
}
