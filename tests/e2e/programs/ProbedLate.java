package e2e;

import heaprec.Probe;
import java.io.File;

/**
 * Begins its first probe once a file exists, and says how many arrays the probe has.
 *
 * <p>Arguments: the file, milliseconds between the begin of the probe and the first array, how many arrays.
 */
public final class ProbedLate {
    static volatile Object sink;

    public static void main(String[] args) throws Exception {
        File begin = new File(args[0]);
        int count = Integer.parseInt(args[2]);
        while (!begin.exists()) Thread.sleep(1);
        Probe probe = Probe.begin();
        Thread.sleep(Integer.parseInt(args[1]));
        for (int i = 0; i < count; ++i) sink = new long[10_000];
        probe.close();
        long arrays = probe.allocations().stream().filter(one -> one.className.equals("long[]")).count();
        System.out.println("arrays " + arrays + " whole " + probe.isWhole());
    }
}
