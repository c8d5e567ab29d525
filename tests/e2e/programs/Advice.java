package e2e;

import java.io.BufferedReader;
import java.io.StringReader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.Vector;
import java.util.function.IntConsumer;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * Allocates what one rule of the advice finds, or what none does, again and again.
 *
 * <p>Arguments: a name of RULES or CLEAN. Without one it prints both lists: "rules NAME ..." and "clean NAME ...".
 */
public final class Advice {
    static final Map<String, Work> RULES = new TreeMap<>(), CLEAN = new TreeMap<>();
    // Nothing that a method stores here can be left out by the compiler.
    static final Object[] KEPT = new Object[1024];
    static final String[] WORDS = new String[1000];
    @SuppressWarnings({"unchecked", "rawtypes"})
    static final List<String>[] LISTS = new List[] {
        new ArrayList<>(Arrays.asList("a", "b")), new LinkedList<>(Arrays.asList("c")), Arrays.asList("d", "e"),
        new Vector<>(Arrays.asList("f"))
    };
    static final Logger LOGGER = Logger.getLogger("e2e.advice");
    static Object kept;

    static final class Work {
        final IntConsumer step;
        final int times;

        Work(int times, IntConsumer step) {
            this.times = times;
            this.step = step;
        }
    }

    static {
        for (int i = 0; i < WORDS.length; ++i) WORDS[i] = "word " + i;
        LOGGER.setUseParentHandlers(false);
        LOGGER.setLevel(Level.INFO);

        RULES.put("boxing", new Work(20_000_000, i -> keep(i, i + 1000)));
        RULES.put("buffer", new Work(20_000, i -> keep(i, new BufferedReader(new StringReader("text")))));
        RULES.put("copy", new Work(200_000, i -> keep(i, Settings.ONLY.getValues())));
        RULES.put("empty-array", new Work(20_000_000, i -> keep(i, namesOf(null))));
        RULES.put("empty-collection", new Work(8_000_000, i -> keep(i, new HashMap<String, String>())));
        RULES.put("exception", new Work(400_000, i -> keep(i, numberOf(WORDS[i % 1000]))));
        RULES.put("growth", new Work(60_000, i -> keep(i, listed())));
        RULES.put("iterator", new Work(10_000_000, i -> keep(i, lastOf(LISTS[i & 3]))));
        RULES.put("large-array", new Work(400, i -> kept = new byte[1 << 20]));
        RULES.put("logging", new Work(1_500_000, i -> LOGGER.info("step " + i)));
        RULES.put("string-concat", new Work(300, i -> keep(i, joined())));
        RULES.put("varargs", new Work(10_000_000, i -> keep(i, firstOf(WORDS[1], WORDS[2], WORDS[3]))));

        CLEAN.put("copy-on-write", new Work(200_000, i -> keep(i, Settings.ONLY.with(i % 256))));
        CLEAN.put("counted-loop", new Work(8_000_000, i -> keep(i, new long[] {lengths(LISTS[0])})));
        CLEAN.put("filled-map", new Work(1_000_000, i -> keep(i, mapped())));
        CLEAN.put("large-once", new Work(1_000_000, i -> keep(i, i == 0 ? new byte[1 << 24] : new long[16])));
        CLEAN.put("numbers", new Work(1_000_000, i -> keep(i, new double[] {i, i * 0.5, Math.sqrt(i)})));
        CLEAN.put("objects", new Work(4_000_000, i -> keep(i, new Settings(i))));
        CLEAN.put("plain-arrays", new Work(500_000, i -> keep(i, new byte[i % 1000 + 16])));
        CLEAN.put("presized-builder", new Work(100_000, i -> keep(i, built())));
        CLEAN.put("presized-list", new Work(60_000, i -> keep(i, new ArrayList<>(Arrays.asList(WORDS)).size())));
        CLEAN.put("presized-map", new Work(10_000, i -> keep(i, counted())));
        CLEAN.put("short-texts", new Work(5_000_000, i -> keep(i, WORDS[i % 1000] + ':' + WORDS[i % 7])));
    }

    static void keep(int i, Object object) {
        KEPT[i & 1023] = object;
    }

    /** Copies what it is asked for, and can be changed in a copy. */
    static final class Settings implements Cloneable {
        static final Settings ONLY = new Settings(1);
        private final int[] values;

        Settings(int seed) {
            values = seed == 1 ? new int[256] : null;
        }

        int[] getValues() {
            return values.clone();
        }

        int[] with(int at) {
            int[] changed = values.clone();
            changed[at] = at;
            return changed;
        }
    }

    static String[] namesOf(List<String> found) {
        return found == null ? new String[0] : found.toArray(new String[1]);
    }

    static Object numberOf(String text) {
        try {
            return parsed(text);
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    static Object parsed(String text) {
        if (text.length() > 2) throw new IllegalArgumentException(text);
        return text;
    }

    static List<String> listed() {
        List<String> list = new ArrayList<>();
        for (String word : WORDS) list.add(word);
        return list;
    }

    // Called for lists of several classes, so that the compiler cannot inline iterator() and leave its object out.
    static String lastOf(List<String> list) {
        String last = null;
        for (String one : list) last = one;
        return last;
    }

    static String joined() {
        String all = "";
        for (String word : WORDS) all += word;
        return all;
    }

    // The callee allocates, too: a stack shows the call.
    static Object firstOf(Object... parts) {
        kept = parts;
        return new Object[] {parts[0]}.length > 0 ? new StringBuilder(8) : null;
    }

    static long lengths(List<String> list) {
        long sum = 0;
        for (int i = 0; i < list.size(); ++i) sum += list.get(i).length();
        return sum;
    }

    static Map<String, String> mapped() {
        Map<String, String> map = new HashMap<>();
        map.put("a", "b");
        map.put("c", "d");
        return map;
    }

    static Map<String, String> counted() {
        Map<String, String> map = new HashMap<>(2048);
        for (String word : WORDS) map.put(word, word);
        return map;
    }

    static String built() {
        StringBuilder text = new StringBuilder(2048);
        for (int i = 0; i < 200; ++i) text.append(WORDS[i]);
        return text.toString();
    }

    public static void main(String[] args) {
        if (args.length == 0) {
            System.out.println("rules " + String.join(" ", RULES.keySet()));
            System.out.println("clean " + String.join(" ", CLEAN.keySet()));
            return;
        }
        Work work = RULES.containsKey(args[0]) ? RULES.get(args[0]) : CLEAN.get(args[0]);
        for (int i = 0; i < work.times; ++i) work.step.accept(i);
    }
}
