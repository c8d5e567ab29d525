package ways;

import heaprec.jmh.HeaprecProfiler;
import java.lang.management.ManagementFactory;
import java.util.ServiceLoader;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.profile.Profiler;
import org.openjdk.jmh.profile.ProfilerException;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.IterationResultMetaData;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.runner.IterationType;

/** Calls the profiler as JMH does: the argument is its options. An operation allocates 1,016 and 24 bytes. */
public final class Benchmark {
    private static final int OPERATIONS = 200_000, WARMUPS = 2, MEASUREMENTS = 3;
    static Object first, second;

    static void operation() {
        first = new int[250];
        second = new Object[2];
    }

    static final com.sun.management.ThreadMXBean THREADS = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();

    static long allocatedByThisThread() {
        return THREADS.getThreadAllocatedBytes(Thread.currentThread().getId());
    }

    public static void main(String[] args) throws Exception {
        for (Profiler found : ServiceLoader.load(Profiler.class)) System.out.println("found " + found.getClass().getCanonicalName());
        InternalProfiler profiler;
        try {
            profiler = new HeaprecProfiler(args[0]);
        } catch (ProfilerException e) {
            System.out.println(e.getMessage());
            return;
        }
        BenchmarkParams benchmark = new BenchmarkParams("ways.Benchmark.operation");
        for (int i = 0; i < WARMUPS + MEASUREMENTS; ++i) {
            boolean isWarmup = i < WARMUPS;
            IterationParams iteration = isWarmup ? new IterationParams(IterationType.WARMUP, WARMUPS) : new IterationParams(IterationType.MEASUREMENT, MEASUREMENTS);
            profiler.beforeIteration(benchmark, iteration);
            long before = allocatedByThisThread();
            for (int operation = 0; operation < OPERATIONS; ++operation) operation();
            long bytes = allocatedByThisThread() - before;
            Iterable<? extends Result> results = profiler.afterIteration(benchmark, iteration, new IterationResult(new IterationResultMetaData(OPERATIONS)));
            if (isWarmup == new java.io.File(args[0].split("[=;]")[1]).isDirectory()) throw new AssertionError("recording in iteration " + i);
            for (Result<?> result : results) {
                System.out.println(i + " " + result.getLabel() + " " + result.getScore() + " " + result.getScoreUnit() + " own " + (double) bytes / OPERATIONS);
                System.out.print(result.extendedInfo());
            }
        }
    }
}
