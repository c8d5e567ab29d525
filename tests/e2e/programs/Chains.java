package e2e;

import java.lang.reflect.Method;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.IntStream;

/**
 * Allocates arrays at the end of known chains of calls. Each kind of chain has an array class of its own, and prints the
 * stacks that Java itself captured on the very line of the allocation: "class root;...;leaf".
 */
public final class Chains {
    static final class Plain {}

    static final class Inlined {}

    static final class Deep {}

    static final class Lambda {}

    static final class Stream {}

    static final class Reflected {}

    static final class Constructed {
        Object content;

        Constructed(boolean tell) {
            if (tell) tell(Constructed[].class, new Throwable()); content = new Constructed[LENGTH];
        }
    }

    static final int LENGTH = 500;
    static final int RECURSION = 200;
    static final Map<String, Set<String>> stacks = new TreeMap<>();
    static volatile Object sink;
    static Method reflected;

    static void tell(Class<?> type, Throwable here) {
        StringBuilder stack = new StringBuilder();
        StackTraceElement[] frames = here.getStackTrace();
        for (int i = frames.length - 1; i >= 0; --i) {
            stack.append(frames[i].getClassName()).append('.').append(frames[i].getMethodName());
            if (frames[i].getLineNumber() >= 0) stack.append(':').append(frames[i].getLineNumber());
            if (i > 0) stack.append(';');
        }
        stacks.computeIfAbsent(type.getTypeName(), key -> new TreeSet<>()).add(stack.toString());
    }

    // The capture and the allocation have to stand on one line.
    static void plain(boolean tell) {
        if (tell) tell(Plain[].class, new Throwable()); sink = new Plain[LENGTH];
    }

    static void plainOneWay(boolean tell) {
        plain(tell);
    }

    static void plainAnotherWay(boolean tell) {
        plain(tell);
        plain(tell);
    }

    static int inlined3(boolean tell) {
        if (tell) tell(Inlined[].class, new Throwable()); sink = new Inlined[LENGTH];
        return 3;
    }

    static int inlined2(boolean tell) {
        int before = 1;
        return before + inlined3(tell);
    }

    static int inlined1(boolean tell) {
        return inlined2(tell)
                + inlined2(tell);
    }

    static void deep(int left, boolean tell) {
        if (left > 0) {
            deep(left - 1, tell);
            return;
        }
        if (tell) tell(Deep[].class, new Throwable()); sink = new Deep[LENGTH];
    }

    static void lambda(boolean tell) {
        Runnable runnable = () -> {
            if (tell) tell(Lambda[].class, new Throwable()); sink = new Lambda[LENGTH];
        };
        runnable.run();
    }

    static void stream(boolean tell) {
        IntStream.range(0, 1).forEach(i -> {
            if (tell) tell(Stream[].class, new Throwable()); sink = new Stream[LENGTH];
        });
    }

    public static void target(boolean tell) {
        if (tell) tell(Reflected[].class, new Throwable()); sink = new Reflected[LENGTH];
    }

    static void reflect(boolean tell) throws Exception {
        reflected.invoke(null, tell);
    }

    static void once(boolean tell) throws Exception {
        plainOneWay(tell);
        plainAnotherWay(tell);
        inlined1(tell);
        deep(RECURSION, tell);
        lambda(tell);
        stream(tell);
        reflect(tell);
        sink = new Constructed(tell);
    }

    public static void main(String[] args) throws Exception {
        reflected = Chains.class.getMethod("target", boolean.class);
        long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000;
        for (int i = 0; System.nanoTime() < end; ++i) once(i % 512 == 0);
        stacks.forEach((type, of) -> of.forEach(stack -> System.out.println(type + " " + stack)));
    }
}
