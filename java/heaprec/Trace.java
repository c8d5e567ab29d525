package heaprec;

/** A sampled object that was followed ({@link Heaprec#startSampling}): what it is, and where it came from. */
public final class Trace {
    /** From 1; never given twice in a process. */
    public final long uid;
    /** As Class.getTypeName tells it: "java.lang.String", "int[]". */
    public final String className;
    /** The object's size in the heap. */
    public final long bytes;
    /** How many allocated bytes it stands for; {@code weight / bytes} is how many objects. */
    public final double weight;
    /** Thread.getId of the thread that allocated it. */
    public final long threadId;
    /** Since it was allocated: until now, or until it was found dead, which is some time after it was collected. */
    public final long ageNanos;

    private final StackTraceElement[] stack;

    Trace(long uid, String className, long bytes, double weight, long threadId, long ageNanos, StackTraceElement[] stack) {
        this.uid = uid;
        this.className = className;
        this.bytes = bytes;
        this.weight = weight;
        this.threadId = threadId;
        this.ageNanos = ageNanos;
        this.stack = stack;
    }

    /** Where it was allocated, innermost first, as Throwable.getStackTrace tells it; at most 64 frames. */
    public StackTraceElement[] stack() {
        return stack.clone();
    }

    /** "int[] (4016 B) at app.Main.work(Main.java:12)". */
    @Override
    public String toString() {
        String where = stack.length > 0 ? " at " + stack[0] : "";
        return className + " (" + bytes + " B)" + where;
    }
}
