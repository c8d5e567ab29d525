package e2e;

import heaprec.Heaprec;

/**
 * Allocates a large array of its own size under each of several labels, in several threads.
 *
 * <p>Arguments: the library whose C code sets the labels; or wait and the file to wait for, after a first label.
 */
public final class Labels {
    static Object sink;

    static native void labelInC(String key, String value);

    interface Label {
        void set(String key, String value);
    }

    static void allocate(int megabytes) {
        sink = new byte[(megabytes << 20) - 16];
    }

    static void work(Label label) {
        allocate(1);
        label.set("request", "42");
        allocate(2);
        label.set("request", "43");
        label.set("user", "ä");
        allocate(3);
        label.set("request", null);
        allocate(4);
        label.set("user", null);
        allocate(5);
    }

    public static void main(String[] args) throws Exception {
        Label label = Heaprec::label;
        if (args.length > 1) {
            Heaprec.label("early", "1"); // links, or finds that there is nothing to link to
            System.out.println("running");
            while (!new java.io.File(args[1]).exists()) Thread.sleep(5);
        } else if (args.length > 0) {
            System.load(args[0]);
            label = Labels::labelInC;
        }
        label.set("main", "yes");
        Label of = label;
        Thread thread = new Thread(() -> work(of), "worker");
        thread.start();
        thread.join();
        allocate(6);
        label.set("", "no key");
        label.set("long", "x".repeat(300));
        label.set("main", "y".repeat(240));
        allocate(7);
    }
}
