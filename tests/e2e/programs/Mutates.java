package e2e;

import java.io.InputStream;
import java.lang.ref.SoftReference;
import java.lang.ref.WeakReference;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntSupplier;

/**
 * Changes graphs of objects from several threads, loads classes and lets go of their loaders, until its input ends; then prints whether each
 * graph is what it should be: "right", or what is wrong.
 */
public final class Mutates {
    static volatile boolean over;

    /** Defines this class again and again. */
    public static final class Unloaded {
        public static final int[] VALUES = new int[100];
    }

    static final class Loader extends ClassLoader {
        Loader() {
            super(Mutates.class.getClassLoader());
        }

        int[] load() throws Exception {
            try (InputStream in = Mutates.class.getResourceAsStream("Mutates$Unloaded.class")) {
                byte[] code = in.readAllBytes();
                return (int[]) defineClass("e2e.Mutates$Unloaded", code, 0, code.length).getField("VALUES").get(null);
            }
        }
    }

    static final class Worker extends Thread {
        final Map<Integer, int[]> map = new HashMap<>();
        final TreeMap<Integer, Object[]> tree = new TreeMap<>();
        final ArrayDeque<IntSupplier> queue = new ArrayDeque<>();
        final List<SoftReference<int[]>> soft = new ArrayList<>();
        final List<WeakReference<int[]>> weak = new ArrayList<>();
        int[][] keptByClass = new int[8][];
        String wrong = "";

        Worker(int i) {
            super("mutator-" + i);
        }

        void expect(boolean is, String what) {
            if (!is) {
                wrong += getName() + ": " + what + "\n";
            }
        }

        void step(int i) throws Exception {
            int key = i % 5000;
            int[] before = map.put(key, new int[] {i, key});
            expect(before == null || (before[0] == i - 5000 && before[1] == key), "map");
            Object[] pair = tree.remove(i - 3000);
            expect(i < 3000 ? pair == null : pair[0] == pair && (Integer) pair[1] == i - 3000, "tree");
            Object[] added = {null, i};
            added[0] = added;
            tree.put(i, added);
            queue.add(() -> i * 31);
            if (queue.size() > 1000) {
                expect(queue.remove().getAsInt() == (i - 1000) * 31, "queue");
            }
            if (i % 100 == 0) {
                int[] value = {i};
                soft.add(new SoftReference<>(value));
                weak.add(new WeakReference<>(value));
            }
            if (i % 2000 == 0) {
                keptByClass[i / 2000 % keptByClass.length] = new Loader().load();
            }
        }

        @Override
        public void run() {
            try {
                for (int i = 0; !over; ++i) {
                    step(i);
                    if (i % 500 == 0) {
                        Thread.sleep(1);
                    }
                    if (soft.size() > 10_000) {
                        soft.clear();
                        weak.clear();
                    }
                }
            } catch (Throwable e) {
                wrong += getName() + ": " + e + "\n";
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Worker[] workers = new Worker[Integer.parseInt(args[0])];
        for (int i = 0; i < workers.length; ++i) {
            workers[i] = new Worker(i);
            workers[i].start();
        }
        System.out.println("ready");
        while (System.in.read() >= 0) {
            continue;
        }
        over = true;
        String wrong = "";
        for (Worker worker : workers) {
            worker.join();
            wrong += worker.wrong;
        }
        System.out.print(wrong.isEmpty() ? "right\n" : wrong);
    }
}
