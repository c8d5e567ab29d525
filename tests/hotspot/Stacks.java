import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.math.BigInteger;
import java.security.AccessController;
import java.security.PrivilegedAction;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Allocates under every kind of frame HotSpot has: interpreted, compiled, inlined, native, entered from native code,
 * deoptimised, of redefined and of unloaded classes, of virtual threads. Runs until the agent has compared enough.
 */
@SuppressWarnings("removal")
public class Stacks {
    // Of the agent. retransform: with now, the class anew, mostly with another constant in Redefined.redefined().
    static native void upcall(Runnable runnable);
    static native boolean enough();
    static native void retransform(Class<?> type, boolean now);

    static volatile Object sink;
    static Method target, startVirtual, hidden;

    public static Object[] allocate(int i) {
        Object[] all = {new int[i % 7], new long[3], Integer.valueOf(100000 + i), "x".repeat(i % 5 + 1)};
        sink = all;
        return all;
    }

    static synchronized int locked(int i) {
        return allocate(i).length + new Stacks().lockedToo(i);
    }

    synchronized int lockedToo(int i) {
        Object[] here = {this, i};
        return here.length;
    }

    static int deep(int left, int i) {
        if (left == 0) return allocate(i).length;
        return left % 3 == 0 ? deeper(left - 1, i) : deep(left - 1, i) + 1;
    }

    static int deeper(int left, int i) {
        return deep(left, i) + 2;
    }

    static int overflow(int i) {
        if (i % 2000 == 1999) sink = new int[2];
        return overflow(i + 1) + 1;
    }

    static void loop(int i) {
        for (int k = 0; k < 3000; ++k) {
            sink = new byte[k % 11];
            if (k % 100 == 0) allocate(k);
        }
    }

    interface Shape {
        Object area(int i);
    }

    static final Shape[] SHAPES = {
        i -> new double[i % 3], i -> Integer.toString(i), new Shape() {
            public Object area(int i) {
                return allocate(i);
            }
        }, Stacks::allocate, new Square()};

    static class Square implements Shape {
        public Object area(int i) {
            return new long[] {i, inner(i)};
        }

        private int inner(int i) {
            return new Object[] {i, this}.length;
        }
    }

    static int shapes(int i) {
        int sum = 0;
        for (Shape shape : SHAPES) sum += shape.area(i).hashCode() & 1;
        return sum;
    }

    static void throwing(int i) {
        try {
            if (i % 2 == 0) throw new IllegalStateException("i " + i);
            sink = ((Object) "text" instanceof Integer) ? null : new int[-1];
        } catch (IllegalStateException | NegativeArraySizeException e) {
            sink = e.getStackTrace();
        }
    }

    static int streams(int i) {
        List<String> words = IntStream.range(0, 20).mapToObj(k -> "w" + (k * i % 13)).collect(Collectors.toList());
        words.sort((a, b) -> (a + "x").compareTo(b + "x"));
        TreeMap<String, Integer> map = new TreeMap<>((a, b) -> (a + 1).compareTo(b + 1));
        words.forEach(w -> map.merge(w, 1, Integer::sum));
        return map.size() + words.parallelStream().mapToInt(w -> allocate(w.length()).length).sum();
    }

    public static Object reflected(Integer i) {
        return allocate(i);
    }

    static Object privileged(int i) {
        return AccessController.doPrivileged((PrivilegedAction<Object>) () -> allocate(i));
    }

    static final class Redefined {
        static int redefined(int i, boolean now) {
            int constant = 1234;
            sink = new int[3];
            retransform(Redefined.class, now);
            sink = new long[constant % 7];
            return allocate(constant).length;
        }

        static int caller(int i, boolean now) {
            int sum = 0;
            for (int k = 0; k < 3; ++k) sum += redefined(k, now && k == 1) + allocate(k).length;
            return sum;
        }
    }

    /** Compiled, and deoptimised while it is on the stack. */
    static final class Deoptimised {
        // Too deep to be inlined as a whole.
        static Object outer(int i, boolean now) {
            int[] before = new int[i % 3];
            Object below = i > 0 ? outer(i - 1, now) : inner(i, now);
            return new Object[] {before, below, i};
        }

        static Object inner(int i, boolean now) {
            sink = new int[1];
            retransform(Deoptimised.class, now);
            sink = new int[2];
            return allocate(i);
        }

        static void run(int i) {
            for (int k = 0; k < 40; ++k) sink = outer(k % 8, i % 16 == 0 && k == 23);
        }
    }

    /** Loaded by a loader of its own each time, and let go of. */
    public static final class Unloaded implements Supplier<Object> {
        static final Object START = allocate(1);

        public Object get() {
            Object[] all = new Object[4];
            for (int i = 0; i < 200; ++i) all[i % 4] = make(i);
            return all;
        }

        static Object make(int i) {
            IntFunction<Object> maker = k -> new int[k % 5];
            return new Object[] {maker.apply(i), "s" + i};
        }
    }

    /** Defined as a hidden class, which cannot be looked up by its name. */
    public static final class Hidden implements Supplier<Object> {
        public Object get() {
            Object[] all = new Object[4];
            for (int i = 0; i < 200; ++i) all[i % 4] = new Object[] {allocate(i), Integer.toString(i + 1000)};
            return all;
        }
    }

    static final class Loader extends ClassLoader {
        Loader() {
            super(Stacks.class.getClassLoader());
        }

        Class<?> define(byte[] bytes) {
            return defineClass(null, bytes, 0, bytes.length);
        }
    }

    static byte[] bytesOf(String name) throws Exception {
        try (var stream = Stacks.class.getResourceAsStream(name + ".class")) {
            return stream.readAllBytes();
        }
    }

    @SuppressWarnings("unchecked")
    static void unloading(byte[] bytes) throws Exception {
        Class<?> type = new Loader().define(bytes);
        sink = ((Supplier<Object>) type.getConstructor().newInstance()).get();
    }

    // Only known since 15.
    static void hiddenClass(byte[] bytes) throws Exception {
        if (hidden == null) return;
        Object none = java.lang.reflect.Array.newInstance(Class.forName("java.lang.invoke.MethodHandles$Lookup$ClassOption"), 0);
        MethodHandles.Lookup lookup = (MethodHandles.Lookup) hidden.invoke(MethodHandles.lookup(), bytes, true, none);
        sink = ((Supplier<?>) lookup.lookupClass().getConstructor().newInstance()).get();
    }

    static int yielding(int left) throws Exception {
        if (left == 0) {
            Thread.sleep(1);
            return allocate(left).length;
        }
        int below = yielding(left - 1);
        return below + allocate(left).length;
    }

    static void virtualThreads(int i) throws Exception {
        if (startVirtual == null) return;
        CountDownLatch done = new CountDownLatch(8);
        for (int k = 0; k < 8; ++k) {
            int depth = k * 3;
            startVirtual.invoke(null, (Runnable) () -> {
                try {
                    once(i);
                    yielding(depth);
                    Thread.yield();
                    deep(depth, i);
                } catch (Exception e) {
                    throw new RuntimeException(e);
                } finally {
                    done.countDown();
                }
            });
        }
        done.await();
    }

    static void once(int i) throws Exception {
        allocate(i);
        locked(i);
        deep(i % 60, i);
        shapes(i);
        throwing(i);
        upcall(() -> allocate(i));
        upcall(() -> deep(5, i));
        privileged(i);
        sink = target.invoke(null, i);
        MethodHandle handle = MethodHandles.lookup().findStatic(Stacks.class, "allocate",
                MethodType.methodType(Object[].class, int.class));
        try {
            sink = (Object[]) handle.invokeExact(i);
        } catch (Throwable e) {
            throw new RuntimeException(e);
        }
        Shape proxy = (Shape) Proxy.newProxyInstance(Stacks.class.getClassLoader(), new Class<?>[] {Shape.class},
                (self, method, args) -> allocate((Integer) args[0]));
        sink = proxy.area(i);
        sink = BigInteger.valueOf(i).pow(20).toString();
        sink = String.format("%d %s", i, Arrays.asList(1, i));
    }

    static void run(boolean unload) throws Exception {
        byte[] unloaded = bytesOf("Stacks$Unloaded"), hidden = bytesOf("Stacks$Hidden");
        for (int i = 0; !enough(); ++i) {
            // Deeper than a walk goes. The first ones fill up a TLAB of before.
            for (int k = 0; i % 100 == 0 && k < 300; ++k) deep(1500 + 3 * k, i);
            once(i);
            if (i % 5 == 0) streams(i);
            if (i % 50 == 0) loop(i);
            Redefined.caller(i, unload && i % 8 == 0);
            if (unload) Deoptimised.run(i);
            if (unload && i % 20 == 0) {
                unloading(unloaded);
                hiddenClass(hidden);
            }
            if (unload && i % 100 == 50) System.gc();
            if (unload && i % 25 == 12) virtualThreads(i);
            if (i % 200 == 100) {
                deep(2000, i);
                try {
                    overflow(0);
                } catch (StackOverflowError e) {
                    sink = e;
                }
            }
        }
    }

    public static void main(String[] args) throws Exception {
        target = Stacks.class.getMethod("reflected", Integer.class);
        for (Method method : Thread.class.getMethods())
            if (method.getName().equals("startVirtualThread")) startVirtual = method;
        for (Method method : MethodHandles.Lookup.class.getMethods())
            if (method.getName().equals("defineHiddenClass")) hidden = method;
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 2; ++i) {
            boolean unload = i == 0;
            Thread thread = new Thread(() -> {
                try {
                    run(unload);
                } catch (Throwable e) {
                    e.printStackTrace();
                    System.exit(3);
                }
            });
            thread.start();
            threads.add(thread);
        }
        for (Thread thread : threads) thread.join();
    }
}
