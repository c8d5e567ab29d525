package e2e;

import heaprec.Heaprec;

/** Copies its recording between objects, again and again. Arguments: where to, rounds, objects in each. */
public final class Recounted {
    static volatile Object sink;

    public static void main(String[] args) {
        int rounds = Integer.parseInt(args[1]);
        int count = Integer.parseInt(args[2]);
        for (int i = 0; i < rounds; ++i) {
            for (int j = 0; j < count; ++j) sink = new Counted.Small();
            System.out.println(Heaprec.dump(args[0] + "/copy-" + i + ".bin"));
        }
        for (int j = 0; j < count; ++j) sink = new Counted.Small();
    }
}
