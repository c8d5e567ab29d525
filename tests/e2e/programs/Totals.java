package e2e;

import com.sun.management.ThreadMXBean;
import com.sun.tools.attach.VirtualMachine;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Says what the JVM itself counts of the bytes that its threads allocate while they are recorded.
 *
 * <p>Arguments: MB that each of four threads allocates; then nothing (the recorder is there from the start), or the path
 * of the agent and its options for each of several recordings in a row. There are threads that work all the time, threads
 * that are idle with half a TLAB, threads that end without having done more, and threads that are born meanwhile. Prints
 * one line for each recording: the bytes.
 */
public final class Totals {
    static final int WORKERS = 4;
    static final int IDLE = 20;
    static final int BRIEF = 50;
    static final ThreadMXBean BEAN = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    /** Bytes of threads that ended, by their own last look. */
    static final AtomicLong ended = new AtomicLong();

    static volatile Object sink;

    static void allocate(long bytes) {
        for (long done = 0; done < bytes; ) {
            int size = 16 + (int) (done % 97) * 8;
            sink = new byte[size];
            done += 16 + size;
            if (done % 1009 == 0) {
                sink = new byte[300_000];
                done += 300_000;
            }
        }
    }

    static Thread start(CountDownLatch ready, CountDownLatch go, long before, long after) {
        Thread thread = new Thread(() -> {
            allocate(before);
            ready.countDown();
            try {
                go.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            allocate(after);
            ended.addAndGet(BEAN.getThreadAllocatedBytes(Thread.currentThread().getId()));
        });
        thread.start();
        return thread;
    }

    /** All threads but the one on which the agent tests itself before a recording begins. */
    static long alive() {
        long sum = ended.get();
        for (ThreadInfo thread : BEAN.getThreadInfo(BEAN.getAllThreadIds())) {
            if (thread == null || thread.getThreadName().equals("Attach Listener")) continue;
            sum += Math.max(0, BEAN.getThreadAllocatedBytes(thread.getThreadId()));
        }
        return sum;
    }

    static void run(long megabytes, String agent, String options) throws Exception {
        CountDownLatch ready = new CountDownLatch(WORKERS + 2 * IDLE);
        CountDownLatch go = new CountDownLatch(1);
        CountDownLatch never = new CountDownLatch(1);
        Thread[] workers = new Thread[WORKERS + IDLE];
        for (int i = 0; i < workers.length; ++i) {
            workers[i] = start(ready, go, 100_000, i < WORKERS ? megabytes << 20 : 0);
        }
        Thread[] idle = new Thread[IDLE];
        for (int i = 0; i < IDLE; ++i) idle[i] = start(ready, never, 50_000, 0);
        ready.await();
        long before = 0;
        if (agent != null) {
            VirtualMachine self = VirtualMachine.attach(Long.toString(ProcessHandle.current().pid()));
            before = alive();
            self.loadAgentPath(agent, options);
            self.detach();
        }
        go.countDown();
        for (Thread worker : workers) worker.join();
        for (int i = 0; i < BRIEF; ++i) start(new CountDownLatch(1), go, 10_000, 0).join();
        long after = alive();
        if (agent != null) {
            VirtualMachine self = VirtualMachine.attach(Long.toString(ProcessHandle.current().pid()));
            self.loadAgentPath(agent, "stop");
            self.detach();
        }
        System.out.println(after - before);
        never.countDown();
        for (Thread thread : idle) thread.join();
    }

    public static void main(String[] args) throws Exception {
        long megabytes = Long.parseLong(args[0]);
        if (args.length == 1) run(megabytes, null, null);
        for (int i = 2; i < args.length; ++i) run(megabytes, args[1], args[i]);
    }
}
