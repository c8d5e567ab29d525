package e2e;

import java.io.InputStream;
import java.lang.ref.SoftReference;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;

/**
 * Arguments: COUNT [DEEP]. Holds COUNT byte arrays in each of some ways, one way behind a list of DEEP nodes; says "ready" and waits for a line. The array i of way w has FIRST + 8 * (w * MOST + i) bytes, header not included.
 */
public final class Held {
    static final int FIRST = 40_000, MOST = 1000;

    static final Map<Integer, byte[]> CACHE = new ConcurrentHashMap<>();
    static final ThreadLocal<List<byte[]>> LOCAL = ThreadLocal.withInitial(ArrayList::new);
    static final List<Supplier<byte[]>> LISTENERS = new ArrayList<>();
    static final Queue<byte[]> QUEUE = new ConcurrentLinkedQueue<>();
    static final Map<Integer, SoftReference<byte[]>> SOFT = new HashMap<>();
    static final Map<Integer, WeakReference<byte[]>> WEAK = new HashMap<>();
    static final List<Object> INNER = new ArrayList<>();
    static final List<Object> LOADERS = new ArrayList<>();
    static final List<byte[]> ONE = new ArrayList<>(), OTHER = new ArrayList<>();
    static final byte[][] ELEMENTS = new byte[MOST][];
    static Node list;
    static Node cycle;
    static volatile Object sink;

    static final class Node {
        Node next;
        byte[] value;

        Node(Node next, byte[] value) {
            this.next = next;
            this.value = value;
        }
    }

    /** Loaded by a loader of its own. */
    public static final class Kept {
        public static final List<Object> VALUES = new ArrayList<>();
    }

    static final class Finalized {
        byte[] value;

        @SuppressWarnings("deprecation")
        @Override
        protected void finalize() {
            sink = value;
        }
    }

    final class Inner {
        final byte[] value;

        Inner(byte[] value) {
            this.value = value;
        }
    }

    static final class Loader extends ClassLoader {
        Loader() {
            super(Held.class.getClassLoader());
        }

        @SuppressWarnings("unchecked")
        List<Object> keep() throws Exception {
            String name = Held.class.getName() + "$Kept";
            try (InputStream in = Held.class.getResourceAsStream("Held$Kept.class")) {
                byte[] code = in.readAllBytes();
                return (List<Object>) defineClass(name, code, 0, code.length).getField("VALUES").get(null);
            }
        }
    }

    static byte[] make(int way, int i) {
        return new byte[FIRST + 8 * (way * MOST + i)];
    }

    static void stay(CountDownLatch begun, CountDownLatch end, Runnable body) {
        Thread thread = new Thread(() -> {
            body.run();
            begun.countDown();
            await(end);
        }, "holder");
        thread.setDaemon(true);
        thread.start();
    }

    static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static void startVirtual(Runnable body) throws Exception {
        try {
            Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, body);
        } catch (NoSuchMethodException e) {
            System.out.println("no virtual threads");
            body.run();
        }
    }

    /** Everything but what a local variable of main holds. */
    static void fill(int count, int deep) throws Exception {
        for (int i = 0; i < deep; ++i) {
            list = new Node(list, null);
        }
        Node end = list;
        while (end.next != null) {
            end = end.next;
        }
        Held outer = new Held();
        Loader loader = new Loader();
        List<Object> kept = loader.keep();
        LOADERS.add(loader);
        for (int i = 0; i < count; ++i) {
            CACHE.put(i, make(0, i));
            byte[] captured = make(2, i);
            LISTENERS.add(() -> captured);
            QUEUE.add(make(3, i));
            SOFT.put(i, new SoftReference<>(make(4, i)));
            WEAK.put(i, new WeakReference<>(make(5, i)));
            end.next = new Node(null, make(6, i));
            end = end.next;
            Node back = new Node(null, make(7, i));
            back.next = new Node(back, null);
            cycle = new Node(new Node(cycle, null), back.value);
            INNER.add(outer.new Inner(make(9, i)));
            new Finalized().value = make(10, i);
            kept.add(make(11, i));
            ELEMENTS[i] = make(12, i);
            byte[] both = make(14, i);
            ONE.add(both);
            OTHER.add(both);
        }
    }

    public static void main(String[] args) throws Exception {
        final int count = Integer.parseInt(args[0]);
        byte[][] onStack = new byte[count][];
        CountDownLatch begun = new CountDownLatch(1), virtual = new CountDownLatch(1), over = new CountDownLatch(1);
        stay(begun, over, () -> {
            for (int i = 0; i < count; ++i) {
                LOCAL.get().add(make(1, i));
            }
        });
        await(begun);
        fill(count, args.length > 1 ? Integer.parseInt(args[1]) : 100_000);
        for (int i = 0; i < count; ++i) {
            onStack[i] = make(8, i);
        }
        startVirtual(() -> {
            byte[][] own = new byte[count][];
            for (int i = 0; i < count; ++i) {
                own[i] = make(13, i);
            }
            virtual.countDown();
            if (Thread.currentThread().getName().isEmpty()) {
                await(over);
            }
            sink = own;
        });
        await(virtual);
        System.out.println("ready");
        System.in.read();
        sink = Collections.singletonList(onStack);
        over.countDown();
    }
}
