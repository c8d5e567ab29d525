import java.util.HashMap;
import java.util.Map;

/** Fills a HashMap again and again for the given number of milliseconds. */
public final class Maps {
    static volatile Object sink;

    public static void main(String[] args) {
        long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000;
        while (System.nanoTime() < end) {
            Map<Integer, String> map = new HashMap<>();
            for (int i = 0; i < 10_000; ++i) map.put(i, "value " + i);
            sink = map;
        }
    }
}
