package e2e;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.zip.Deflater;

/** Ends in the way that is asked for: tests/e2e/ends/endings.py. Arguments: the way, and for tmpfs a folder. */
public final class Endings {
    static final int MIB = 1 << 20;
    static final List<Object> held = new ArrayList<>();
    static Object sink;

    interface Step {
        void run() throws Exception;
    }

    /** Until the process is killed, or nothing is left. */
    static void repeat(int perSecond, Step step) throws Exception {
        while (true) {
            step.run();
            if (perSecond > 0) LockSupport.parkNanos(1_000_000_000 / perSecond);
        }
    }

    static void fillHeap() {
        while (true) held.add(new byte[10_000]);
    }

    // Many small objects fill most of the heap: collecting takes long, and frees little. From then on it fills slowly.
    static void fillSlowly() {
        Map<Integer, Integer> map = new HashMap<>(1 << 20);
        held.add(map);
        for (int i = 0; i < 320_000; ++i) map.put(i, i);
        for (int i = 320_000; ; ++i) {
            for (int j = 0; j < 1000; ++j) sink = new byte[100];
            map.put(i, i);
        }
    }

    static void catchExhaustion() {
        try {
            fillHeap();
        } catch (OutOfMemoryError e) {
            held.clear();
            System.out.println("caught");
        }
    }

    static final byte[] TEXT = new byte[100_000];

    /** 256 KiB of malloc, and nothing on the heap. */
    static void compress() {
        Deflater deflater = new Deflater();
        deflater.setInput(TEXT);
        deflater.deflate(new byte[100]);
        held.add(deflater);
    }

    /** Interpreted, 8000 calls take about a megabyte of the stack. */
    static int descend(int depth) {
        return depth == 0 ? 0 : 1 + descend(depth - 1);
    }

    static void startDeep() {
        Thread thread = new Thread(null, () -> {
            sink = descend(8000);
            LockSupport.park();
        }, "deep-" + held.size(), 16 * MIB);
        thread.setDaemon(true);
        thread.start();
        held.add(thread);
    }

    static void startParked() {
        Thread thread = new Thread(LockSupport::park, "leak-" + held.size());
        thread.setDaemon(true);
        thread.start();
        held.add(thread);
    }

    static final class Loader extends ClassLoader {
        Class<?> define(byte[] bytes) {
            return defineClass(Endings.class.getName(), bytes, 0, bytes.length);
        }
    }

    static void loadClasses() throws Exception {
        byte[] bytes;
        try (InputStream in = Endings.class.getResourceAsStream("Endings.class")) {
            bytes = in.readAllBytes();
        }
        while (true) held.add(new Loader().define(bytes));
    }

    /** zlib reads the stream at address 64. */
    static void crash() throws Exception {
        Method end = Deflater.class.getDeclaredMethod("end", long.class);
        end.setAccessible(true);
        end.invoke(null, 64L);
    }

    /** A request fails, and its handler ends the process. */
    static void handle() {
        try {
            throw new IOException("no such order");
        } catch (IOException e) {
            System.exit(3);
        }
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 100; ++i) sink = new byte[400_000];  // so that main has samples
        switch (args[0]) {
            case "heap":
                repeat(400, () -> held.add(new byte[100_000]));
                break;
            case "malloc":
                repeat(150, Endings::compress);
                break;
            case "buffers":
                repeat(40, () -> held.add(ByteBuffer.allocateDirect(MIB)));
                break;
            case "stacks":
                repeat(40, Endings::startDeep);
                break;
            case "tmpfs":
                try (OutputStream out = Files.newOutputStream(Path.of(args[1], "file"))) {
                    byte[] bytes = new byte[MIB];
                    repeat(40, () -> out.write(bytes));
                }
                break;
            case "fill":
                fillHeap();
                break;
            case "caught":
                catchExhaustion();
                break;
            case "overhead":
                fillSlowly();
                break;
            case "metaspace":
                loadClasses();
                break;
            case "direct":
                repeat(0, () -> held.add(ByteBuffer.allocateDirect(MIB)));
                break;
            case "threads":
                repeat(0, Endings::startParked);
                break;
            case "crash":
                crash();
                break;
            case "handler":
                new Thread(Endings::handle, "http-1").start();
                break;
            case "halt":
                Runtime.getRuntime().halt(4);
                break;
            case "throw":
                throw new IllegalStateException("no configuration");
            case "overflow":
                descend(Integer.MAX_VALUE);
                break;
            default:
                System.out.println("running");
                LockSupport.park();
        }
    }
}
