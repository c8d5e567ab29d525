package heaprec;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Lists every object that this thread really allocates on the heap between two points. Nothing is instrumented, so
 * objects that the compiler removed are not listed.
 *
 * <pre>{@code
 * Probe probe = Probe.begin();
 * try (Probe p = probe) {
 *     work();
 * }
 * System.out.println(probe.allocations());
 * }</pre>
 *
 * <p>Measure after the code is compiled: the interpreter allocates objects that escape analysis removes later, and the
 * first run of code loads classes and links lambdas. A virtual thread must not unmount while it is probed.
 */
public final class Probe implements AutoCloseable {
    /** An allocated object. */
    public static final class Allocation {
        /** Its class, as by Class.getTypeName: "java.lang.String", "int[]". */
        public final String className;
        /** Its size in the heap, in bytes. */
        public final long bytes;

        Allocation(String className, long bytes) {
            this.className = className;
            this.bytes = bytes;
        }

        @Override
        public String toString() {
            return className + " (" + bytes + " B)";
        }
    }

    private static final int MOST = 1 << 16;

    private final Thread thread = Thread.currentThread();
    private long handle;
    private List<Allocation> allocations = Collections.emptyList();
    private long count, bytes;
    private boolean whole = true; // all objects were counted

    private Probe() {}

    /**
     * Starts a probe of the current thread.
     *
     * @throws IllegalStateException if this JVM cannot be probed (the agent cannot be loaded, no symbols of libjvm, too
     *     many probes)
     */
    public static Probe begin() {
        Probe probe = new Probe();
        probe.start();
        return probe;
    }

    /** Makes a probe of the current thread that has not begun: see {@link #start}. */
    public static Probe create() {
        return new Probe();
    }

    /**
     * Starts the probe, again after it was closed; what it listed before is forgotten.
     *
     * @throws IllegalStateException as {@link #begin}
     */
    public void start() {
        if (thread != Thread.currentThread()) throw new IllegalStateException("heaprec: another thread's probe");
        if (handle != 0) close();
        allocations = Collections.emptyList();
        count = bytes = 0;
        whole = Agent.isReady();
        if (!whole) return;
        try {
            end0(0); // linked here, not where the JVM's own allocations for it would be seen
            handle = begin0(MOST);
        } catch (UnsatisfiedLinkError e) {
            throw Heaprec.noAgent(e);
        }
    }

    /**
     * Ends the probe; a second call does nothing. Call it on the thread that began the probe. If it runs out of
     * memory, the probe has ended without a result and is not whole.
     */
    @Override
    public void close() {
        if (handle == 0) return;
        if (thread != Thread.currentThread()) throw new IllegalStateException("heaprec: another thread's probe");
        long ending = handle;
        handle = 0; // end0 frees it, whatever fails after that
        whole = false;
        Object[] found = end0(ending);
        String[] names = (String[]) found[0];
        int[] of = (int[]) found[1];
        long[] sizes = (long[]) found[2];
        List<Allocation> all = new ArrayList<>(of.length);
        for (int i = 0; i < of.length; ++i) all.add(new Allocation(names[of[i]], sizes[i]));
        allocations = Collections.unmodifiableList(all);
        count = ((long[]) found[3])[0];
        bytes = ((long[]) found[3])[1];
        whole = ((long[]) found[3])[2] != 0;
    }

    /** Returns the first 65,536 objects in the order of their allocation; empty before {@link #close}. */
    public List<Allocation> allocations() {
        return allocations;
    }

    /** Returns the number of all objects, also of those beyond the first 65,536. */
    public long count() {
        return count;
    }

    /** Returns the bytes of all objects, also of those beyond the first 65,536. */
    public long bytes() {
        return bytes;
    }

    /** Returns whether {@link #allocations} has all objects. */
    public boolean isWhole() {
        return whole && count == allocations.size();
    }

    /** "32 B in 2 objects: 1 int[] (16 B), 1 java.lang.Object (16 B)". */
    @Override
    public String toString() {
        Map<String, long[]> byClass = new LinkedHashMap<>();
        for (Allocation allocation : allocations) {
            long[] sum = byClass.get(allocation.className);
            if (sum == null) byClass.put(allocation.className, sum = new long[2]);
            ++sum[0];
            sum[1] += allocation.bytes;
        }
        StringBuilder text = new StringBuilder().append(bytes).append(" B in ").append(count).append(" objects");
        String before = count == allocations.size() ? ": " : "; the first " + allocations.size() + ": ";
        for (Map.Entry<String, long[]> entry : byClass.entrySet()) {
            text.append(before).append(entry.getValue()[0]).append(' ').append(entry.getKey());
            text.append(" (").append(entry.getValue()[1]).append(" B)");
            before = ", ";
        }
        return whole ? text.toString() : text.append("; not all were counted").toString();
    }

    /**
     * For tests: runs the code once and fails unless it allocates exactly {@code bytes} bytes. Where heaprec does not
     * run ({@link Heaprec#isSupported}) it only runs the code.
     *
     * @throws AssertionError with what it allocated
     */
    public static void assertAllocates(long bytes, Runnable code) {
        Probe probe = begin();
        try {
            code.run();
        } finally {
            probe.close();
        }
        if ((probe.whole && probe.bytes == bytes) || Agent.isAbsent()) return;
        throw new AssertionError("allocated " + probe + ", not " + bytes + " B");
    }

    private static native long begin0(int mostObjects);

    /** Returns class names; for each listed object its class's index and its size; count and bytes of all, 1 if whole. */
    private static native Object[] end0(long handle);
}
