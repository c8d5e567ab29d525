package ways;

import heaprec.Heaprec;
import heaprec.Probe;

/** Calls everything where heaprec does not run: the arguments are a system property and its value. */
public final class Elsewhere {
    public static void main(String[] args) {
        System.setProperty(args[0], args[1]);
        Heaprec.label("key", "value");
        Heaprec.load();
        System.out.println(Heaprec.isSupported() + " " + Heaprec.start("") + " " + Heaprec.status() + " " + Heaprec.dump("x") + " " + Heaprec.stop());
        Heaprec.startSampling(1000);
        System.out.println(Heaprec.liveTraces() + " " + Heaprec.garbageTraces());
        Heaprec.stopSampling();
        try (Probe probe = Probe.begin()) {
            System.out.println(probe.isWhole());
        }
        Probe.assertAllocates(0, () -> Work.run(10));
    }
}
