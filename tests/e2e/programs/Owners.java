package e2e;

import java.io.File;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/** Holds heap, direct and mapped buffers and threads, so many megabytes and threads. Arguments: heap, direct, mapped, threads. */
public final class Owners {
    static final List<Object> held = new ArrayList<>();

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < Integer.parseInt(args[0]); ++i) held.add(new byte[1 << 20]);
        for (int i = 0; i < Integer.parseInt(args[1]); ++i) held.add(ByteBuffer.allocateDirect(1 << 20));
        int mapped = Integer.parseInt(args[2]);
        if (mapped > 0) {
            File file = File.createTempFile("owners", ".bin");
            file.deleteOnExit();
            try (RandomAccessFile opened = new RandomAccessFile(file, "rw")) {
                MappedByteBuffer bytes = opened.getChannel().map(FileChannel.MapMode.READ_WRITE, 0, (long) mapped << 20);
                held.add(bytes);
            }
        }
        for (int i = 0; i < Integer.parseInt(args[3]); ++i) {
            Thread thread = new Thread(LockSupport::park);
            thread.setDaemon(true);
            thread.start();
        }
        System.gc();
        System.out.println("running");
        Thread.sleep(600_000);
    }
}
