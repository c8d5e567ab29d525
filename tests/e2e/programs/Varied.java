package e2e;

import java.lang.reflect.Array;
import java.lang.reflect.Proxy;
import java.util.concurrent.locks.LockSupport;

/**
 * Never the same twice: each allocation has a stack of its own, 40 frames deep, an array class that was just made, and a
 * thread that lives for it alone.
 *
 * <p>Argument: for how many milliseconds.
 */
public final class Varied {
    public interface Anything {}

    static final int DEPTH = 40;
    static volatile Object sink;

    static void left(int depth, long path, Class<?> type) {
        down(depth, path, type);
    }

    static void right(int depth, long path, Class<?> type) {
        down(depth, path, type);
    }

    /** The bits of `path` choose the way. */
    static void down(int depth, long path, Class<?> type) {
        if (depth == 0) {
            sink = Array.newInstance(type, 100_000);
        } else if ((path & 1) == 0) {
            left(depth - 2, path >> 1, type);
        } else {
            right(depth - 2, path >> 1, type);
        }
    }

    /** The class of a new loader: named com.sun.proxy.$Proxy and a number of its own. */
    static Class<?> newClass() {
        ClassLoader loader = new ClassLoader(Varied.class.getClassLoader()) {};
        return Proxy.newProxyInstance(loader, new Class<?>[] {Anything.class}, (a, b, c) -> null).getClass();
    }

    public static void main(String[] args) throws Exception {
        long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000;
        long path = 0;
        while (System.nanoTime() < end) {
            long way = path += 0x9E3779B97F4A7C15L;
            Thread thread = new Thread(() -> down(DEPTH, way, newClass()), "varied-" + path);
            thread.start();
            thread.join();
            LockSupport.parkNanos(2_000_000);
        }
        System.out.println("done");
    }
}
