package e2e;

/** One long-lived thread and thousands of short-lived ones allocate the same number of bytes. */
public final class Churn {
    static volatile byte[] sink;

    static void allocate(int size, long bytes) {
        for (long done = 0; done < bytes; done += size) sink = new byte[size - 16];
    }

    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[0]);
        int bytesPerThread = Integer.parseInt(args[1]); // a multiple of both sizes
        Thread longLived = new Thread(() -> allocate(48, (long) threads * bytesPerThread), "long-lived");
        longLived.start();
        for (int i = 0; i < threads; ++i) {
            Thread brief = new Thread(() -> allocate(56, bytesPerThread), "brief-" + i % 10);
            brief.start();
            brief.join();
        }
        longLived.join();
        System.out.println("done");
    }
}
