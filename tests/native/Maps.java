import java.io.RandomAccessFile;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Maps a file of 8 MB twice, lets the heap grow, and is killed if it is told to. */
public final class Maps {
    static final long BYTES = 8 << 20;
    static final List<MappedByteBuffer> KEPT = new ArrayList<>();
    static final List<byte[]> GROWN = new ArrayList<>();

    static void keep(FileChannel channel, FileChannel.MapMode mode) throws Exception {
        KEPT.add(channel.map(mode, 0, BYTES));
    }

    public static void main(String[] args) throws Exception {
        Path path = Files.createTempFile("maps", ".bin");
        try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
            file.setLength(BYTES);
            keep(file.getChannel(), FileChannel.MapMode.READ_WRITE);
            keep(file.getChannel(), FileChannel.MapMode.PRIVATE);
        }
        for (int i = 0; i < 96; ++i) GROWN.add(new byte[1 << 20]);
        Thread.sleep(300);
        System.out.println("kept " + KEPT.size() + " " + (GROWN.size() > 0));
        if (args.length > 0) {
            System.out.flush();
            new ProcessBuilder("kill", "-9", Long.toString(ProcessHandle.current().pid())).start().waitFor();
            Thread.sleep(60_000);
        }
        Files.delete(path);
        // Behind main nobody would hold this class and what it keeps: the JVM may collect, and unmap.
        System.exit(0);
    }
}
