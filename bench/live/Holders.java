import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;

/**
 * Usage: Holders MIB SEED. Keeps MIB MiB of arrays in known ways, among twice as much garbage; prints each way and the bytes that it holds, "ready", and waits for
 * a line.
 */
public final class Holders {
    static final class Shop {
        final byte[][] carts = new byte[1 << 22][];
        final Map<Integer, byte[]> pages = new HashMap<>();
    }

    static final byte[][] ARRAY = new byte[1 << 22][];
    static final Map<Integer, byte[]> MAP = new HashMap<>();
    static final Map<Integer, byte[]> TREE = new TreeMap<>();
    static final Map<Integer, byte[]> CONCURRENT = new ConcurrentHashMap<>();
    static final List<byte[]> LINKED = new LinkedList<>();
    static final Queue<byte[]> QUEUE = new ArrayDeque<>();
    static final List<Supplier<byte[]>> LISTENERS = new LinkedList<>();
    static final Shop SHOP = new Shop();
    static final ThreadLocal<Map<Integer, byte[]>> LOCAL = ThreadLocal.withInitial(HashMap::new);

    static final String[] WAYS = {"ARRAY", "MAP", "TREE", "CONCURRENT", "LINKED", "QUEUE", "LISTENERS", "carts", "pages", "holder"};
    static final int[] PERCENT = {25, 18, 14, 10, 8, 5, 2, 8, 6, 4};
    static final long[] BYTES = new long[WAYS.length];
    static Object sink;

    static byte[] make(int way, int size) {
        BYTES[way] += (size + 16 + 7) & ~7L;
        return new byte[size];
    }

    static void hold(int way, int i, int size) {
        byte[] made = make(way, size);
        switch (way) {
            case 0 -> ARRAY[i % ARRAY.length] = made;
            case 1 -> MAP.put(i, made);
            case 2 -> TREE.put(i * 7919, made);
            case 3 -> CONCURRENT.put(i, made);
            case 4 -> LINKED.add(made);
            case 5 -> QUEUE.add(made);
            case 6 -> LISTENERS.add(() -> made);
            case 7 -> SHOP.carts[i % SHOP.carts.length] = made;
            case 8 -> SHOP.pages.put(i, made);
            default -> LOCAL.get().put(i, made);
        }
    }

    static void run(long bytes, long seed) {
        Random random = new Random(seed);
        long held = 0;
        for (int i = 0; held < bytes; ++i) {
            int way = 0;
            for (int left = random.nextInt(100); left >= PERCENT[way]; ++way) {
                left -= PERCENT[way];
            }
            int size = 32 + random.nextInt(64 << way % 6);
            hold(way, i, size);
            held += size;
            sink = new byte[2 * size];
        }
    }

    static void start(long bytes, long seed, CountDownLatch filled) {
        Thread holder = new Thread(() -> {
            run(bytes, seed);
            filled.countDown();
            try {
                Thread.sleep(Long.MAX_VALUE);
            } catch (InterruptedException e) {
                sink = e;
            }
        }, "holder");
        holder.setDaemon(true);
        holder.start();
    }

    public static void main(String[] args) throws Exception {
        CountDownLatch filled = new CountDownLatch(1);
        start(Long.parseLong(args[0]) << 20, Long.parseLong(args[1]), filled);
        filled.await();
        for (int way = 0; way < WAYS.length; ++way) {
            System.out.println(WAYS[way] + " " + BYTES[way]);
        }
        System.out.println("ready");
        System.in.read();
    }
}
