package heaprec;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;

/**
 * Records this JVM, labels the samples of its threads, for example with a request, user or test, and samples without a
 * recording: the program then gets the sampled objects that are live, and those that died.
 *
 * <p>{@link #start}, {@link #startSampling} and {@link Probe#begin} load the agent of heaprec.jar, unless the JVM has
 * one. Where heaprec does not run (JDK 8, musl, other platforms; {@link #isSupported}) one line on standard error says
 * so, and all methods do nothing: they return null, or an empty list.
 */
public final class Heaprec {
    // True until a call finds no agent; an agent loaded later sets it again. A race costs one more failing call.
    private static boolean linked = true;

    private static volatile boolean found; // the agent; it stays

    private static final int MAX_TRACKED = 65_536;

    private Heaprec() {}

    /**
     * Labels the samples of the current thread from now on.
     *
     * <p>A thread has room for 255 bytes of labels: each takes "key=value" and one byte more. A label that does not fit
     * is not set. Labels of virtual threads are ignored.
     *
     * @param key without '='; a thread has one label per key
     * @param value null removes the label
     */
    public static void label(String key, String value) {
        if (!linked || key == null) return;
        try {
            label0(key, value);
        } catch (UnsatisfiedLinkError e) {
            linked = false;
        }
    }

    /** Returns whether heaprec runs in this JVM: JDK 11 or later, HotSpot, Linux with glibc, x86-64 or aarch64. */
    public static boolean isSupported() {
        return Platform.objection() == null;
    }

    /**
     * Loads the agent, unless this JVM has it: from heaprec.jar, or what the system property heaprec.native names.
     *
     * @throws IllegalStateException with the reason if it cannot be loaded
     */
    public static void load() {
        Agent.isReady();
    }

    /**
     * Registers {@link HeaprecMXBean} with this JVM's platform MBean server, for consoles and actuators. A second call
     * does nothing, from whichever class loader.
     */
    public static void registerMXBean() {
        RecorderBean.register();
    }

    /**
     * Starts a recording.
     *
     * @param options agent options, such as "file=rec.hrec,rate=150"; may be empty
     * @return the path of the recording
     * @throws IllegalStateException with the agent's reason if it cannot record: a recording is running, an option is
     *     unknown, the file cannot be created, the agent cannot be loaded
     */
    public static String start(String options) {
        if (!Agent.isReady()) return null;
        String answer = ask("start" + (options.isEmpty() ? "" : "," + options));
        return answer.startsWith("recording ") ? answer.substring("recording ".length()) : answer;
    }

    /**
     * Ends the recording. Returns when the file is complete.
     *
     * @return the path of the recording
     * @throws IllegalStateException if no recording is running
     */
    public static String stop() {
        return Agent.isAbsent() ? null : ask("stop");
    }

    /**
     * Copies the recording so far; the recording continues. The copy has everything allocated before the call, so the
     * call waits up to a second, for the end of the throttle interval. (At rates below 1/s intervals are longer, and the
     * copy leaves out the open one.)
     *
     * @param path the file, like the option {@code file}: if "now.hrec" exists, the copy is "now-1.hrec"
     * @return the path of the copy, a complete recording
     * @throws IllegalStateException if no recording is running, or the file cannot be written
     */
    public static String dump(String path) {
        Objects.requireNonNull(path, "path");
        if (Agent.isAbsent()) return null;
        try {
            return okay(dump0(path));
        } catch (UnsatisfiedLinkError e) {
            throw noAgent(e);
        }
    }

    /** Returns "recording FILE", "waiting" (for its delay) or "idle". */
    public static String status() {
        return Agent.isAbsent() ? null : ask("status");
    }

    /**
     * Returns the rows of {@code heaprec top}, largest first, by running the command.
     *
     * @param recording its path; it may be running
     * @param by "site", "class", "thread", "package", ... as of the option --by
     * @param limit maximum number of rows; 0: all
     * @throws IOException if the command cannot be run, or refuses the file
     */
    public static List<TopRow> top(String recording, String by, int limit) throws IOException {
        return TopRow.ofRecording(recording, by, limit);
    }

    /**
     * Runs a heaprec command, such as {@code runCommand("report", "-o", "app.html", "app.hrec")}.
     *
     * @return the lines that it prints
     * @throws IOException if it cannot be run, or exits with another code than 0: with what it says
     */
    public static List<String> runCommand(String... arguments) throws IOException {
        return Command.run(arguments);
    }

    /** {@link #startSampling(long, int)} with up to 4,096 tracked objects. */
    public static void startSampling(long everyBytes) {
        startSampling(everyBytes, 4096);
    }

    /**
     * Samples the allocations of all threads, writes nothing, and tracks the sampled objects by weak references until
     * they die. Sample points are random, on average one per {@code everyBytes} bytes of a thread, so no loop can
     * synchronize with them, and sums of {@link Trace#weight} are unbiased estimates of the allocated bytes. A second
     * call changes {@code everyBytes} only; sums do not include what each thread allocates from then until its
     * next TLAB.
     *
     * @param everyBytes mean distance of sample points; 524,288 costs next to nothing
     * @param maxTracked maximum number of tracked objects, up to 65,536; if all entries are taken, a new object replaces a
     *     random one, and sums of weights of live objects are too small
     * @throws IllegalStateException if a recording is running (the JVM has one sampling mechanism), or this JVM cannot be
     *     sampled
     */
    public static void startSampling(long everyBytes, int maxTracked) {
        if (everyBytes < 1) throw new IllegalArgumentException("everyBytes: " + everyBytes);
        if (maxTracked < 1 || maxTracked > MAX_TRACKED) throw new IllegalArgumentException("maxTracked: " + maxTracked);
        if (Agent.isReady()) sample(everyBytes, maxTracked);
    }

    /** Ends the sampling and forgets the live objects; the dead ones are still available. Does nothing if none runs. */
    public static void stopSampling() {
        if (!Agent.isAbsent()) sample(0, 0);
    }

    /**
     * Returns the tracked objects that no collection has found dead so far.
     *
     * @throws IllegalStateException if the agent is not loaded
     */
    public static List<Trace> liveTraces() {
        return traces(0);
    }

    /** Returns the sampled objects that were found dead last, at most 200, latest first. */
    public static List<Trace> garbageTraces() {
        return traces(1);
    }

    /** Returns 200 of all sampled objects that were found dead, each with the same probability. */
    public static List<Trace> sampledGarbageTraces() {
        return traces(2);
    }

    private static void sample(long everyBytes, int maxTracked) {
        String why;
        try {
            why = sample0(everyBytes, maxTracked);
        } catch (UnsatisfiedLinkError e) {
            throw noAgent(e);
        }
        if (why != null) throw new IllegalStateException("heaprec: " + why);
    }

    private static List<Trace> traces(int which) {
        if (Agent.isAbsent()) return Collections.emptyList();
        Object[] found;
        try {
            found = traces0(which);
        } catch (UnsatisfiedLinkError e) {
            throw noAgent(e);
        }
        if (found == null) return Collections.emptyList();
        String[] classes = (String[]) found[0];
        long[] numbers = (long[]) found[1];
        double[] weights = (double[]) found[2];
        int[] depths = (int[]) found[3];
        int[] stacks = (int[]) found[4];
        StackTraceElement[] frames = frames((String[]) found[5], (int[]) found[6]);
        List<Trace> traces = new ArrayList<>(classes.length);
        for (int i = 0, next = 0; i < classes.length; ++i) {
            StackTraceElement[] stack = new StackTraceElement[depths[i]];
            for (int frame = 0; frame < stack.length; ++frame) stack[frame] = frames[stacks[next++]];
            int at = 5 * i;
            traces.add(new Trace(
                    numbers[at], classes[i], numbers[at + 1], weights[i], numbers[at + 2], numbers[at + 3],
                    Trace.Code.values()[(int) numbers[at + 4]], stack));
        }
        return Collections.unmodifiableList(traces);
    }

    private static StackTraceElement[] frames(String[] texts, int[] lines) {
        StackTraceElement[] frames = new StackTraceElement[lines.length];
        for (int i = 0; i < lines.length; ++i) {
            String file = texts[3 * i + 2];
            frames[i] = new StackTraceElement(texts[3 * i], texts[3 * i + 1], file.isEmpty() ? null : file, lines[i]);
        }
        return frames;
    }

    private static String ask(String command) {
        try {
            return okay(ask0(command));
        } catch (UnsatisfiedLinkError e) {
            throw noAgent(e);
        }
    }

    static IllegalStateException noAgent(UnsatisfiedLinkError e) {
        return new IllegalStateException("heaprec: the agent is not loaded; call Heaprec.load(), or start the JVM with"
            + " -javaagent:heaprec.jar", e);
    }

    /** Returns whether this JVM has the agent. */
    static boolean isLinked() {
        if (found) return true;
        try {
            ask0("status");
            return found = linked = true;
        } catch (UnsatisfiedLinkError e) {
            return false;
        }
    }

    private static String okay(String answer) {
        if (!answer.startsWith("ok ")) throw new IllegalStateException("heaprec: " + answer.substring("error ".length()));
        return answer.substring("ok ".length());
    }

    /** Returns "ok " or "error ", and a message. */
    private static native String ask0(String command);

    /** Returns "ok " and the path, or "error " and the reason. */
    private static native String dump0(String path);

    /** everyBytes 0 ends the sampling. Returns null, or the error. */
    private static native String sample0(long everyBytes, int maxTracked);

    /**
     * Returns null if there are none. Otherwise arrays: for each trace its class, its numbers (uid, bytes, thread id, age
     * in ns, ordinal of its Trace.Code), its weight and its number of frames; the indices of these frames, trace by trace;
     * then the frames (class, method, file) and their lines.
     */
    private static native Object[] traces0(int which);

    private static native void label0(String key, String value);
}
