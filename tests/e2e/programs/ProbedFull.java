package e2e;

import heaprec.Probe;

/**
 * Closes a probe twice while the heap is full, and says how many of the two calls failed and what the probe claims. Then
 * allocates more objects than a probe lists.
 */
public final class ProbedFull {
    public static void main(String[] args) {
        Probe probe = Probe.begin();
        Object[] last = null;
        try {
            while (true) last = new Object[] {last};
        } catch (OutOfMemoryError e) {
            // as wanted
        }
        int failures = 0;
        for (int i = 0; i < 2; ++i) {
            try {
                probe.close();
            } catch (OutOfMemoryError e) {
                ++failures;
            }
        }
        boolean held = last != null;
        last = null;
        System.out.println("held " + held + " failures " + failures + " whole " + probe.isWhole());
        Probe next = Probe.begin();
        next.close();
        System.out.println("next whole " + next.isWhole());
        Object kept = null;
        Probe many = Probe.begin();
        for (int i = 0; i < 100000; ++i) kept = new byte[104]; // 120 bytes each
        many.close();
        System.out.println(kept != null ? many : "");
        System.out.println("listed " + many.allocations().size() + " whole " + many.isWhole());
    }
}
