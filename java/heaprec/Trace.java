package heaprec;

/** A sampled and tracked object ({@link Heaprec#startSampling}): what it is, and where it was allocated. */
public final class Trace {
    /** What ran the innermost frame of a stack. A method that was inlined runs in the code of its caller. */
    public enum Code {
        /** The agent cannot walk the stacks of this JVM. */
        UNKNOWN("unknown code"),
        /** The interpreter. */
        INTERPRETER("the interpreter"),
        /** Code of C1, which removes no allocations. */
        C1("C1"),
        /** Code of C2, after escape analysis, or of the compiler that replaces C2. */
        C2("C2"),
        /** A native method, such as Object.clone. */
        NATIVE("native code");

        private final String text; // the order of the constants is that of heaprec_code in heaprec_sampling.h

        Code(String text) {
            this.text = text;
        }

        /** "the interpreter", "C1", "C2", "native code" or "unknown code". */
        @Override
        public String toString() {
            return text;
        }
    }

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
    /** What ran the innermost frame when it allocated the object. */
    public final Code code;

    private final StackTraceElement[] stack;

    Trace(long uid, String className, long bytes, double weight, long threadId, long ageNanos, Code code,
            StackTraceElement[] stack) {
        this.uid = uid;
        this.className = className;
        this.bytes = bytes;
        this.weight = weight;
        this.threadId = threadId;
        this.ageNanos = ageNanos;
        this.code = code;
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
