import java.lang.management.ManagementFactory;
import java.util.Locale;
import javax.management.ObjectName;

/**
 * Allocates on one thread, in windows of equal work with and without an agent that it loads into itself, and prints for each
 * pair the CPU time of both in ns: Points AGENT ON OFF PAIRS MS. ON and OFF are what the agent is told; %d in ON becomes the
 * bytes after which 20,000 points a second fall, and %n the number of the pair. Windows take MS each, alone.
 */
public final class Points {
    static final int DEEPEST = 33, SHALLOWEST = 20;
    static final double POINTS_PER_SECOND = 20_000;
    static volatile Object sink;
    static long bytes;

    // Frames from main to here differ from round to round, so there are as many stacks.
    static void descend(int left, int arrays) {
        if (left > 0)
            descend(left - 1, arrays);
        else
            allocate(arrays);
    }

    static void allocate(int arrays) {
        for (int i = 0; i < arrays; ++i) sink = new byte[(i & 15) * 24];
        bytes += arrays / 16 * (16 * 16 + 24 * 120);
    }

    static void work(long rounds) {
        for (long i = 0; i < rounds; ++i) descend(SHALLOWEST + (int) (i % (DEEPEST - SHALLOWEST)), 1600);
    }

    /** Of the calling thread, in ns. */
    static long cpuOf(long rounds) {
        var threads = ManagementFactory.getThreadMXBean();
        long before = threads.getCurrentThreadCpuTime();
        work(rounds);
        return threads.getCurrentThreadCpuTime() - before;
    }

    static void tell(String agent, String what) throws Exception {
        Object answer = ManagementFactory.getPlatformMBeanServer().invoke(
            new ObjectName("com.sun.management:type=DiagnosticCommand"), "jvmtiAgentLoad",
            new Object[] {new String[] {agent, what}}, new String[] {String[].class.getName()});
        if (!answer.toString().contains("return code: 0")) throw new IllegalStateException(what + ": " + answer);
    }

    public static void main(String[] args) throws Exception {
        String agent = args[0];
        int pairs = Integer.parseInt(args[3]);
        double window = Double.parseDouble(args[4]) * 1e6;
        // Compiled, and in a steady state of the collector.
        for (long begin = System.nanoTime(); System.nanoTime() - begin < 2e9;) work(100);
        bytes = 0;
        long begin = System.nanoTime(), rounds = 0;
        for (; System.nanoTime() - begin < window; rounds += 100) work(100);
        long interval = Math.round(bytes / ((System.nanoTime() - begin) * 1e-9) / POINTS_PER_SECOND);
        for (int pair = -1; pair < pairs; ++pair) {  // the first one only loads the agent
            long[] cpu = new long[2];
            for (int i = 0; i < 2; ++i) {
                boolean on = (i + pair & 1) == 0;
                String number = Integer.toString(pair + 1);
                if (on) tell(agent, args[1].replace("%d", Long.toString(interval)).replace("%n", number));
                Thread.sleep(200);
                cpu[on ? 1 : 0] = cpuOf(pair < 0 ? rounds / 10 : rounds);
                if (on) tell(agent, args[2]);
            }
            if (pair >= 0) System.out.println(String.format(Locale.ROOT, "pair %d %d", cpu[0], cpu[1]));
        }
    }
}
