package heaprec.jmh;

import java.lang.management.ManagementFactory;
import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.Map;

/**
 * The bytes that all threads allocate between two points, counted by the JVM. Before JDK 21 threads that end in between
 * are missing, as in JMH's own gc profiler.
 */
final class AllocationCounter {
    private final com.sun.management.ThreadMXBean threads =
            (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
    private final Method total = totalOrNull();
    private final Map<Long, Long> before = new HashMap<>();
    private long totalBefore;

    private static Method totalOrNull() {
        try {
            return com.sun.management.ThreadMXBean.class.getMethod("getTotalThreadAllocatedBytes"); // JDK 21
        } catch (NoSuchMethodException e) {
            return null;
        }
    }

    void begin() {
        if (total != null) {
            totalBefore = readTotal();
            return;
        }
        before.clear();
        long[] ids = threads.getAllThreadIds(), bytes = threads.getThreadAllocatedBytes(ids);
        for (int i = 0; i < ids.length; ++i) before.put(ids[i], bytes[i]);
    }

    /** Returns the bytes since {@link #begin}. */
    long end() {
        if (total != null) return readTotal() - totalBefore;
        long[] ids = threads.getAllThreadIds(), bytes = threads.getThreadAllocatedBytes(ids);
        long sum = 0;
        for (int i = 0; i < ids.length; ++i) sum += bytes[i] - before.getOrDefault(ids[i], 0L);
        return sum;
    }

    private long readTotal() {
        try {
            return (Long) total.invoke(threads);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }
}
