package e2e;

import heaprec.Probe;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Probes itself, and says where a probe does not tell what was allocated.
 *
 * <p>Arguments: how many random programs, and the library, if it has to be loaded, or "-".
 */
public final class Probed {
    static final class Node {
        Object next;
        long value;
    }

    static volatile Object sink;
    static int failures;

    /** The header up to where such an element may stand, and the elements; all in steps of 8 bytes. */
    static long arrayBytes(long length, long element) {
        return ((header + element - 1 & -element) + length * element + 7) & ~7L;
    }

    static final class Expected {
        final StringBuilder objects = new StringBuilder();
        int count;

        void add(String type, long bytes) {
            objects.append(type).append(' ').append(bytes).append('\n');
            ++count;
        }
    }

    static String told(List<Probe.Allocation> allocations) {
        StringBuilder text = new StringBuilder();
        for (Probe.Allocation one : allocations) text.append(one.className).append(' ').append(one.bytes).append('\n');
        return text.toString();
    }

    static void check(String what, Expected expected, Probe probe) {
        String found = told(probe.allocations());
        if (probe.isWhole() && found.equals(expected.objects.toString())) return;
        if (++failures > 3) return;
        String[] wanted = expected.objects.toString().split("\n");
        String[] got = found.split("\n");
        int at = 0;
        while (at < wanted.length && at < got.length && wanted[at].equals(got[at])) ++at;
        System.out.println(what + ": " + wanted.length + " expected, " + got.length + " found, whole " + probe.isWhole()
                + ", first difference at " + at + ": " + (at < wanted.length ? wanted[at] : "nothing") + ", not "
                + (at < got.length ? got[at] : "nothing"));
    }

    /** Each step is a kind and a length; it allocates what `expect` says. */
    static void run(int[] kinds, int[] lengths) {
        for (int i = 0; i < kinds.length; ++i) {
            switch (kinds[i]) {
                case 0: sink = new Object(); break;
                case 1: sink = new Node(); break;
                case 2: sink = new byte[lengths[i]]; break;
                case 3: sink = new long[lengths[i]]; break;
                case 4: sink = new Object[lengths[i]]; break;
                case 5: sink = new int[3][lengths[i]]; break;
                default: System.gc();
            }
        }
    }

    // Sizes of this JVM, from probes of one object each: the header of an array, a reference, an Object, a Node.
    static long header, reference, object, node;

    static long one(Runnable allocates) {
        Probe probe = Probe.begin();
        allocates.run();
        probe.close();
        return probe.bytes();
    }

    static void expect(int kind, int length, Expected into) {
        switch (kind) {
            case 0: into.add("java.lang.Object", object); break;
            case 1: into.add("e2e.Probed$Node", node); break;
            case 2: into.add("byte[]", arrayBytes(length, 1)); break;
            case 3: into.add("long[]", arrayBytes(length, 8)); break;
            case 4: into.add("java.lang.Object[]", arrayBytes(length, reference)); break;
            case 5:
                into.add("int[][]", arrayBytes(3, reference));
                for (int i = 0; i < 3; ++i) into.add("int[]", arrayBytes(length, 4));
                break;
            default: break;
        }
    }

    static void random(int number) {
        SplittableRandom random = new SplittableRandom(number);
        int steps = 1 + random.nextInt(number % 10 == 0 ? 8000 : 200);
        int[] kinds = new int[steps];
        int[] lengths = new int[steps];
        Expected expected = new Expected();
        for (int i = 0; i < steps; ++i) {
            kinds[i] = random.nextInt(6);
            lengths[i] = random.nextInt(random.nextInt(500) == 0 ? 200_000 : 100);
            if (number % 25 == 0 && random.nextInt(steps) == 0) kinds[i] = 6;
            expect(kinds[i], lengths[i], expected);
        }
        Probe probe = Probe.begin();
        run(kinds, lengths);
        probe.close();
        check("program " + number, expected, probe);
    }

    @SuppressWarnings({"deprecation", "removal"})
    static long boxed(long a, long b) {
        return new Long(a + b).longValue();
    }

    static long boxes() {
        long sum = 0;
        for (int i = 0; i < 1000; ++i) sum += boxed(i, sum);
        return sum;
    }

    static void boxing() {
        boxes(); // loads what it needs
        long[] sums = new long[2];
        long interpreted = one(() -> sums[0] = boxes());
        for (int i = 0; i < 20_000; ++i) sums[1] += boxes();
        long compiled = one(() -> sums[0] = boxes());
        System.out.println("boxing interpreted " + interpreted + " compiled " + compiled);
    }

    public static void main(String[] args) {
        if (args.length > 1 && !args[1].equals("-")) Itself.load(args[1]);
        sink = new int[1][1]; // makes the class
        for (int i = 0; i < 2; ++i) { // the first links the lambdas
            header = one(() -> sink = new byte[0]);
            reference = (one(() -> sink = new Object[1000]) - one(() -> sink = new Object[0])) / 1000;
            object = one(Object::new);
            node = one(Node::new);
        }
        // Sizes are rounded up: the first length that needs 8 bytes more tells the header.
        long empty = header;
        for (int length = 1; length <= 8; ++length) {
            int more = length;
            if (one(() -> sink = new byte[more]) == empty) header = empty - length;
        }
        System.out.println("header " + header + " reference " + reference + " object " + object + " node " + node);
        for (int i = 0; i < Integer.parseInt(args[0]); ++i) random(i);
        System.out.println("failures " + failures);
        if (args.length > 2) return;
        boxing();
        try {
            Probe.assertAllocates(object, Object::new);
            Probe.assertAllocates(0, () -> sink = new byte[100]);
        } catch (AssertionError e) {
            System.out.println(e.getMessage());
        }
    }
}
