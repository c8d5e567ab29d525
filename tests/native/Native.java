import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Allocates native memory from Java: keeps 64 MB and frees 500 MB through JNI in so many seconds, and keeps 32 direct
 * buffers. With "attach" a native thread allocates 200,000 arrays of 1,000 bytes instead.
 */
public final class Native {
    /** Reachable to the end: a collection on the way out would free them, and the recording say so. */
    static final List<ByteBuffer> BUFFERS = new ArrayList<>();

    static native void keep(long count, long size);

    static native void churn(long bytes, long size);

    static native void attach(long arrays);

    static void keepSome(int rounds) {
        keep(64_000 / rounds, 1_000);
    }

    public static void main(String[] args) throws Exception {
        System.load(args[0]);
        if (args.length > 1 && args[1].equals("attach")) {
            attach(200_000);
            System.out.println("attached");
            return;
        }
        int rounds = 10 * (args.length > 1 ? Integer.parseInt(args[1]) : 1);
        for (int i = 0; i < rounds; ++i) {
            keepSome(rounds);
            churn(500_000_000 / rounds, 500);
            Thread.sleep(100);
        }
        for (int i = 0; i < 32; ++i) BUFFERS.add(ByteBuffer.allocateDirect(1 << 20));
        System.out.println("kept " + BUFFERS.size());
    }
}
