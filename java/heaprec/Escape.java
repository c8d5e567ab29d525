package heaprec;

import java.io.IOException;
import java.io.PrintWriter;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.StringJoiner;
import java.util.TreeSet;

/**
 * What methods allocate in one call, in this JVM: the program that {@code heaprec escape} runs once in each mode of the
 * compiler.
 *
 * <p>Arguments: a file to write, how many calls come before each round of probed ones, how many are probed in a round,
 * and methods, as "package.Class.method". A line of the file has fields between tabs:
 * {@code method NAME CALLS PROBED TYPICAL BYTES WHOLE STABLE}, where CALLS came before the probed ones, TYPICAL of these
 * allocated what most did, and BYTES is the sum over all of them; then, of a typical call,
 * {@code class NAME OBJECTS BYTES} for each class; or {@code error NAME REASON}; or, if NAME is not a method that can be
 * measured, {@code unusable NAME REASON METHOD...}, with the methods of its class that can be.
 *
 * <p>A method may be compiled several times, at first with what the JVM has not linked yet, so rounds go on until
 * three of them in a row agree. The last one is reported.
 *
 * <p>Calls differ when something else happens in them: the JVM makes the strings of a class on the thread that has a
 * method compiled, a list grows.
 */
final class Escape {
    private static final int UNMEASURED = 20, STABLE_ROUNDS = 3, MOST_ROUNDS = 20;
    private static final long PATIENCE_NS = 20_000_000_000L;

    // Results are stored here, so that they count as used. Calls are not inlined, because the handles are not
    // constants.
    private static Object reference;
    private static long primitive;

    private Escape() {}

    public static void main(String[] args) throws IOException {
        System.setOut(System.err); // standard output is the command's
        try (PrintWriter file = new PrintWriter(args[0], "UTF-8")) {
            for (int i = 3; i < args.length; ++i) {
                try {
                    measure(args[i], Integer.parseInt(args[1]), Integer.parseInt(args[2]), file);
                } catch (UnusableException e) {
                    StringJoiner line = new StringJoiner("\t").add("unusable").add(args[i]).add(oneLine(e.getMessage()));
                    e.usable.forEach(line::add);
                    file.println(line);
                } catch (Throwable e) {
                    file.println(join("error", args[i], oneLine(e.toString())));
                }
            }
        }
        System.exit(0); // whatever threads the methods have started
    }

    private static void measure(String name, int calls, int probed, PrintWriter file) throws Throwable {
        Method method = find(name);
        boolean isPrimitive = method.getReturnType().isPrimitive() && method.getReturnType() != void.class;
        MethodHandle handle = handleOf(method, isPrimitive);
        long end = System.nanoTime() + PATIENCE_NS;
        Round last = null;
        int called = 0, equal = 0;
        for (int rounds = 0; rounds < MOST_ROUNDS && equal < STABLE_ROUNDS; ++rounds) {
            if (last != null && System.nanoTime() >= end) break;
            for (int i = 0; i < calls && System.nanoTime() < end; ++i, ++called) call(handle, isPrimitive);
            Round round = probe(handle, isPrimitive, probed);
            equal = last != null && round.typical().equals(last.typical()) ? equal + 1 : 1;
            last = round;
            last.callsBefore = called;
            called += UNMEASURED + probed;
        }
        Outcome typical = last.outcomes.get(last.typical());
        file.println(join("method", name, last.callsBefore, probed, typical.calls, last.bytes, last.isWhole ? 1 : 0,
                equal == STABLE_ROUNDS ? 1 : 0));
        for (Map.Entry<String, long[]> entry : typical.classes.entrySet()) {
            file.println(join("class", entry.getKey(), entry.getValue()[0], entry.getValue()[1]));
        }
    }

    private static Round probe(MethodHandle handle, boolean isPrimitive, int probed) throws Throwable {
        Round round = new Round();
        for (int i = -UNMEASURED; i < probed; ++i) { // the first ones load what a probe needs
            Probe probe = Probe.begin();
            try {
                call(handle, isPrimitive);
            } finally {
                probe.close();
            }
            if (i < 0) continue;
            round.isWhole &= probe.isWhole();
            round.bytes += probe.bytes();
            ++round.outcomes.computeIfAbsent(probe.toString(), unused -> new Outcome(probe.allocations())).calls;
        }
        return round;
    }

    /** Probed calls, by what they allocated. */
    private static final class Round {
        final Map<String, Outcome> outcomes = new LinkedHashMap<>();
        long bytes;
        int callsBefore;
        boolean isWhole = true;

        /** What most calls allocated. */
        String typical() {
            return Collections.max(outcomes.entrySet(), Comparator.comparingInt(entry -> entry.getValue().calls)).getKey();
        }
    }

    /** What calls that are alike allocate: objects and bytes by class. */
    private static final class Outcome {
        final Map<String, long[]> classes = new LinkedHashMap<>();
        int calls;

        Outcome(List<Probe.Allocation> allocations) {
            for (Probe.Allocation allocation : allocations) {
                long[] sums = classes.computeIfAbsent(allocation.className, unused -> new long[2]);
                ++sums[0];
                sums[1] += allocation.bytes;
            }
        }
    }

    private static String join(Object... fields) {
        StringJoiner line = new StringJoiner("\t");
        for (Object field : fields) line.add(String.valueOf(field));
        return line.toString();
    }

    private static void call(MethodHandle handle, boolean isPrimitive) throws Throwable {
        if (isPrimitive) {
            primitive = (long) handle.invokeExact();
        } else {
            reference = (Object) handle.invokeExact();
        }
    }

    /** Says why a name is not a method that can be measured, and which methods of its class are. */
    private static final class UnusableException extends Exception {
        private static final long serialVersionUID = 1;
        final transient Set<String> usable;

        UnusableException(String why, Set<String> usable) {
            super(why);
            this.usable = usable;
        }
    }

    private static Class<?> findClass(String name) throws UnusableException {
        try {
            return Class.forName(name, true, ClassLoader.getSystemClassLoader());
        } catch (ClassNotFoundException e) {
            throw new UnusableException("there is no class `" + name + "` on the class path", Collections.emptySet());
        }
    }

    private static Method find(String name) throws UnusableException {
        int dot = name.lastIndexOf('.');
        if (dot <= 0) {
            throw new UnusableException("`" + name + "` is not of the form package.Class.method", Collections.emptySet());
        }
        Class<?> type = findClass(name.substring(0, dot));
        String simple = name.substring(dot + 1);
        boolean isThere = false;
        Set<String> usable = new TreeSet<>();
        for (Method method : type.getDeclaredMethods()) {
            if (method.isSynthetic()) continue;
            boolean isNamed = method.getName().equals(simple);
            isThere |= isNamed;
            if (method.getParameterCount() > 0) continue;
            if (isNamed) return method;
            usable.add(method.getName());
        }
        if (!isThere) throw new UnusableException(type.getName() + " has no method `" + simple + "`", usable);
        String why = type.getName() + "." + simple + " has parameters; call it from a method without parameters";
        throw new UnusableException(why, Collections.emptySet());
    }

    private static MethodHandle handleOf(Method method, boolean isPrimitive) throws ReflectiveOperationException {
        method.setAccessible(true);
        MethodHandle handle = MethodHandles.lookup().unreflect(method);
        if (!Modifier.isStatic(method.getModifiers())) {
            Constructor<?> constructor = method.getDeclaringClass().getDeclaredConstructor();
            constructor.setAccessible(true);
            handle = handle.bindTo(constructor.newInstance());
        }
        MethodType type = MethodType.methodType(isPrimitive ? long.class : Object.class);
        return MethodHandles.explicitCastArguments(handle, type);
    }

    private static String oneLine(String text) {
        return text.replace('\t', ' ').replace('\n', ' ').replace('\r', ' ');
    }
}
