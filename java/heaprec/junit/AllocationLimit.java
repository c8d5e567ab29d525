package heaprec.junit;

import heaprec.Heaprec;
import heaprec.Probe;
import heaprec.Trace;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;
import org.junit.platform.commons.support.AnnotationSupport;

/** Measures tests with {@link AllocatesAtMost}. */
final class AllocationLimit implements InvocationInterceptor {
    private static final int PROBED = 20, MAX_FRAMES = 6;
    private static final int MAX_TRACES = 65_536, MAX_BATCHES = 64, FILLER_BYTES = 1 << 17;
    private static byte[] filler; // so that the thread gets a new TLAB
    private static final long MAX_WARMUP_NS = 10_000_000_000L;
    // Time for the compiler before too much is a failure: processor time, because on a busy machine the compiler waits, too.
    private static final long PATIENCE_CPU_NS = 2_000_000_000L, PATIENCE_NS = 60_000_000_000L;

    @Override
    public void interceptTestMethod(Invocation<Void> invocation, ReflectiveInvocationContext<Method> call, ExtensionContext context)
            throws Throwable {
        invocation.proceed();
        check(call);
    }

    @Override
    public void interceptTestTemplateMethod(
            Invocation<Void> invocation, ReflectiveInvocationContext<Method> call, ExtensionContext context) throws Throwable {
        invocation.proceed();
        check(call);
    }

    private static void check(ReflectiveInvocationContext<Method> call) throws Throwable {
        Method method = call.getExecutable();
        AllocatesAtMost limit = AnnotationSupport.findAnnotation(method, AllocatesAtMost.class).orElse(null);
        if (limit == null) return;
        if (limit.bytes() == Long.MAX_VALUE && limit.objects() == Long.MAX_VALUE) {
            throw new IllegalArgumentException("@AllocatesAtMost of " + method.getName() + ": give bytes or objects");
        }
        try {
            Heaprec.load();
        } catch (IllegalStateException e) {
            throw new AssertionError(e.getMessage(), e);
        }
        if (!Heaprec.isSupported()) return;
        MethodHandle handle = handleOf(call);
        warmUp(handle, limit.warmup());
        Round round = new Round(handle);
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long end = System.nanoTime() + PATIENCE_NS, cpuEnd = threads.getCurrentThreadCpuTime() + PATIENCE_CPU_NS;
        while (!isWithin(limit, round) && threads.getCurrentThreadCpuTime() < cpuEnd && System.nanoTime() < end) {
            warmUp(handle, limit.warmup());
            round = new Round(handle);
        }
        if (!isWithin(limit, round)) throw new AssertionError(message(method, limit, round, sites(handle, method)));
    }

    private static void warmUp(MethodHandle handle, int calls) throws Throwable {
        long end = System.nanoTime() + MAX_WARMUP_NS;
        for (int i = 0; i < calls && System.nanoTime() < end; ++i) handle.invokeExact();
    }

    private static boolean isWithin(AllocatesAtMost limit, Round round) {
        return round.typical().bytes() <= limit.bytes() && round.typical().count() <= limit.objects();
    }

    private static MethodHandle handleOf(ReflectiveInvocationContext<Method> call) throws IllegalAccessException {
        Method method = call.getExecutable();
        method.setAccessible(true);
        MethodHandle handle = MethodHandles.lookup().unreflect(method);
        if (call.getTarget().isPresent()) handle = handle.bindTo(call.getTarget().get());
        handle = MethodHandles.insertArguments(handle, 0, call.getArguments().toArray());
        return handle.asType(MethodType.methodType(void.class));
    }

    /** Probed calls, by what they allocated. */
    private static final class Round {
        private final Map<String, List<Probe>> outcomes = new LinkedHashMap<>();

        Round(MethodHandle handle) throws Throwable {
            List<Probe> probes = new ArrayList<>(PROBED);
            for (int i = 0; i < PROBED; ++i) {
                Probe probe = Probe.begin();
                try {
                    handle.invokeExact();
                } finally {
                    probe.close();
                }
                probes.add(probe);
            }
            for (Probe probe : probes) outcomes.computeIfAbsent(probe.toString(), unused -> new ArrayList<>()).add(probe);
        }

        /** What most calls allocated, as text. */
        String name() {
            return Collections.max(outcomes.entrySet(), Comparator.comparingInt(entry -> entry.getValue().size())).getKey();
        }

        Probe typical() {
            return outcomes.get(name()).get(0);
        }

        int frequency() {
            return outcomes.get(name()).size();
        }
    }

    /** What a call allocates, by class, code and stack below the test: bytes and objects of many calls; empty: not known. */
    private static Map<String, long[]> sites(MethodHandle handle, Method method) throws Throwable {
        Map<String, long[]> sums = new LinkedHashMap<>();
        try {
            Heaprec.startSampling(1, MAX_TRACES); // every object, from the thread's next TLAB
        } catch (IllegalStateException e) {
            return sums; // this JVM is being recorded, or cannot be sampled
        }
        try {
            for (int batch = 0; batch < MAX_BATCHES && sums.isEmpty(); ++batch) {
                filler = new byte[FILLER_BYTES];
                for (int i = 0; i < PROBED; ++i) handle.invokeExact();
                for (Trace trace : Heaprec.liveTraces()) add(trace, method, sums);
                for (Trace trace : Heaprec.garbageTraces()) add(trace, method, sums);
            }
        } finally {
            Heaprec.stopSampling();
        }
        return sums;
    }

    private static void add(Trace trace, Method method, Map<String, long[]> sums) {
        String stack = stackBelow(method, trace.stack());
        if (stack == null) return;
        long[] sum = sums.computeIfAbsent(trace.className + ", allocated by " + trace.code + stack, unused -> new long[2]);
        sum[0] += trace.bytes;
        ++sum[1];
    }

    /** Returns the frames from the allocation to the test's method; null if the test is not among them. */
    private static String stackBelow(Method method, StackTraceElement[] stack) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < stack.length; ++i) {
            boolean isTest = stack[i].getMethodName().equals(method.getName())
                    && stack[i].getClassName().equals(method.getDeclaringClass().getName());
            if (i < MAX_FRAMES || isTest) text.append("\n        at ").append(stack[i]);
            if (i == MAX_FRAMES && !isTest) text.append("\n        ...");
            if (isTest) return text.toString();
        }
        return null;
    }

    private static String message(Method method, AllocatesAtMost limit, Round round, Map<String, long[]> sites) {
        Probe typical = round.typical();
        StringBuilder text = new StringBuilder().append(method.getDeclaringClass().getSimpleName()).append('.').append(method.getName());
        text.append(": a call allocates ").append(typical);
        text.append("; allowed: ");
        if (limit.bytes() != Long.MAX_VALUE) text.append(limit.bytes()).append(" B");
        if (limit.objects() != Long.MAX_VALUE) text.append(limit.bytes() != Long.MAX_VALUE ? ", " : "").append(limit.objects()).append(" objects");
        if (round.frequency() < PROBED) text.append(" (").append(round.frequency()).append(" of ").append(PROBED).append(" calls did)");
        double calls = Math.max(1, sites.values().stream().mapToLong(sum -> sum[0]).sum()) / (double) Math.max(1, typical.bytes());
        sites.entrySet().stream().sorted((a, b) -> Long.compare(b.getValue()[0], a.getValue()[0])).forEach(entry -> {
            double bytes = entry.getValue()[0] / calls, objects = entry.getValue()[1] / calls;
            text.append(String.format(Locale.ROOT, "%n    %s B in %s object%s: %s", number(bytes), number(objects),
                    number(objects).equals("1") ? "" : "s", entry.getKey()));
        });
        return text.toString();
    }

    private static String number(double value) {
        return Math.abs(value - Math.rint(value)) < 0.05 ? String.valueOf(Math.round(value)) : String.format(Locale.ROOT, "%.1f", value);
    }
}
