package heaprec;

/** A sampled and tracked object ({@link Heaprec#startSampling}): what it is, and where it was allocated. */
public final class Trace {
    /** From 1, unique in the process. */
    public final long uid;
    /** Its class, as by Class.getTypeName: "java.lang.String", "int[]". */
    public final String className;
    /** The object's size in the heap, in bytes. */
    public final long bytes;
    /** The allocated bytes that it represents; {@code weight / bytes} is the number of objects. */
    public final double weight;
    /** Thread.getId of the allocating thread. */
    public final long threadId;
    /** Time since its allocation: until now, or until it was found dead, some time after its collection. */
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

    /** Returns the stack of its allocation, innermost frame first, like Throwable.getStackTrace; at most 64 frames. */
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
