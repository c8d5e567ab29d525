package e2e;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * Holds what it says, in three phases of SECONDS each: small objects that stay, arrays that are replaced, nodes that are let go of in the end.
 * At the beginning of each phase it makes garbage, and says "phase N" when it does nothing but wait any more.
 */
public final class Keeps {
    private static final int SMALL = 400_000, ARRAYS = 12_000, NODES = 300_000, GARBAGE = 6_000_000;

    /** 32 bytes. */
    private static final class Small {
        long a, b;
    }

    /** 24 bytes. */
    private static final class Node {
        final Node next;
        final long value;

        Node(Node next, long value) {
            this.next = next;
            this.value = value;
        }
    }

    private static final List<Small> smalls = new ArrayList<>();
    private static final ArrayDeque<long[]> arrays = new ArrayDeque<>();
    private static Node nodes;
    private static Object sink;

    private static void stay() {
        smalls.add(new Small());
    }

    private static void replace() {
        arrays.addLast(new long[128]);
        if (arrays.size() > ARRAYS) arrays.removeFirst();
    }

    private static void link() {
        nodes = new Node(nodes, nodes == null ? 0 : nodes.value + 1);
    }

    public static void main(String[] args) throws Exception {
        long millis = 1000 * Long.parseLong(args[0]);
        for (int phase = 1; phase <= 3; ++phase) {
            if (phase == 3) nodes = null;
            for (int i = 0; i < GARBAGE; ++i) {
                sink = new int[8 + i % 32];
                if (i % (GARBAGE / SMALL) == 0) stay();
                if (i % (GARBAGE / ARRAYS) == 0) replace();
                if (phase < 3 && i % (GARBAGE / NODES) == 0) link();
            }
            System.out.println("phase " + phase);
            Thread.sleep(millis);
        }
    }
}
