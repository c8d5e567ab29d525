package workloads;

import com.sun.management.ThreadMXBean;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * One run of a workload: its threads, and the truth about them as JSON.
 *
 * <p>Arguments are key=value: seconds, seed, out (a file; else standard output), and the workload's own.
 */
final class Run {
    static final long BIN_NANOS = 100_000_000;
    static final double MB = 1e6;
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    /** Of System.nanoTime(). */
    final long start;
    final long end;
    /** For the workload's shape: the same for the same seed. */
    final SplittableRandom random;

    private final Map<String, String> arguments = new HashMap<>();
    private final List<Lane> lanes = new ArrayList<>();
    private final List<Thread> threads = new ArrayList<>();
    private final double seconds;
    private final long startEpoch;

    Run(String[] args) {
        for (String arg : args) arguments.put(arg.substring(0, arg.indexOf('=')), arg.substring(arg.indexOf('=') + 1));
        seconds = number("seconds", 10);
        random = new SplittableRandom((long) number("seed", 1));
        allocatedByThread(); // the first call loads classes
        Instant now = Instant.now();
        start = System.nanoTime();
        end = start + (long) (seconds * 1e9);
        startEpoch = now.getEpochSecond() * 1_000_000_000L + now.getNano();
    }

    double number(String key, double otherwise) {
        String value = arguments.get(key);
        return value == null ? otherwise : Double.parseDouble(value);
    }

    interface Body {
        void run(Lane lane, SplittableRandom random);
    }

    /** A lane that lives as long as the run. */
    Lane lane() {
        Lane lane = new Lane(start, (int) Math.ceil(seconds * 1e9 / BIN_NANOS));
        lanes.add(lane);
        return lane;
    }

    /** A thread that allocates on a lane of its own. */
    void worker(String name, Body body) {
        thread(name, counted(lane(), random.split(), body));
    }

    /** A thread whose own allocations, if any, are not part of the truth. */
    void thread(String name, Runnable body) {
        threads.add(new Thread(body, name));
    }

    /** Runs the body on the lane and asks the JVM what the thread allocated. Asking allocates too: that part is measured and taken off. */
    static Runnable counted(Lane lane, SplittableRandom random, Body body) {
        return () -> {
            long first = allocatedByThread();
            long before = allocatedByThread();
            lane.look(System.nanoTime());
            body.run(lane, random);
            lane.jvmBytes += allocatedByThread() - before - (before - first);
        };
    }

    private static long allocatedByThread() {
        return THREADS.getThreadAllocatedBytes(Thread.currentThread().getId());
    }

    /** Starts the threads, waits for them and writes the truth. */
    void finish() throws Exception {
        for (Thread thread : threads) thread.start();
        for (Thread thread : threads) thread.join();
        String file = arguments.get("out");
        if (file == null) {
            writeTruth(System.out);
            return;
        }
        try (PrintStream out = new PrintStream(file)) {
            writeTruth(out);
        }
    }

    private void writeTruth(PrintStream out) {
        long jvmBytes = 0;
        for (Lane lane : lanes) jvmBytes += lane.jvmBytes;
        out.printf("{\"start_ns\": %d, \"seconds\": %s, \"jvm_bytes\": %d,%n\"sites\": [", startEpoch, seconds, jvmBytes);
        String separator = "";
        for (int row = 0; row < Sites.rows; row++) {
            long objects = sumOfRow(row, false);
            if (objects == 0) continue;
            out.printf("%s%n {\"site\": \"%s\", \"class\": \"%s\", \"bytes\": %d, \"objects\": %d}", separator, Sites.method(row),
                    Sites.className(row), sumOfRow(row, true), objects);
            separator = ",";
        }
        out.printf("],%n\"bin_ns\": %d, \"bins\": [", BIN_NANOS);
        int bins = lanes.get(0).bytes.length;
        for (int bin = 0; bin < bins; bin++) {
            out.printf("%s[%d, %d]", bin == 0 ? "" : ", ", sumOfBin(bin, true), sumOfBin(bin, false));
        }
        out.printf("]}%n");
    }

    private long sumOfRow(int row, boolean bytes) {
        long sum = 0;
        for (Lane lane : lanes) {
            for (long[] bin : bytes ? lane.bytes : lane.objects) sum += bin[row];
        }
        return sum;
    }

    private long sumOfBin(int bin, boolean bytes) {
        long sum = 0;
        for (Lane lane : lanes) {
            for (long count : (bytes ? lane.bytes : lane.objects)[bin]) sum += count;
        }
        return sum;
    }
}
