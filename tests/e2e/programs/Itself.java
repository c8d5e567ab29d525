package e2e;

import heaprec.Heaprec;

/**
 * Records itself: starts and stops twice, and says what it was told.
 *
 * <p>Arguments: the folder for the files; the library, if it has to be loaded; "virtual": on a virtual thread, if the
 * JDK has them.
 */
public final class Itself {
    static Object sink;

    static void load(String library) {
        System.setProperty("heaprec.native", library);
        Heaprec.load();
    }

    static String told(java.util.function.Supplier<String> call) {
        try {
            return call.get();
        } catch (IllegalStateException e) {
            return "refused: " + e.getMessage();
        }
    }

    public static void main(String[] args) throws Exception {
        java.lang.reflect.Method start = null;
        try {
            if (args.length > 2) start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        } catch (NoSuchMethodException e) {
            // on this thread
        }
        if (start == null) {
            run(args);
        } else {
            ((Thread) start.invoke(null, (Runnable) () -> run(args))).join();
        }
    }

    static void run(String[] args) {
        System.out.println("before " + told(Heaprec::status));
        if (args.length > 1) load(args[1]);
        for (String name : new String[] {"first", "second"}) {
            System.out.println("start " + told(() -> Heaprec.start("file=" + args[0] + "/" + name + ".bin,rate=20000")));
            System.out.println("again " + told(() -> Heaprec.start("")));
            Heaprec.label("part", name);
            for (int i = 0; i < 50; ++i) sink = new byte[1 << 20];
            System.out.println("stop " + told(Heaprec::stop));
        }
        System.out.println("stop " + told(Heaprec::stop));
        System.out.println("wrong " + told(() -> Heaprec.start("no=thing")));
        System.out.println("after " + told(Heaprec::status));
    }
}
