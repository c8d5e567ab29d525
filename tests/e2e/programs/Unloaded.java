package e2e;

import heaprec.Heaprec;
import heaprec.Trace;
import java.io.IOException;
import java.io.InputStream;
import java.lang.ref.WeakReference;
import java.util.List;

/** Samples objects that the code of a class loader allocates, lets both go, and asks where its garbage came from. */
public final class Unloaded {
    static final int OBJECTS = 300, SIZE = 100_000;
    // Public: the plugin of another loader is in another runtime package.
    public static volatile Object sink;

    /** Loaded once more, by a loader of its own. */
    public static final class Plugin implements Runnable {
        static void allocate() {
            sink = new int[SIZE / 4 - 4];
        }

        @Override
        public void run() {
            for (int i = 0; i < OBJECTS; ++i) allocate();
        }
    }

    static final class Loader extends ClassLoader {
        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.equals(Plugin.class.getName())) return super.loadClass(name, resolve);
            try (InputStream in = Unloaded.class.getResourceAsStream("Unloaded$Plugin.class")) {
                byte[] bytes = in.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length);
            } catch (IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }

    static WeakReference<ClassLoader> runPlugin() throws Exception {
        ClassLoader loader = new Loader();
        Class<?> plugin = loader.loadClass(Plugin.class.getName());
        ((Runnable) plugin.getDeclaredConstructor().newInstance()).run();
        return new WeakReference<>(loader);
    }

    static boolean isOfPlugin(StackTraceElement frame, String method) {
        return frame.getClassName().equals("e2e.Unloaded$Plugin") && frame.getMethodName().equals(method)
                && "Unloaded.java".equals(frame.getFileName()) && frame.getLineNumber() > 15;
    }

    static void tell(String name, List<Trace> traces) {
        int named = 0, unknown = 0;
        for (Trace trace : traces) {
            if (trace.bytes != SIZE) continue;
            StackTraceElement[] stack = trace.stack();
            if (isOfPlugin(stack[0], "allocate") && isOfPlugin(stack[1], "run")) ++named;
            for (StackTraceElement frame : stack) {
                if (frame.getClassName().equals("[unknown]")) ++unknown;
            }
        }
        System.out.println(name + " named " + named + " unknown " + unknown);
    }

    /** Arguments: the library; how many loaders come and go. */
    public static void main(String[] args) throws Exception {
        Itself.load(args[0]);
        Heaprec.startSampling(SIZE / 2, 1000);
        WeakReference<ClassLoader> loader = null;
        for (int i = 0; i < Integer.parseInt(args[1]); ++i) loader = runPlugin();
        sink = null;
        for (int i = 0; i < 20 && loader.get() != null; ++i) {
            System.gc();
            Thread.sleep(20);
        }
        System.out.println("unloaded " + (loader.get() == null));
        tell("recent", Heaprec.garbageTraces());
        tell("sampled", Heaprec.sampledGarbageTraces());
    }
}
