package e2e;

import heaprec.Heaprec;

/** Copies its recording while it goes on. Arguments: where to, rounds. */
public final class Dumps {
    static volatile Object sink;

    static void allocate() {
        for (int i = 0; i < 50; ++i) sink = new byte[1 << 20];
    }

    static String dump(String path) {
        try {
            return Heaprec.dump(path);
        } catch (IllegalStateException e) {
            return "refused: " + e.getMessage();
        }
    }

    public static void main(String[] args) throws Exception {
        int rounds = Integer.parseInt(args[1]);
        for (int i = 0; i < rounds; ++i) {
            allocate();
            System.out.println("dump " + dump(args[0] + "/copy.bin"));
        }
        System.out.println("nowhere " + dump(args[0] + "/no/copy.bin"));
        try {
            Heaprec.dump(null);
        } catch (NullPointerException e) {
            System.out.println("null refused: " + e.getMessage());
        }
        allocate();
        System.out.println("stop " + Heaprec.stop());
        System.out.println("late " + dump(args[0] + "/late.bin"));
    }
}
